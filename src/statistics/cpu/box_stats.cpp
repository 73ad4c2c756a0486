// Local mean and deviation without a table: every thread has a tile of whole rows, which running sums of the
// columns and of their squares slide down, and takes differences of their prefixes along the row. Compiled
// for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "statistics/cpu/box_stats.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/cpu/backend.h"
#include "pixels/cpu/plane_rows-inl.h"
#include "statistics/box_stats.h"
#include "statistics/cpu/sliding_stats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

constexpr std::size_t chunk = 256;  // pixels whose means and deviations stay in the L1
constexpr std::int64_t smallest_tile = 32;

/// The job's plane as rows of integers: the picture itself where it is that.
template <class Stored>
class QuantisedPlane {
 public:
  QuantisedPlane(CpuBackend& backend, const BoxStatsJob& job) : backend_(backend), job_(job) {
    if (job.plane.channels == 1 && job.plane.type != Type::f32) return;
    shape_.width = job.width;
    shape_.height = job.height;
    shape_.type = job.plane.type == Type::f32 ? Type::u32 : job.plane.type;
    memory_ = backend.allocate(byte_size(shape_));
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.size; }

  [[nodiscard]] ImageView of(const ImageView& picture, int exponent) {
    if (memory_.get() == nullptr) return picture;
    const MutableImageView plane = mutable_view_of(memory_.get(), shape_);
    parallel_rows(backend_, job_.height, 32, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y)
        ReadQuantised(job_.plane, exponent, picture, y, plane.row<Stored>(y));
    });
    return plane;
  }

 private:
  CpuBackend& backend_;
  BoxStatsJob job_;
  Shape shape_;
  Buffer memory_;
};

template <class Stored, class Sum>
class BoxStats final : public BoxStatsOperation {
 public:
  using Sliding = SlidingStats<Stored, Sum>;

