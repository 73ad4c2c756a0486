#pragma once
// Weighted sums over boxes, pixel by pixel, without prefix sums.

#include <array>
#include <utility>
#include <vector>

#include "tests/oracles/oracle_line.h"

namespace satin::test {

__extension__ typedef __int128 Wide;

/// Returns round(numerator / denominator), ties up. The denominator is positive.
Wide rounded(Wide numerator, Wide denominator);

/// Interleaved channels of every pixel, and of the pixel outside the picture for Border::constant.
template <class Value>
struct Working {
  int width = 0;
  int height = 0;
  int channels = 1;
  std::vector<Value> values;
  std::array<Value, 4> outside{};

  [[nodiscard]] const Value& at(int x, int y, int c) const {
    return values[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
};

/// A radius along each axis, or a radius for each pixel, in 1/256 pixel.
struct BoxRadii {
  int x = 0;
  int y = 0;
  std::vector<int> map;

  [[nodiscard]] std::pair<int, int> at(int column, int row, int width) const {
    if (map.empty()) return {x, y};
    const int radius = map[static_cast<std::size_t>(row * width + column)];
    return {radius, radius};
  }
  [[nodiscard]] int largest() const;
};

/// The sum of value * weight over a box, and the sum of weights, which includes pixels outside except for
/// Border::shrink.
template <class Value>
struct BoxTotal {
  std::array<Value, 4> sum{};
  Value count{};
};

/// Returns totals of the covered areas, in 1/256 x 1/256 pixel. Exact for integers.
template <class Value>
std::vector<BoxTotal<Value>> covered_totals(const Working<Value>& working, const BoxRadii& radii,
                                            Border border);

/// Returns four sums over windows of whole radii for each pixel: reach r or r + 1 (bit 0: along x, bit 1:
/// along y). Pixels outside the picture are left out.
std::vector<std::array<std::array<Wide, 4>, 4>> whole_sums(const Working<Wide>& working,
                                                           const BoxRadii& radii, Border border);

}  // namespace satin::test
