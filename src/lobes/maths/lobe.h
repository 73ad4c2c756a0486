#pragma once
// Means of a map of all directions (latitude and longitude) over a lobe: the lobe of a row of pixels is a
// stack of bands, each some whole rows high and as many columns wide on both sides of the pixel. Rows,
// columns and pixels are those of the map of cells where lobes are so wide that cells are larger than pixels.

#include <cstdint>

namespace satin {

/// Rows [first_row, last_row] and the columns up to `reach` to either side, around the circle, with weight
/// `inner`; those up to reach + 1 with weight `outer`.
struct LobeBand {
  static constexpr std::int32_t whole_circle = -1;  ///< a reach: every column once; `outer` is 0 then

  std::int32_t first_row = 0;
  std::int32_t last_row = 0;
  std::int32_t reach = 0;  ///< reach + 1 has room on the circle if `outer` is not 0
  std::uint32_t inner = 0;
  std::uint32_t outer = 0;
};

/// The bands of one row of results.
struct LobeRow {
  std::uint32_t first_band = 0;
  std::uint32_t bands = 0;   ///< 0: the result is the pixel itself
  std::uint64_t weight = 0;  ///< of all map pixels of all bands, with the weights of their rows: the divisor
};

}  // namespace satin
