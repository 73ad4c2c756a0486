#pragma once
// The single-pass table without the other blocks: what a tile has looked for in vain, straight from the
// picture. It reads all pixels above the tile and to the left of it.

#include <cstdint>

#include "kernels/tables/single_pass.cuh"

namespace satin::kernels::single_pass {

template <class Pixels>
__device__ typename Pixels::Sum element_at(const ByteRows& picture, int x, int y) {
  const auto* row = reinterpret_cast<const typename Pixels::Element*>(picture.data + y * picture.row);
  return Pixels::from_one(__ldg(row + x));
}

/// The sum of one channel of a row up to an element, in every lane.
template <class Pixels>
__device__ typename Pixels::Sum sum_of_row(const ByteRows& picture, int channel, int y, int end) {
  typename Pixels::Sum sum = 0;
#pragma unroll 1
  for (int x = channel + lane_index() * Pixels::channels; x < end; x += warp_size * Pixels::channels)
    sum += element_at<Pixels>(picture, x, y);
  return warp_sum(sum);
}

/// Fills the place of what look_back() finds. To be called by the whole block, between two barriers.
template <class Tiling>
__device__ void sum_alone(const Job& job, const Tile& tile, Exchange<Tiling>& shared) {
  using Pixels = typename Tiling::Pixels;
  using Sum = typename Tiling::Sum;
  const ByteRows& picture = job.picture;
  const int first_x = tile.column * Tiling::width;
  const int first_y = tile.row * tile_height;
  const int lane = lane_index();
  const Place<Tiling> at;

  if (at.row < Tiling::upward_groups) {
    Vector<Sum, Tiling::elements> columns{};
    const int x = first_x + at.lane_across * Tiling::elements;
#pragma unroll 1
    for (int y = at.row; y < first_y; y += Tiling::upward_groups)
#pragma unroll
      for (int i = 0; i < Tiling::elements; ++i)
        if (x + i < job.width) columns.of[i] += element_at<Pixels>(picture, x + i, y);
    shared.columns_above[at.row][at.lane_across] = columns;
    const typename Tiling::Phase phase(at.lane_across);
#pragma unroll
    for (int c = 0; c < Tiling::channels; ++c) {
      const Sum all = warp_sum(phase.sum_of(c, columns));
      if (lane == 0) shared.columns_above_of_warp[c][at.warp] = all;
    }
  }

  const int channel = at.warp / Tiling::leftward_groups;
  const int group = at.warp % Tiling::leftward_groups;
  if (channel >= Tiling::channels) return;
  Sum of_rows[lane_rows] = {};  // those of the lane that this warp sums
  Sum of_warp_row = 0;          // lane r: of those in row r of the warps
#pragma unroll 1
  for (int row = group; row < tile_height && first_y + row < picture.height; row += Tiling::leftward_groups) {
    const Sum sum = sum_of_row<Pixels>(picture, channel, first_y + row, first_x);
#pragma unroll
    for (int i = 0; i < lane_rows; ++i)
      if (row == lane * lane_rows + i) of_rows[i] = sum;
    if (row / Tiling::rows == lane) of_warp_row += sum;
  }
#pragma unroll
  for (int i = 0; i < lane_rows; ++i) shared.rows_left[at.warp][lane].of[i] = of_rows[i];
  if (lane < Tiling::warp_rows) shared.rows_left_of_warp[at.warp][lane] = of_warp_row;

  Sum corner = 0;
#pragma unroll 1
  for (int y = group; y < first_y; y += Tiling::leftward_groups)
    corner += sum_of_row<Pixels>(picture, channel, y, first_x);
  if (lane == 0) shared.corner[at.warp] = corner;
}

}  // namespace satin::kernels::single_pass
