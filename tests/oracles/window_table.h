#pragma once
// Exact sums of integers over windows, with mean and deviation.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "statistics/maths/local_statistics.h"
#include "tests/oracles/oracle_local.h"

namespace satin::test {

/// Sums over windows cut at the border, by tables of 64-bit integers.
class WindowTable {
 public:
  WindowTable(const Plane& plane, bool squared) : width_(plane.width), height_(plane.height) {
    table_.resize(static_cast<std::size_t>((width_ + 1) * (height_ + 1)));
    for (std::int64_t y = 0; y < height_; ++y)
      for (std::int64_t x = 0; x < width_; ++x) {
        const auto value = static_cast<std::int64_t>(plane.at(x, y));
        at(x + 1, y + 1) = at(x, y + 1) + at(x + 1, y) - at(x, y) + (squared ? value * value : value);
      }
  }
  [[nodiscard]] std::int64_t sum(std::int64_t x, std::int64_t y, std::int64_t reach) const {
    const std::int64_t x0 = std::max<std::int64_t>(x - reach, 0);
    const std::int64_t y0 = std::max<std::int64_t>(y - reach, 0);
    const std::int64_t x1 = std::min(x + reach + 1, width_);
    const std::int64_t y1 = std::min(y + reach + 1, height_);
    return value(x1, y1) - value(x0, y1) - value(x1, y0) + value(x0, y0);
  }

 private:
  std::int64_t& at(std::int64_t x, std::int64_t y) {
    return table_[static_cast<std::size_t>(y * (width_ + 1) + x)];
  }
  [[nodiscard]] std::int64_t value(std::int64_t x, std::int64_t y) const {
    return table_[static_cast<std::size_t>(y * (width_ + 1) + x)];
  }
  std::int64_t width_;
  std::int64_t height_;
  std::vector<std::int64_t> table_;
};

/// Mean and deviation over windows cut at the border, in doubles.
inline std::vector<LocalStatistics> statistics_of(const Plane& plane, int window) {
  const WindowTable values(plane, false);
  const WindowTable squares(plane, true);
  const WindowTable ones({plane.width, plane.height, std::vector<double>(plane.values.size(), 1)}, false);
  std::vector<LocalStatistics> all;
  for (std::int64_t y = 0; y < plane.height; ++y)
    for (std::int64_t x = 0; x < plane.width; ++x) {
      const std::int64_t n = ones.sum(x, y, window / 2);
      const std::int64_t sum = values.sum(x, y, window / 2);
      __extension__ using Exact = __int128;
      const Exact radicand =
          static_cast<Exact>(n) * squares.sum(x, y, window / 2) - static_cast<Exact>(sum) * sum;
      const auto count = static_cast<double>(n);
      all.push_back({static_cast<double>(sum) / count, std::sqrt(static_cast<double>(radicand)) / count});
    }
  return all;
}

}  // namespace satin::test
