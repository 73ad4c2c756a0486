#pragma once
// The single-pass table without the other blocks: what a tile has looked for in vain, straight from the
// picture. It reads all pixels above the tile and to the left of it.

#include <cstdint>

#include "kernels/byte_rows.cuh"
#include "kernels/single_pass.cuh"

namespace satin::kernels::single_pass {

/// The lane's share of the sum of the first `width` pixels of a row.
__device__ inline std::uint32_t part_of_row(const BytePicture& picture, int y, int width) {
  const std::byte* row = picture.data + y * picture.row;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int x = lane_index() * lane_pixels - behind_word<false>(row); x < width; x += warp_pixels)
    sum = __dp4a(word_of_row(row, x, width), 0x01010101U, sum);
  return sum;
}

/// Fills the place of what look_back() finds. To be called by the whole block, between two barriers.
template <class Shape>
__device__ void sum_alone(const Job& job, const Tile& tile, Exchange<Shape>& shared) {
  const BytePicture& picture = job.picture;
  const int first_x = tile.column * Shape::width;
  const int first_y = tile.row * tile_height;
  const int lane = lane_index();
  const int warp = warp_index();
  const int warp_column = warp % Shape::warp_columns;
  const int warp_row = warp / Shape::warp_columns;

  if (warp_row < Shape::upward_groups) {
    const int column_group = warp_column * warp_size + lane;
    const int x = first_x + column_group * lane_pixels;
    uint4 sums = make_uint4(0, 0, 0, 0);
    for (int y = warp_row; y < first_y; y += Shape::upward_groups) {
      const auto* row = reinterpret_cast<const std::uint8_t*>(picture.data + y * picture.row);
      if (x < picture.width) sums.x += row[x];
      if (x + 1 < picture.width) sums.y += row[x + 1];
      if (x + 2 < picture.width) sums.z += row[x + 2];
      if (x + 3 < picture.width) sums.w += row[x + 3];
    }
    shared.columns_above[warp_row][column_group] = sums;
    const std::uint32_t all = warp_sum(sum_of(sums));
    if (lane == 0) shared.columns_above_of_warp[warp] = all;
  }

  constexpr int rows = tile_height / Shape::warps;
  static_assert(Shape::rows % rows == 0, "those of a warp are part of one row of warps");
  std::uint32_t sum_of_rows = 0;
  for (int row = warp * rows; row < (warp + 1) * rows; ++row) {
    const int y = first_y + row;
    const std::uint32_t sum = warp_sum(y < picture.height ? part_of_row(picture, y, first_x) : 0);
    sum_of_rows += sum;
    if (lane < Shape::warps)
      reinterpret_cast<std::uint32_t*>(shared.rows_left[lane])[row] = lane == 0 ? sum : 0;
  }
  if (lane < Shape::warp_rows)
    shared.rows_left_of_warp[warp * Shape::warp_rows + lane] =
        lane == warp * rows / Shape::rows ? sum_of_rows : 0;

  std::uint32_t corner = 0;
  for (int y = warp; y < first_y; y += Shape::warps) corner += part_of_row(picture, y, first_x);
  corner = warp_sum(corner);
  if (lane == 0) shared.corner[warp] = corner;
}

}  // namespace satin::kernels::single_pass
