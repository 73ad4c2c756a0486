// Local mean and deviation without a table: every thread marches down a band of rows with running sums of the
// columns and of their squares, and takes differences of their prefixes along the row.

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/local_statistics_simd.h"
#include "core/cpu/plane_rows.h"
#include "core/maths/window.h"

namespace satin::cpu {
namespace {

constexpr std::size_t chunk = 256;  // pixels whose means and deviations stay in the L1

/// Column sums over the window of rows around one row, and their prefixes along the row.
class March {
 public:
  March(const BoxStatsJob& job)
      : job_(job),
        width_(static_cast<std::size_t>(job.width)),
        sums_(width_),
        squares_(width_),
        entering_(width_),
        leaving_(width_),
        nothing_(width_),
        prefix_sums_(width_ + span()),
        prefix_squares_(width_ + span()),
        counts_(width_),
        values_(width_) {}

  [[nodiscard]] std::size_t span() const noexcept { return static_cast<std::size_t>(2 * job_.reach_x + 1); }
  [[nodiscard]] std::size_t bytes() const noexcept { return width_ * 44 + (width_ + span()) * 16; }
  [[nodiscard]] const double* values() const noexcept { return values_.data(); }

  void start(const ImageView& picture, int exponent, std::int64_t y) {
    std::fill(sums_.begin(), sums_.end(), 0);
    std::fill(squares_.begin(), squares_.end(), 0);
    for (std::int64_t position = y - job_.reach_y; position <= y + job_.reach_y; ++position)
      exchange(picture, exponent, source_of(position, job_.height, job_.border), -1);
  }

  void advance(const ImageView& picture, int exponent, std::int64_t y) {
    const std::int64_t enters = source_of(y + job_.reach_y, job_.height, job_.border);
    const std::int64_t leaves = source_of(y - 1 - job_.reach_y, job_.height, job_.border);
    if (enters != leaves) exchange(picture, exponent, enters, leaves);
  }

  /// The windows of row y, and the values of its pixels.
  WindowRow windows(const ImageView& picture, int exponent, std::int64_t y) {
    const auto rows =
        static_cast<std::uint64_t>(counted(window_around(y, job_.reach_y), job_.height, job_.border));
    std::uint64_t sum = 0;
    std::uint64_t square = 0;
    for (std::size_t i = 0; i + 1 < prefix_sums_.size(); ++i) {
      const std::int64_t x = source_of(static_cast<std::int64_t>(i) - job_.reach_x, job_.width, job_.border);
      if (x >= 0) {
        sum += sums_[static_cast<std::size_t>(x)];
        square += squares_[static_cast<std::size_t>(x)];
      }
      prefix_sums_[i + 1] = sum;
      prefix_squares_[i + 1] = square;
    }
    std::uint64_t most = 0;
    for (std::size_t x = 0; x < width_; ++x) {
      const Window window = window_around(static_cast<std::int64_t>(x), job_.reach_x);
      const std::uint64_t count = rows * static_cast<std::uint64_t>(counted(window, job_.width, job_.border));
      counts_[x] = static_cast<double>(count);
      most = std::max(most, count);
    }
    read_values(job_.plane, picture, y, values_.data());
    WindowRow row{prefix_sums_.data(), prefix_squares_.data(), counts_.data(), span(),
                  quantised(job_.plane, exponent)};
    row.exact_in_double = exact_in_double(most);
    return row;
  }

 private:
  /// count * (count * largest^2) < 2^53, the bound of every term of n Q - S^2.
  [[nodiscard]] bool exact_in_double(std::uint64_t count) const {
    if (job_.plane.type == Type::f32 || count >= (1U << 18U)) return false;
    const std::uint64_t largest = job_.plane.type == Type::u8 ? 0xFF : 0xFFFF;
    return count * largest < 94906265;  // floor(2^26.5): its square is below 2^53
  }

  void exchange(const ImageView& picture, int exponent, std::int64_t enters, std::int64_t leaves) {
    if (enters >= 0) read_quantised(job_.plane, exponent, picture, enters, entering_.data());
    if (leaves >= 0) read_quantised(job_.plane, exponent, picture, leaves, leaving_.data());
    exchange_with_squares(enters < 0 ? nothing_.data() : entering_.data(),
                          leaves < 0 ? nothing_.data() : leaving_.data(), width_, sums_.data(),
                          squares_.data());
  }

