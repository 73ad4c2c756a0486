#pragma once
// Removes the steps of 8-bit depth.
//
// Depth whose neighbours differ by one code at most is treated as a smooth surface that was rounded. Such
// a pixel becomes the mean over the largest window around it that holds nothing else: codes and edges are
// summed together in one table, so that a window costs four reads whatever its size.

#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "core/maths/window.h"
#include "core/operation.h"
#include "tables/maths/gather.h"

namespace satin {

/// Smoothed codes have 8 bits below the point. The largest is 255 * 256, which leaves this one for unknown.
inline constexpr std::uint16_t unknown_code = 0xFFFF;
inline constexpr int step_fraction = 8;

/// Reach of the largest window, a power of two.
inline constexpr int step_reach = 16;

/// Entries of the table sum the code, and from bit 19 on the number of edges. A sum over the largest window
/// of 33 x 33 = 1089 pixels holds less than 1089 * 255 < 2^19 of codes and less than 2^11 edges: 30 bits.
inline constexpr int step_edge_bit = 19;
static_assert((2 * step_reach + 1) * (2 * step_reach + 1) * 255 < 1 << step_edge_bit);
static_assert((2 * step_reach + 1) * (2 * step_reach + 1) < 1 << (31 - step_edge_bit));

/// Returns what the table sums at a pixel. The pixel is an edge if one of its four neighbours differs by more
/// than one code, or if it or one of them is unknown (`unknown`: a code, or -1). Neighbours outside the image
/// count as `code`.
SATIN_HD std::uint32_t step_value(int code, int left, int right, int above, int below, int unknown) {
  const auto differs = [&](int other) {
    return (other == unknown ? 1U : 0U) | (other - code > 1 ? 1U : 0U) | (code - other > 1 ? 1U : 0U);
  };
  const std::uint32_t edge = differs(code) | differs(left) | differs(right) | differs(above) | differs(below);
  return static_cast<std::uint32_t>(code) | edge << step_edge_bit;
}

/// Returns the mean over the largest window, of reach 16, 8, 4, 2 or 1, that lies in the image and has no
/// edge; the code itself if there is none. Windows are symmetric, so that slopes keep their values.
/// `window_sum(reach)` returns the sum of step_value() over the window around the pixel.
template <class Index, class WindowSum>
SATIN_HD std::uint16_t smoothed_code(int code, Index x, Index y, Index width, Index height, int unknown,
                                     const WindowSum& window_sum) {
  if (code == unknown) return unknown_code;
  auto smoothed = static_cast<std::uint16_t>(code << step_fraction);
  const auto try_window = [&]<int reach>(std::integral_constant<int, reach>) {
    if (x < reach || y < reach || x + reach >= width || y + reach >= height) return false;
    constexpr auto area = static_cast<std::uint32_t>((2 * reach + 1) * (2 * reach + 1));
    const std::uint32_t sum = window_sum(reach);
    if (sum >> step_edge_bit != 0) return false;
    smoothed = static_cast<std::uint16_t>(((sum << (step_fraction + 1)) + area) / (2 * area));
    return true;
  };
  // Windows without edges are nested, so a binary search over the reach finds the largest
  static_assert(step_reach == 16);
  if (try_window(std::integral_constant<int, 4>())) {
    if (!try_window(std::integral_constant<int, 16>())) try_window(std::integral_constant<int, 8>());
  } else if (try_window(std::integral_constant<int, 1>())) {
    try_window(std::integral_constant<int, 2>());
  }
  return smoothed;
}

/// Returns the smoothed code of a pixel, from a table of step_value().
SATIN_HD std::uint16_t smoothed_code(int code, std::int64_t x, std::int64_t y, int unknown,
                                     const TableView<std::uint32_t>& table) {
  return smoothed_code(code, x, y, table.width, table.height, unknown, [&](std::int64_t reach) {
    std::uint32_t sum = 0;
    whole_box_sums<1>(table, window_around(x, reach), window_around(y, reach), Border::shrink, &sum);
    return sum;
  });
}

struct SmoothStepsOperation;

struct SmoothStepsJob {
  using Operation = SmoothStepsOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  int channel = 0;   ///< channel that holds the depth
  int unknown = -1;  ///< code of unknown pixels; -1: none
};

struct SmoothStepsOperation : Operation {
  /// `codes` (u8) to `smoothed` (u16, one channel) by smoothed_code().
  virtual void run(const ImageView& codes, const MutableImageView& smoothed, Stream stream) = 0;
};

}  // namespace satin
