#pragma once
// What one sample adds to the second differences, wherever these lie.

#include "kernels/deposit_tile.cuh"

namespace satin::kernels {

/// Columns and rows from first to last; empty where first > last.
struct DepositExtent {
  std::int32_t left = 0x7FFFFFFF;
  std::int32_t right = -1;
  std::int32_t top = 0x7FFFFFFF;
  std::int32_t bottom = -1;

  /// Takes in the corners of a staircase; `more` columns and rows are 2 for blocks of pixels.
  __device__ void hold(const Staircase& stairs, std::int32_t x, std::int32_t y, std::int32_t more) {
    const std::int32_t wide = stairs.wide[stairs.boxes - 1];
    const std::int32_t high = stairs.high[0];
    left = min(left, x - wide);
    right = max(right, x + wide + more);
    top = min(top, y - high);
    bottom = max(bottom, y + high + more);
  }
};

/// Marks the tiles of what the lanes of a warp touched.
__device__ inline void mark_spread(const DepositArguments& a, DepositExtent extent) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    extent.left = min(extent.left, __shfl_xor_sync(whole_warp, extent.left, distance));
    extent.right = max(extent.right, __shfl_xor_sync(whole_warp, extent.right, distance));
    extent.top = min(extent.top, __shfl_xor_sync(whole_warp, extent.top, distance));
    extent.bottom = max(extent.bottom, __shfl_xor_sync(whole_warp, extent.bottom, distance));
  }
  const std::int32_t left = max(extent.left, 0) / deposit_tile;
  const std::int32_t right = min(extent.right, a.width - 1) / deposit_tile;
  const std::int32_t top = max(extent.top, 0) / deposit_tile;
  const std::int32_t bottom = min(extent.bottom, a.height - 1) / deposit_tile;
  if (extent.right < extent.left) return;
  for (std::int32_t row = top; row <= bottom; ++row)
    for (std::int32_t column = left + lane_index(); column <= right; column += warp_size)
      a.sums.spread[std::int64_t{row} * a.tile_columns + column] = 1;
}

template <int Channels>
__device__ bool is_highlight(const DepositArguments& a, const std::uint32_t* colour) {
  const std::uint32_t white = a.white_of_run == nullptr ? a.white : *a.white_of_run;
  bool highlight = false;
#pragma unroll
  for (int c = 0; c < Channels; ++c) highlight |= c < a.highlight_channels && colour[c] > white;
  return highlight;
}

/// Calls corner(x, y, negative) for the corners of a staircase: four a box, which is added or taken away.
template <class Corner>
__device__ void for_corners(const Staircase& of, std::int32_t x, std::int32_t y, std::int32_t more,
                            const Corner& corner) {
  const Staircase stairs = of;  // all of it is read at once
  const auto box = [&](std::int32_t wide, std::int32_t high, bool negative) {
    corner(x - wide, y - high, negative);
    corner(x + wide + more, y - high, !negative);
    corner(x - wide, y + high + more, !negative);
    corner(x + wide + more, y + high + more, negative);
  };
#pragma unroll
  for (int k = 0; k < Staircase::most_boxes; ++k) {
    if (k >= stairs.boxes) break;
    if (k > 0) box(stairs.wide[k - 1], stairs.high[k], true);
    box(stairs.wide[k], stairs.high[k], false);
  }
}

/// Adds to one plane of the picture. What lies above or before it counts on its border, what lies behind not.
__device__ inline void add_delta(const DepositArguments& a, int plane, std::int32_t x, std::int32_t y,
                                 std::uint64_t value) {
  if (x >= a.width || y >= a.height) return;
  const std::int64_t at = std::int64_t{y < 0 ? 0 : y} * a.width + (x < 0 ? 0 : x);
  atomicAdd(reinterpret_cast<unsigned long long*>(a.sums.deltas) + plane * delta_plane(a) + at,
            static_cast<unsigned long long>(value));
}

/// Adds a staircase to all planes of the picture; colours(plane) is what one share of it gets, of the last
/// plane the number of samples.
template <int Channels, class Colours>
__device__ void spread_in_picture(const DepositArguments& a, const Staircase& stairs, const Colours& colours,
                                  std::uint32_t share, std::int32_t x, std::int32_t y, std::int32_t more) {
  for_corners(stairs, x, y, more, [&](std::int32_t u, std::int32_t v, bool negative) {
#pragma unroll
    for (int c = 0; c <= Channels; ++c) {
      const std::uint64_t value = colours(c) * share;
      add_delta(a, c, u, v, negative ? 0 - value : value);
    }
  });
}

}  // namespace satin::kernels
