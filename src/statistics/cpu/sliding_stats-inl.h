// Column sums of values and of their squares over a window of rows that slides down a plane, and their
// prefixes along the row; compiled for every SIMD target.

#if defined(SATIN_SLIDING_STATS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SATIN_SLIDING_STATS_INL_H
#undef SATIN_SLIDING_STATS_INL_H
#else
#define SATIN_SLIDING_STATS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "core/maths/window.h"
#include "statistics/box_stats.h"
#include "statistics/cpu/local_statistics-inl.h"
#include "tables/cpu/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Stored: of the quantised plane. Sum: u32 or u64, the sums over one window fit.
template <class Stored, class Sum>
class SlidingStats {
 public:
  SlidingStats(const BoxStatsJob& job)
      : job_(job),
        width_(static_cast<std::size_t>(job.width)),
        reach_(static_cast<std::size_t>(job.reach_x)),
        sums_(width_),
        squares_(width_),
        nothing_(width_),
        prefix_sums_(width_ + span()),
        prefix_squares_(width_ + span()),
        counts_(width_),
        inverses_(width_) {}

  [[nodiscard]] std::size_t bytes() const noexcept {
    return width_ * (2 * sizeof(Sum) + sizeof(Stored) + sizeof(double) + sizeof(float)) +
           2 * prefix_sums_.size() * sizeof(Sum);
  }
  [[nodiscard]] const float* inverses() const noexcept { return inverses_.data(); }

  /// Pixels [first, last) whose windows are not cut at the sides.
  [[nodiscard]] std::size_t first_whole() const noexcept {
    return job_.border == Border::shrink ? std::min(reach_, width_) : 0;
  }
  [[nodiscard]] std::size_t last_whole() const noexcept {
    if (job_.border != Border::shrink) return width_;
    return std::max(first_whole(), width_ - std::min(reach_, width_));
  }

  /// To the windows around row y.
  void start(const ImageView& plane, std::int64_t y) {
    std::fill(sums_.begin(), sums_.end(), Sum{0});
    std::fill(squares_.begin(), squares_.end(), Sum{0});
    for (std::int64_t position = y - job_.reach_y; position <= y + job_.reach_y; ++position)
      exchange(plane, source_of(position, job_.height, job_.border), -1);
  }

  /// From the windows around row y - 1 to those around row y.
  void advance(const ImageView& plane, std::int64_t y) {
    const std::int64_t enters = source_of(y + job_.reach_y, job_.height, job_.border);
    const std::int64_t leaves = source_of(y - 1 - job_.reach_y, job_.height, job_.border);
    if (enters != leaves) exchange(plane, enters, leaves);
  }

  WindowRow<Sum> windows(std::int64_t y, const Quantised& quantised) {
    extend(sums_, prefix_sums_);
    extend(squares_, prefix_squares_);
    count_pixels(counted(window_around(y, job_.reach_y), job_.height, job_.border));
    WindowRow<Sum> row{prefix_sums_.data(), prefix_squares_.data(), counts_.data(), span(), quantised};
    row.exact_in_double = exact_in_double();
    return row;
  }

 private:
  [[nodiscard]] std::size_t span() const noexcept { return 2 * reach_ + 1; }

  void exchange(const ImageView& plane, std::int64_t enters, std::int64_t leaves) {
    if (enters < 0 && leaves < 0) return;
    ExchangeWithSquares(enters < 0 ? nothing_.data() : plane.row<Stored>(enters),
                        leaves < 0 ? nothing_.data() : plane.row<Stored>(leaves), width_, sums_.data(),
                        squares_.data());
  }

  /// Exclusive prefixes of the row extended by its border.
  void extend(const std::vector<Sum>& columns, std::vector<Sum>& prefixes) const {
    Sum* after = prefixes.data() + 1;
    if (job_.border == Border::shrink) {
      Scan(columns.data(), width_, 1, nullptr, after + reach_);
      std::fill(after + reach_ + width_, prefixes.data() + prefixes.size(), after[reach_ + width_ - 1]);
      return;
    }
    const auto at = [&](std::size_t i) {
      const std::int64_t position = static_cast<std::int64_t>(i) - job_.reach_x;
      return columns[static_cast<std::size_t>(source_of(position, job_.width, job_.border))];
    };
    for (std::size_t i = 0; i < reach_; ++i) after[i] = at(i);
    std::copy(columns.begin(), columns.end(), after + reach_);
    for (std::size_t i = reach_ + width_; i + 1 < prefixes.size(); ++i) after[i] = at(i);
    Scan(after, prefixes.size() - 1, 1, nullptr, after);
  }

  void count_pixels(std::int64_t rows) {
    if (rows == rows_) return;
    rows_ = rows;
    for (std::size_t x = 0; x < width_; ++x) {
      const Window window = window_around(static_cast<std::int64_t>(x), job_.reach_x);
      counts_[x] = static_cast<double>(rows * counted(window, job_.width, job_.border));
      inverses_[x] = 1.0F / static_cast<float>(counts_[x]);
    }
    most_ = *std::max_element(counts_.begin(), counts_.end());
  }

  /// count * (count * largest^2) < 2^53, the bound of every term of n Q - S^2.
  [[nodiscard]] bool exact_in_double() const {
    if (job_.plane.type == Type::f32 || most_ >= (1U << 18U)) return false;
    return most_ * (job_.plane.type == Type::u8 ? 0xFF : 0xFFFF) < 94906265;  // its square is below 2^53
  }

  BoxStatsJob job_;
  std::size_t width_;
  std::size_t reach_;
  std::vector<Sum> sums_;
  std::vector<Sum> squares_;
  std::vector<Stored> nothing_;
  std::vector<Sum> prefix_sums_;
  std::vector<Sum> prefix_squares_;
  std::vector<double> counts_;   ///< pixels of each window
  std::vector<float> inverses_;  ///< of the counts
  double most_ = 0;              ///< the largest count
  std::int64_t rows_ = -1;       ///< of the windows that were counted
};

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