  const BoxStatsJob& job_;
  std::size_t width_;
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint64_t> squares_;
  std::vector<std::uint32_t> entering_;
  std::vector<std::uint32_t> leaving_;
  std::vector<std::uint32_t> nothing_;
  std::vector<std::uint64_t> prefix_sums_;  ///< exclusive, of the row extended by its border
  std::vector<std::uint64_t> prefix_squares_;
  std::vector<double> counts_;
  std::vector<double> values_;
};

class BoxStats final : public BoxStatsOperation {
 public:
  BoxStats(CpuBackend& backend, const BoxStatsJob& job)
      : backend_(backend),
        job_(job),
        bands_(std::clamp<std::int64_t>(job.height / smallest_band, 1, backend.threads.count())) {
    for (std::int64_t band = 0; band < bands_; ++band) marches_.emplace_back(job_);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return marches_.front().bytes() * marches_.size();
  }

  void find_extremes(const ImageView& picture, const Measured* measured, PictureExtremes* extremes,
                     Stream) override {
    std::mutex mutex;
    bool first = true;
    for_rows(picture, measured, [&](std::int64_t, const WindowRow& row, const March& march) {
      PictureExtremes found{0, march.values()[0]};
      for_chunks(row, [&](std::size_t at, std::size_t count, const double*, const double* deviations) {
        found.largest_deviation =
            std::max(found.largest_deviation, *std::max_element(deviations, deviations + count));
        const double* values = march.values() + at;
        found.smallest_value = std::min(found.smallest_value, *std::min_element(values, values + count));
      });
      const std::lock_guard lock(mutex);
      if (first) *extremes = found;
      first = false;
      extremes->largest_deviation = std::max(extremes->largest_deviation, found.largest_deviation);
      extremes->smallest_value = std::min(extremes->smallest_value, found.smallest_value);
    });
  }

  void run(const BoxStatsImages& images, Stream) override {
    const PictureExtremes known = images.extremes == nullptr ? PictureExtremes{} : *images.extremes;
    for_rows(images.picture, images.measured, [&](std::int64_t y, const WindowRow& row, const March& march) {
      for_chunks(row, [&](std::size_t at, std::size_t count, const double* means, const double* deviations) {
        if (job_.result == LocalResult::binary)
          return binarise(job_.rule, known, march.values() + at, means, deviations, count, job_.inverted,
                          images.output.row<std::uint8_t>(y) + at);
        store(images, y, at, count, march.values() + at, means, deviations);
      });
    });
  }

 private:
  static constexpr std::int64_t smallest_band = 32;

  /// Calls work(y, windows, march) for every row.
  template <class Work>
  void for_rows(const ImageView& picture, const Measured* measured, const Work& work) {
    const int exponent = plane_exponent(job_.plane, measured);
    parallel_rows(backend_, bands_, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t band = first; band < last; ++band) {
        March& march = marches_[static_cast<std::size_t>(band)];
        const std::int64_t top = job_.height * band / bands_;
        for (std::int64_t y = top; y < job_.height * (band + 1) / bands_; ++y) {
          y == top ? march.start(picture, exponent, y) : march.advance(picture, exponent, y);
          work(y, march.windows(picture, exponent, y), march);
        }
      }
    });
  }

  template <class Work>
  void for_chunks(const WindowRow& row, const Work& work) const {
    double means[chunk];
    double deviations[chunk];
    const auto width = static_cast<std::size_t>(job_.width);
    for (std::size_t first = 0; first < width; first += chunk) {
      const std::size_t count = std::min(chunk, width - first);
      statistics_of_row(row, first, count, means, deviations);
      work(first, count, means, deviations);
    }
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
    const bool shows_deviation = job_.result == LocalResult::deviation;
    const auto number = [&](double value, LocalStatistics local) {
      return shows_deviation ? local.deviation : normalised(job_.normalise, value, local);
    };
    const auto store_as = [&](auto* row) {
      using T = std::remove_pointer_t<decltype(row)>;
      const T* own = images.picture.row<T>(y);
      for (std::size_t i = 0; i < count; ++i)
        row[at + i * channels] =
            blended_number(number(values[i], {means[i], deviations[i]}), own[at + i * channels],
                           weight_of(first + i), job_.mask_maximum);
    };
    if (job_.plane.type == Type::u8) return store_as(images.output.row<std::uint8_t>(y));
    if (job_.plane.type == Type::u16) return store_as(images.output.row<std::uint16_t>(y));
    store_as(images.output.row<float>(y));
  }

  CpuBackend& backend_;
  BoxStatsJob job_;
  std::int64_t bands_;
  std::vector<March> marches_;
};

}  // namespace

std::unique_ptr<BoxStatsOperation> prepare_box_stats(Backend& backend, const BoxStatsJob& job) {
  return std::make_unique<BoxStats>(as_cpu(backend), job);
}

}  // namespace satin::cpu
