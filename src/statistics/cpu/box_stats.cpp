// Local mean and deviation without a table: every thread has a tile of whole rows, which running sums of the
// columns and of their squares slide down, and takes differences of their prefixes along the row. Compiled
// for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "statistics/cpu/box_stats.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <mutex>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "pixels/cpu/plane_rows-inl.h"
#include "pixels/cpu/rows.h"
#include "statistics/box_stats.h"
#include "statistics/cpu/local_statistics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

constexpr std::size_t chunk = 256;  // pixels whose means and deviations stay in the L1
constexpr std::int64_t smallest_tile = 32;

/// The job's plane as rows of integers; empty where the picture itself is that.
inline Image AllocatePlane(CpuBackend& backend, const BoxStatsJob& job) {
  if (job.plane.channels == 1 && job.plane.type != Type::f32) return {};
  const Type type = job.plane.type == Type::f32 ? Type::u32 : job.plane.type;
  const Shape shape{job.width, job.height, 1, type};
  return {shape, backend.allocate(byte_size(shape)), Memory::host};
}

template <class Stored, class Sum>
class BoxStats final : public BoxStatsOperation {
 public:
  using Sliding = SlidingStats<Stored, Sum>;

  BoxStats(CpuBackend& backend, const BoxStatsJob& job)
      : backend_(backend),
        job_(job),
        plane_(AllocatePlane(backend, job)),
        tiles_(std::clamp<std::int64_t>(job.height / smallest_tile, 1, backend.threads.count())) {
    row_tiles_.reserve(static_cast<std::size_t>(tiles_));
    for (std::int64_t i = 0; i < tiles_; ++i) {
      RowTile& tile = row_tiles_.emplace_back(RowTile{Sliding(job), {}, {}, {}});
      tile.values.resize(static_cast<std::size_t>(job.width));
      tile.open.resize(static_cast<std::size_t>(job.width));
      tile.stored.resize(static_cast<std::size_t>(job.width));
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    const std::size_t of_pixel = sizeof(double) + sizeof(std::uint32_t) + sizeof(Stored);
    const std::size_t plane = plane_.empty() ? 0 : byte_size(plane_.shape());
    return plane + row_tiles_.size() *
                       (row_tiles_[0].sliding.bytes() + static_cast<std::size_t>(job_.width) * of_pixel);
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
    if (job_.colours == 1) return run_plane(images);
    for (int colour = 0; colour < job_.colours; ++colour) {
      job_.plane.channel = job_.output_channel = colour;
      run_plane(images);
    }
  }

 private:
  struct RowTile {
    Sliding sliding;
    WorkspaceVector<double> values;       ///< of one row
    WorkspaceVector<std::uint32_t> open;  ///< pixels that floats do not decide
    WorkspaceVector<Stored> stored;       ///< results of one row
  };

  void run_plane(const BoxStatsImages& images) {
    const PictureExtremes known = images.extremes == nullptr ? PictureExtremes{} : *images.extremes;
    constexpr double largest = static_cast<Stored>(~Stored{0});
    const QuickThreshold threshold = quick_threshold(job_.rule, known, largest);
    const QuickNumber number = quick_number(job_, largest);
    for_rows(images.picture, images.measured,
             [&](std::int64_t y, const ImageView& plane, const WindowRow<Sum>& row, RowTile& tile) {
               if constexpr (sizeof(Stored) < 4) {
                 const auto* values = plane.row<Stored>(y);
                 if (row.exact_in_double && job_.result == LocalResult::binary)
                   return binarise_in_floats(threshold, known, row, values, tile,
                                             images.output.row<std::uint8_t>(y));
                 if (row.exact_in_double && job_.mask_maximum == 0)
                   return store_in_floats(number, row, values, tile, images.output.row<Stored>(y));
               }
               ReadValues(job_.plane, images.picture, y, tile.values.data());
               write_row(images, known, y, row, tile.values.data());
             });
  }

  /// Calls work(y, plane, windows, tile) for every row.
  template <class Work>
  void for_rows(const ImageView& picture, const Measured* measured, const Work& work) {
    const int exponent = plane_exponent(job_.plane, measured);
    const Quantised rule = quantised(job_.plane, exponent);
    const ImageView plane = plane_.empty() ? picture : read_plane(picture, exponent);
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

  [[nodiscard]] ImageView read_plane(const ImageView& picture, int exponent) {
    parallel_rows(backend_, job_.height, 32, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y)
        ReadQuantised(job_.plane, exponent, picture, y, plane_.view().template row<Stored>(y));
    });
    return plane_.view();
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

  /// Among windows with equally many pixels, that with the largest n Q - S^2 has the largest deviation.
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

  // Results are found in floats, and in doubles where those leave them open.

  void binarise_in_floats(const QuickThreshold& threshold, const PictureExtremes& known,
                          const WindowRow<Sum>& row, const Stored* values, RowTile& tile,
                          std::uint8_t* out) const requires(sizeof(Stored) < 4) {
    const std::size_t open = BinariseInFloats(threshold, row, values, static_cast<std::size_t>(job_.width),
                                              job_.inverted, out, tile.open.data());
    for (std::size_t i = 0; i < open; ++i) {
      const std::size_t x = tile.open[i];
      out[x] = binary_result(job_, known, values[x], StatisticsAt(row, x));
    }
  }

  void store_in_floats(const QuickNumber& quick, const WindowRow<Sum>& row, const Stored* values,
                       RowTile& tile, Stored* out) const requires(sizeof(Stored) < 4) {
    const auto width = static_cast<std::size_t>(job_.width);
    const auto channels = static_cast<std::size_t>(job_.plane.channels);
    Stored* stored = channels == 1 ? out : tile.stored.data();
    const std::size_t open = NumbersInFloats(quick, job_.result == LocalResult::normalised, row, values,
                                             width, stored, tile.open.data());
    for (std::size_t i = 0; i < open; ++i) {
      const std::size_t x = tile.open[i];
      stored[x] = stored_number<Stored>(number_result(job_, values[x], StatisticsAt(row, x)));
    }
    if (channels == 1) return;
    for (std::size_t x = 0; x < width; ++x)
      out[x * channels + static_cast<std::size_t>(job_.output_channel)] = stored[x];
  }

  void write_row(const BoxStatsImages& images, const PictureExtremes& known, std::int64_t y,
                 const WindowRow<Sum>& row, const double* values) const {
    for_chunks(row, 0, static_cast<std::size_t>(job_.width),
               [&](std::size_t first, std::size_t count, const double* means, const double* deviations) {
                 if (job_.result != LocalResult::binary)
                   return store(images, y, first, count, values + first, means, deviations);
                 std::uint8_t* out = images.output.row<std::uint8_t>(y) + first;
                 for (std::size_t i = 0; i < count; ++i)
                   out[i] = binary_result(job_, known, values[first + i], {means[i], deviations[i]});
               });
  }

  void store(const BoxStatsImages& images, std::int64_t y, std::size_t first, std::size_t count,
             const double* values, const double* means, const double* deviations) const {
    const auto channels = static_cast<std::size_t>(job_.plane.channels);
    const std::size_t at = first * channels + static_cast<std::size_t>(job_.output_channel);
    const std::uint32_t whole = job_.mask_maximum;
    with_pixel_type(job_.plane.type, [&]<class T>() {
      const T* own = images.picture.row<T>(y) + at;
      T* out = images.output.row<T>(y) + at;
      for (std::size_t i = 0; i < count; ++i) {
        const auto x = static_cast<std::int64_t>(first + i);
        const std::uint32_t weight = whole == 0 ? 0 : mask_at(images.mask, x, y);
        out[i * channels] = blended_number(number_result(job_, values[i], {means[i], deviations[i]}),
                                           own[i * channels], weight, whole);
      }
    });
  }

  CpuBackend& backend_;
  BoxStatsJob job_;
  Image plane_;
  std::int64_t tiles_;
  WorkspaceVector<RowTile> row_tiles_;
};

inline Prepared<BoxStatsJob> PrepareBoxStats(Backend& backend, const BoxStatsJob& job) {
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

Prepared<BoxStatsJob> prepare_box_stats(Backend& backend, const BoxStatsJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareBoxStats)(backend, job);
}

}  // namespace satin::cpu
#endif
