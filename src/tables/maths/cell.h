#pragma once
// Cells of a grid that begins at the upper left pixel.

#include <cstdint>

#include "tables/maths/gather.h"

namespace satin {

/// The cell around position p of an axis, clipped at its end.
SATIN_HD Window cell_around(std::int64_t p, std::int64_t cell, std::int64_t size) {
  const std::int64_t low = p / cell * cell;
  return {low, low + cell < size ? low + cell - 1 : size - 1};
}

/// Sums over the cell that a pixel lies in, and its number of pixels.
template <int Channels, class Sum>
SATIN_HD std::uint64_t cell_sums(const TableView<Sum>& table, std::int64_t x, std::int64_t y,
                                 std::int64_t cell, bool fixed_point, WideSum* totals) {
  const Window columns = cell_around(x, cell, table.width);
  const Window rows = cell_around(y, cell, table.height);
  Sum sums[4];
  whole_box_sums<Channels>(table, columns, rows, Border::shrink, sums);
  for (int c = 0; c < Channels; ++c) {
    totals[c] = {};
    add_weighted(totals[c], 1, sums[c], fixed_point);
  }
  return static_cast<std::uint64_t>(columns.high - columns.low + 1) *
         static_cast<std::uint64_t>(rows.high - rows.low + 1);
}

}  // namespace satin
