#pragma once
// How many warps a block of box_mean_wide.cuh has at most. NVIDIA H200, UHD RGB.
//
// Column sums of 64 bits leave 16 warps the registers only if the rows of the next step are asked for after
// the means of this one. 16 such warps instead of 12 that ask before: f32 at radius 16 0.186 instead of 0.189
// ms, at 64 0.286 instead of 0.248, a gaussian of sigma 8 0.755 instead of 0.655, radius 16.5 0.285 instead
// of 0.335.

#include "kernels/means/launch.h"

namespace satin::kernels {

/// `by_boxes`: with a fractional radius.
[[nodiscard]] constexpr int wide_warps(Type type, bool by_boxes) {
  const bool wide_columns = type == Type::f32 || type == Type::u64;
  return wide_columns && !(type == Type::f32 && by_boxes) ? 12 : 16;
}

}  // namespace satin::kernels
