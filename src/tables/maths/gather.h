#pragma once
// Box sums from a table in memory: four entries for a box inside the picture, a few more at its borders.

#include <cstdint>

#include "core/maths/hd.h"
#include "core/maths/window.h"
#include "pixels/maths/divide.h"

namespace satin {

/// An inclusive summed-area table of interleaved channels.
template <class Sum>
struct TableView {
  const Sum* data = nullptr;
  std::int64_t row = 0;  ///< entries to the next row
  std::int64_t width = 0;
  std::int64_t height = 0;
};

/// Computes the sums over one whole box, one for each channel, modulo 2^32 or 2^64.
template <int Channels, class Sum>
SATIN_HD void whole_box_sums(const TableView<Sum>& table, Window x, Window y, Border border, Sum* sums) {
  if (x.low > 0 && y.low > 0 && x.high < table.width && y.high < table.height) {
    const Sum* above = table.data + (y.low - 1) * table.row;
    const Sum* below = table.data + y.high * table.row;
    const std::int64_t left = (x.low - 1) * Channels;
    const std::int64_t right = x.high * Channels;
    for (int c = 0; c < Channels; ++c)
      sums[c] = (below[right + c] - below[left + c]) - (above[right + c] - above[left + c]);
    return;
  }
  const PrefixTerms columns = prefix_terms(x, table.width, border);
  const PrefixTerms rows = prefix_terms(y, table.height, border);
  for (int c = 0; c < Channels; ++c) sums[c] = 0;
  for (int j = 0; j < PrefixTerms::count; ++j) {
    if (rows.coefficient[j] == 0) continue;
    const Sum* row = table.data + rows.index[j] * table.row;
    for (int i = 0; i < PrefixTerms::count; ++i) {
      if (columns.coefficient[i] == 0) continue;
      const auto factor = static_cast<Sum>(rows.coefficient[j]) * static_cast<Sum>(columns.coefficient[i]);
      const Sum* entry = row + static_cast<std::int64_t>(columns.index[i]) * Channels;
      for (int c = 0; c < Channels; ++c) sums[c] += factor * entry[c];
    }
  }
}

// --- Cells of a grid that begins at the upper left pixel ---

/// Returns the cell around position p of an axis, clipped at its end.
SATIN_HD Window cell_around(std::int64_t p, std::int64_t cell, std::int64_t size) {
  const std::int64_t low = p / cell * cell;
  return {low, low + cell < size ? low + cell - 1 : size - 1};
}

/// Computes the sums over the cell of a pixel, and returns its number of pixels.
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
