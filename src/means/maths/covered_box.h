#pragma once
// Sums over the covered area of a box with fractional radii: whole boxes from a table, weighted.

#include <cstdint>

#include "core/maths/hd.h"
#include "core/maths/window.h"
#include "means/maths/mean.h"
#include "pixels/maths/divide.h"
#include "tables/maths/gather.h"

namespace satin {

/// Weighted sums over the covered area of a box with fractional radii, and its weighted number of pixels.
template <int Channels, class Sum>
SATIN_HD std::uint64_t covered_box_sums(const TableView<Sum>& table, std::int64_t x, std::int64_t y,
                                        Radius256 radius_x, Radius256 radius_y, Border border,
                                        const MeanRule& rule, WideSum* totals) {
  const AxisBox along_x = axis_box(x, table.width, radius_x, border);
  const AxisBox along_y = axis_box(y, table.height, radius_y, border);
  for (int c = 0; c < Channels; ++c) totals[c] = {};
  for (int outer_y = 0; outer_y < 2; ++outer_y) {
    const std::uint32_t weight_y = outer_y == 0 ? along_y.inner : along_y.outer;
    if (weight_y == 0) continue;
    for (int outer_x = 0; outer_x < 2; ++outer_x) {
      const std::uint32_t weight_x = outer_x == 0 ? along_x.inner : along_x.outer;
      if (weight_x == 0) continue;
      Sum sums[4];
      whole_box_sums<Channels>(table, window_around(x, along_x.reach + outer_x),
                               window_around(y, along_y.reach + outer_y), border, sums);
      const std::uint64_t weight = static_cast<std::uint64_t>(weight_x) * weight_y;
      for (int c = 0; c < Channels; ++c) add_weighted(totals[c], weight, sums[c], rule.fixed_point);
    }
  }
  const std::uint64_t count = along_x.size * along_y.size;
  if (border == Border::constant) {
    const std::uint64_t outside = count - along_x.existing * along_y.existing;
    for (int c = 0; c < Channels; ++c)
      add_weighted(totals[c], outside, rule.border_value[c], rule.fixed_point);
  }
  return count;
}

/// Weighted number of the pixels of the covered area that count, by the table of a plane that is 1 where
/// they do; outside the picture those of a constant border do.
SATIN_HD std::uint64_t covered_count(const TableView<std::uint32_t>& counts, std::int64_t x, std::int64_t y,
                                     Radius256 radius_x, Radius256 radius_y, Border border) {
  MeanRule rule;
  rule.border_value[0] = 1;
  WideSum count;
  covered_box_sums<1>(counts, x, y, radius_x, radius_y, border, rule, &count);
  return count.low;
}

}  // namespace satin
