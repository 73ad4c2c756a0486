#pragma once
// Sums over boxes of which only the part inside the picture counts, from entries of a table.

#include <cstdint>

#include "core/maths/window.h"
#include "kernels/device/vector.cuh"
#include "tables/maths/gather.h"

namespace satin::kernels {

/// One entry of the table: read by as few instructions as the channels allow.
template <int Channels, class Sum>
__device__ Vector<Sum, Channels> entry_at(const TableView<Sum>& table, int x, int y) {
  if (x < 0 || y < 0) return {};
  return reinterpret_cast<const Vector<Sum, Channels>*>(table.data + y * table.row)[x];
}

/// A box along one axis.
struct Axis {
  int centre = 0;
  int reach = 0;
  int size = 0;  ///< of the picture
  std::uint32_t fraction = 0;
};

__device__ inline Axis axis_of(std::int64_t centre, Radius256 radius, std::int64_t size) {
  return {static_cast<int>(centre), radius / radius_one, static_cast<int>(size),
          static_cast<std::uint32_t>(radius) % radius_one};
}

/// True if the outer window is in the picture.
__device__ inline bool fits(const Axis& axis) {
  const int reach = axis.reach + (axis.fraction != 0 ? 1 : 0);
  return axis.centre >= reach && axis.centre + reach < axis.size;
}

/// The part of a window that is in the picture: pixels before + 1 to last.
struct Span {
  int before = 0;
  int last = 0;
};

__device__ inline Span span_of(const Axis& axis, int outer) {
  const int reach = axis.reach + outer;
  return {max(axis.centre - reach - 1, -1), min(axis.centre + reach, axis.size - 1)};
}

/// The weight of the inner (0) or outer (1) window.
__device__ inline std::uint32_t window_weight(const Axis& axis, int outer) {
  if (outer != 0) return axis.fraction;
  return axis.fraction == 0 ? 1 : radius_one - axis.fraction;
}

/// Weighted number of pixels along an axis that are in the picture.
__device__ inline std::uint64_t count_along(const Axis& axis) {
  const Span inner = span_of(axis, 0);
  const Span outer = span_of(axis, 1);
  return static_cast<std::uint64_t>(window_weight(axis, 0)) *
             static_cast<std::uint32_t>(inner.last - inner.before) +
         static_cast<std::uint64_t>(axis.fraction) * static_cast<std::uint32_t>(outer.last - outer.before);
}

/// Calls add(weight, sums) for every whole box, clipped by the picture, that a box is mixed from, in the
/// order of covered_box_sums().
template <int Channels, class Sum, class Add>
__device__ void for_clipped_boxes(const TableView<Sum>& table, const Axis& x, const Axis& y, const Add& add) {
  const int outer_x_end = x.fraction != 0 ? 2 : 1;
  const int outer_y_end = y.fraction != 0 ? 2 : 1;
#pragma unroll 1
  for (int outer_y = 0; outer_y < outer_y_end; ++outer_y) {
#pragma unroll 1
    for (int outer_x = 0; outer_x < outer_x_end; ++outer_x) {
      const std::uint32_t weight = window_weight(x, outer_x) * window_weight(y, outer_y);
      const Span columns = span_of(x, outer_x);
      const Span rows = span_of(y, outer_y);
      const auto a = entry_at<Channels>(table, columns.before, rows.before);
      const auto b = entry_at<Channels>(table, columns.last, rows.before);
      const auto c = entry_at<Channels>(table, columns.before, rows.last);
      const auto d = entry_at<Channels>(table, columns.last, rows.last);
      Sum sums[Channels];
#pragma unroll
      for (int i = 0; i < Channels; ++i) sums[i] = (d.of[i] - c.of[i]) - (b.of[i] - a.of[i]);
      add(weight, sums);
    }
  }
}

}  // namespace satin::kernels
