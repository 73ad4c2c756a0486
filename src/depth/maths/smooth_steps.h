#pragma once
// Depth of 8 bits without its steps: where neighbours differ by one code at most it is taken for a smooth
// surface that was rounded, and averaged over the largest window that holds nothing else.

#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "core/maths/window.h"
#include "tables/maths/gather.h"

namespace satin {

/// Smoothed codes have 8 bits below the point; the largest, 255 * 256, is not this.
inline constexpr std::uint16_t unknown_code = 0xFFFF;
inline constexpr int step_fraction = 8;

/// Half the largest window, a power of two.
inline constexpr int step_reach = 16;

/// What is summed: the code, and from bit 19 on whether an edge is here. A sum over the largest window of
/// 33 x 33 = 1089 pixels holds less than 1089 * 255 < 2^19 of codes and less than 2^11 of edges: 30 bits.
inline constexpr int step_edge_bit = 19;
static_assert((2 * step_reach + 1) * (2 * step_reach + 1) * 255 < 1 << step_edge_bit);
static_assert((2 * step_reach + 1) * (2 * step_reach + 1) < 1 << (31 - step_edge_bit));

/// A pixel is an edge if a neighbour above, below, at the left or the right differs by more than one code, or
/// if it or one of them is unknown (`unknown`: a code, or -1). Neighbours outside the image are `code`.
SATIN_HD std::uint32_t step_value(int code, int left, int right, int above, int below, int unknown) {
  const auto differs = [&](int other) {
    return (other == unknown ? 1U : 0U) | (other - code > 1 ? 1U : 0U) | (code - other > 1 ? 1U : 0U);
  };
  const std::uint32_t edge = differs(code) | differs(left) | differs(right) | differs(above) | differs(below);
  return static_cast<std::uint32_t>(code) | edge << step_edge_bit;
}

/// The mean over the largest window, of reach 16, 8, 4, 2 or 1, that lies in the image and has no edge; the
/// code itself if there is none. Windows are symmetric, so that slopes stay what they are.
/// window_sum(reach) is what step_value() has in the window around the pixel.
template <class Place, class WindowSum>
SATIN_HD std::uint16_t smoothed_code(int code, Place x, Place y, Place width, Place height, int unknown,
                                     const WindowSum& window_sum) {
  if (code == unknown) return unknown_code;
  auto smoothed = static_cast<std::uint16_t>(code << step_fraction);
  const auto takes = [&]<int reach>(std::integral_constant<int, reach>) {
    if (x < reach || y < reach || x + reach >= width || y + reach >= height) return false;
    constexpr auto area = static_cast<std::uint32_t>((2 * reach + 1) * (2 * reach + 1));
    const std::uint32_t sum = window_sum(reach);
    if (sum >> step_edge_bit != 0) return false;
    smoothed = static_cast<std::uint16_t>(((sum << (step_fraction + 1)) + area) / (2 * area));
    return true;
  };
  // A window that fits holds smaller ones that do
  static_assert(step_reach == 16);
  if (takes(std::integral_constant<int, 4>())) {
    if (!takes(std::integral_constant<int, 16>())) takes(std::integral_constant<int, 8>());
  } else if (takes(std::integral_constant<int, 1>())) {
    takes(std::integral_constant<int, 2>());
  }
  return smoothed;
}

/// With the table of what step_value() has.
SATIN_HD std::uint16_t smoothed_code(int code, std::int64_t x, std::int64_t y, int unknown,
                                     const TableView<std::uint32_t>& table) {
  return smoothed_code(code, x, y, table.width, table.height, unknown, [&](std::int64_t reach) {
    std::uint32_t sum = 0;
    whole_box_sums<1>(table, window_around(x, reach), window_around(y, reach), Border::shrink, &sum);
    return sum;
  });
}

}  // namespace satin