  BoxStats(CpuBackend& backend, const BoxStatsJob& job)
      : backend_(backend),
        job_(job),
        plane_(backend, job),
        tiles_(std::clamp<std::int64_t>(job.height / smallest_tile, 1, backend.threads.count())),
        row_tiles_(static_cast<std::size_t>(tiles_), RowTile{Sliding(job), {}, {}, {}}) {
    for (RowTile& tile : row_tiles_) {
      tile.values.resize(static_cast<std::size_t>(job.width));
      tile.open.resize(static_cast<std::size_t>(job.width));
      tile.stored.resize(static_cast<std::size_t>(job.width));
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    const std::size_t of_pixel = sizeof(double) + sizeof(std::uint32_t) + sizeof(Stored);
    return plane_.bytes() + row_tiles_.size() * (row_tiles_[0].sliding.bytes() +
                                                 static_cast<std::size_t>(job_.width) * of_pixel);
  }

  void clear_extremes(PictureExtremes* extremes, Stream) override { *extremes = no_extremes; }

  void find_extremes(const ImageView& picture, const Rectangle& inner, const Measured* measured,
                     PictureExtremes* extremes, Stream) override {
    std::mutex mutex;
    for_rows(
        picture, measured, [&](std::int64_t y, const ImageView&, const WindowRow<Sum>& row, RowTile& tile) {
          if (y < inner.y.first || y >= inner.y.last) return;
          ReadValues(job_.plane, picture, y, tile.values.data());
          const PictureExtremes found{
              largest_deviation(row, tile.sliding, inner.x),
              *std::min_element(tile.values.begin() + inner.x.first, tile.values.begin() + inner.x.last)};
          const std::lock_guard lock(mutex);
          extremes->largest_deviation = std::max(extremes->largest_deviation, found.largest_deviation);
          extremes->smallest_value = std::min(extremes->smallest_value, found.smallest_value);
        });
  }

  void run(const BoxStatsImages& images, Stream) override {
    const PictureExtremes known = images.extremes == nullptr ? PictureExtremes{} : *images.extremes;
    if constexpr (sizeof(Sum) == 4)
      if (job_.result == LocalResult::binary) return binarise_all(images, known);
    const QuickNumber number = quick_number();
    for_rows(images.picture, images.measured,
             [&](std::int64_t y, const ImageView& plane, const WindowRow<Sum>& row, RowTile& tile) {
               if constexpr (sizeof(Stored) < 4)
                 if (number.limit > 0 && row.exact_in_double)
                   return store_quickly(number, row, plane.row<Stored>(y), tile,
                                        images.output.row<Stored>(y));
               if (job_.result != LocalResult::deviation)
                 ReadValues(job_.plane, images.picture, y, tile.values.data());
               write_row(images, known, y, row, tile.values.data());
             });
  }

 private:
  struct RowTile {
    Sliding sliding;
    std::vector<double> values;       ///< of one row
    std::vector<std::uint32_t> open;  ///< pixels that floats do not decide
    std::vector<Stored> stored;       ///< results of one row
  };

  /// Calls work(y, plane, windows, tile) for every row.
  template <class Work>
  void for_rows(const ImageView& picture, const Measured* measured, const Work& work) {
    const int exponent = plane_exponent(job_.plane, measured);
    const Quantised rule = quantised(job_.plane, exponent);
    const ImageView plane = plane_.of(picture, exponent);
    parallel_rows(backend_, tiles_, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t index = first; index < last; ++index) {
        RowTile& tile = row_tiles_[static_cast<std::size_t>(index)];
        const std::int64_t top = job_.height * index / tiles_;
        for (std::int64_t y = top; y < job_.height * (index + 1) / tiles_; ++y) {
          y == top ? tile.sliding.start(plane, y) : tile.sliding.advance(plane, y);
          work(y, plane, tile.sliding.windows(y, rule), tile);
        }
      }
    });
  }

  /// Calls work(at, count, means, deviations) for pieces of the pixels [first, last).
  template <class Work>
  static void for_chunks(const WindowRow<Sum>& row, std::size_t first, std::size_t last, const Work& work) {
    double means[chunk];
    double deviations[chunk];
    for (; first < last; first += chunk) {
      const std::size_t count = std::min(chunk, last - first);
      Statistics(row, first, count, means, deviations);
      work(first, count, means, deviations);
    }
  }

  /// Of windows with as many pixels each the one with the largest n Q - S^2 has the largest deviation.
  [[nodiscard]] double largest_deviation(const WindowRow<Sum>& row, const Sliding& sliding,
                                         const Stretch& inner) const {
    const auto begin = static_cast<std::size_t>(inner.first);
    const auto end = static_cast<std::size_t>(inner.last);
    const std::size_t first = row.exact_in_double ? std::clamp(sliding.first_whole(), begin, end) : begin;
    const std::size_t last = row.exact_in_double ? std::clamp(sliding.last_whole(), first, end) : begin;
    double largest = 0;
    if (first < last) largest = square_root(LargestRadicand(row, first, last - first)) / row.counts[first];
    const auto search = [&](std::size_t, std::size_t count, const double*, const double* deviations) {
      largest = std::max(largest, *std::max_element(deviations, deviations + count));
    };
    for_chunks(row, begin, first, search);
    for_chunks(row, last, end, search);
    return largest;
  }

  /// In floats, and in doubles what those leave open.
  void binarise_all(const BoxStatsImages& images, const PictureExtremes& known) requires(sizeof(Sum) == 4) {
    const QuickThreshold threshold = quick_threshold(job_.rule, known, 0xFF);
    const auto width = static_cast<std::size_t>(job_.width);
    for_rows(images.picture, nullptr,
             [&](std::int64_t y, const ImageView& plane, const WindowRow<Sum>& row, RowTile& tile) {
               const auto* values = plane.row<Stored>(y);
               auto* out = images.output.row<std::uint8_t>(y);
               const std::size_t open = BinariseQuickly(threshold, row, tile.sliding.inverses(), values,
                                                        width, job_.inverted, out, tile.open.data());
               for (std::size_t i = 0; i < open; ++i) {
                 const std::size_t x = tile.open[i];
                 double mean = 0;
                 double deviation = 0;
                 Statistics(row, x, 1, &mean, &deviation);
                 const bool white = values[x] > local_threshold(job_.rule, known, {mean, deviation});
                 out[x] = white == job_.inverted ? std::uint8_t{0} : std::uint8_t{255};
               }
             });
  }

  /// For numbers of integers without a mask; otherwise one that floats never decide.
  [[nodiscard]] QuickNumber quick_number() const {
    constexpr double largest = static_cast<Stored>(~Stored{0});
    if (job_.result == LocalResult::binary || job_.mask_maximum != 0) return {0, 0, 0, 0, -1};
    return satin::quick_number(job_, largest);
  }

  [[nodiscard]] double number_of(double value, LocalStatistics at) const {
    return job_.result == LocalResult::deviation ? at.deviation : normalised(job_.normalise, value, at);
  }

  /// Numbers in floats, and in doubles what those leave open.
  void store_quickly(const QuickNumber& number, const WindowRow<Sum>& row, const Stored* values,
                     RowTile& tile, Stored* out) const requires(sizeof(Stored) < 4) {
    const auto width = static_cast<std::size_t>(job_.width);
    const auto channels = static_cast<std::size_t>(job_.plane.channels);
    Stored* stored = channels == 1 ? out : tile.stored.data();
    const std::size_t open = NumberQuickly(number, job_.result == LocalResult::normalised, row,
                                           tile.sliding.inverses(), values, width, stored, tile.open.data());
    for (std::size_t i = 0; i < open; ++i) {
      const std::size_t x = tile.open[i];
      LocalStatistics at;
      Statistics(row, x, 1, &at.mean, &at.deviation);
      stored[x] = stored_number<Stored>(number_of(values[x], at));
    }
    if (channels == 1) return;
    for (std::size_t x = 0; x < width; ++x)
      out[x * channels + static_cast<std::size_t>(job_.output_channel)] = stored[x];
  }

  void write_row(const BoxStatsImages& images, const PictureExtremes& known, std::int64_t y,
                 const WindowRow<Sum>& row, const double* values) const {
    for_chunks(row, 0, static_cast<std::size_t>(job_.width),
               [&](std::size_t at, std::size_t count, const double* means, const double* deviations) {
                 if (job_.result == LocalResult::binary)
                   return Binarise(job_.rule, known, values + at, means, deviations, count, job_.inverted,
                                   images.output.row<std::uint8_t>(y) + at);
                 store(images, y, at, count, values + at, means, deviations);
               });
  }

  void store(const BoxStatsImages& images, std::int64_t y, std::size_t first, std::size_t count,
             const double* values, const double* means, const double* deviations) const {
    const auto channels = static_cast<std::size_t>(job_.plane.channels);
    const std::size_t at = first * channels + static_cast<std::size_t>(job_.output_channel);
    const auto weight_of = [&](std::size_t x) -> std::uint32_t {
      if (job_.mask_maximum == 0) return 0;
      return job_.mask_maximum == 0xFF ? images.mask.row<std::uint8_t>(y)[x]
                                       : images.mask.row<std::uint16_t>(y)[x];
    };
    const auto store_as = [&](auto* row, const auto& number) {
      using T = std::remove_pointer_t<decltype(row)>;
      const T* own = images.picture.row<T>(y);
      for (std::size_t i = 0; i < count; ++i)
        row[at + i * channels] =
            blended_number(number(i), own[at + i * channels], weight_of(first + i), job_.mask_maximum);
    };
    const auto store_number = [&](const auto& number) {
      if (job_.plane.type == Type::u8) return store_as(images.output.row<std::uint8_t>(y), number);
      if (job_.plane.type == Type::u16) return store_as(images.output.row<std::uint16_t>(y), number);
      store_as(images.output.row<float>(y), number);
    };
    if (job_.result == LocalResult::deviation) {
      store_number([&](std::size_t i) { return deviations[i]; });
    } else {
      store_number([&](std::size_t i) {
        return normalised(job_.normalise, values[i], {means[i], deviations[i]});
      });
    }
  }

  CpuBackend& backend_;
  BoxStatsJob job_;
  QuantisedPlane<Stored> plane_;
  std::int64_t tiles_;
  std::vector<RowTile> row_tiles_;
};

inline std::unique_ptr<BoxStatsOperation> PrepareBoxStats(Backend& backend, const BoxStatsJob& job) {
  if (job.colours > 1) return prepare_each_colour(backend, job);
  CpuBackend& cpu = as_cpu(backend);
  switch (job.plane.type) {
    case Type::u8:
      if (narrow_squares(largest_window_of(job)))
        return std::make_unique<BoxStats<std::uint8_t, std::uint32_t>>(cpu, job);
      return std::make_unique<BoxStats<std::uint8_t, std::uint64_t>>(cpu, job);
    case Type::u16:
      return std::make_unique<BoxStats<std::uint16_t, std::uint64_t>>(cpu, job);
    default:
      return std::make_unique<BoxStats<std::uint32_t, std::uint64_t>>(cpu, job);
  }
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareBoxStats);

std::unique_ptr<BoxStatsOperation> prepare_box_stats(Backend& backend, const BoxStatsJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareBoxStats)(backend, job);
}

}  // namespace satin::cpu
#endif
