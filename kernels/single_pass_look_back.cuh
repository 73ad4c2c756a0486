#pragma once
// The look-back of the single-pass table: how a tile learns the sums above it and to the left of it.

#include <cstdint>

#include "kernels/single_pass.cuh"

namespace satin::kernels::single_pass {

/// Four neighbouring columns or rows in the tiles before this one, `Depth` of them and the halves of the
/// inclusive sums of the one before, as slots 0 .. Depth + 1. A thread has every `Groups`-th slot.
template <int Depth, int Groups>
struct LookBack {
  static constexpr int slots = (Depth + 2 + Groups - 1) / Groups;
  uint4 words[slots];

  const std::uint32_t* sums;  ///< of all tiles
  int own;                    ///< place of this tile's
  int step;                   ///< to the same place of the tile before
  int plane;  ///< from the sums to the low halves of inclusive sums, and on to the high halves
  int tiles_before;
  int group;

  [[nodiscard]] __device__ bool is_inclusive(int k) const {
    const int first = k * Groups;  // constant where the loop over k is unrolled
    if (first + Groups <= Depth) return false;
    return first >= Depth || group + first >= Depth;
  }
  [[nodiscard]] __device__ bool exists(int k) const {
    const int slot = group + k * Groups;
    return is_inclusive(k) ? slot < Depth + 2 && Depth < tiles_before : slot < tiles_before;
  }
  [[nodiscard]] __device__ const std::uint32_t* address(int k) const {
    const int slot = group + k * Groups;
    return sums + (is_inclusive(k) ? own - (Depth + 1) * step + (slot - Depth + 1) * plane
                                   : own - (slot + 1) * step);
  }
  __device__ void look(std::uint32_t tag) {
#pragma unroll
    for (int k = 0; k < slots; ++k) {
      const std::uint32_t nothing = tagged(tag, 0U);
      words[k] = make_uint4(nothing, nothing, nothing, nothing);
      if (exists(k)) words[k] = look_at(address(k));
    }
  }
  __device__ void look_again(std::uint32_t tag) {
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (!is_current(words[k], tag)) words[k] = look_at(address(k));
  }
  [[nodiscard]] __device__ bool complete(std::uint32_t tag) const {
    bool all = true;
#pragma unroll
    for (int k = 0; k < slots; ++k) all = all && is_current(words[k], tag);
    return all;
  }
  [[nodiscard]] __device__ uint4 sum() const {
    uint4 sums = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < slots; ++k) {
      const int shift = is_inclusive(k) && group + k * Groups == Depth + 1 ? 16 : 0;
      sums.x += value_of(words[k].x) << shift;
      sums.y += value_of(words[k].y) << shift;
      sums.z += value_of(words[k].z) << shift;
      sums.w += value_of(words[k].w) << shift;
    }
    return sums;
  }
};

/// The corner, one word a thread: warp w looks at the totals in the row of tiles w + 1 above; the last lanes
/// of three warps at the corners of that window.
struct CornerLookBack {
  const std::uint64_t* totals;
  int place = -1;  ///< nothing to look at
  std::uint64_t word = 0;
  bool negative = false;

  __device__ CornerLookBack(const Job& job, const Tile& tile) : totals(job.workspace.totals) {
    const int warp = warp_index();
    const int lane = lane_index();
    const bool beyond_top = tile.row > upward;
    const bool beyond_left = tile.column > leftward_totals;
    const int corner = corner_plane(job) + tile.number;
    const int above = upward * job.tile_columns;
    if (lane < leftward_totals) {
      if (warp < upward && warp < tile.row && lane < tile.column)
        place = tile.number - (warp + 1) * job.tile_columns - (lane + 1);
    } else if (warp == 0) {
      if (beyond_left) place = corner - leftward_totals;
    } else if (warp == 1) {
      if (beyond_top) place = corner - above;
    } else if (warp == 2) {
      negative = true;
      if (beyond_top && beyond_left) place = corner - above - leftward_totals;
    }
  }
  __device__ void look() {
    if (place >= 0) word = look_at(totals + place);
  }
  [[nodiscard]] __device__ bool complete(std::uint32_t tag) const {
    return place < 0 || is_current(word, tag);
  }
  __device__ void look_again(std::uint32_t tag) {
    if (!complete(tag)) look();
  }
  [[nodiscard]] __device__ std::uint32_t sum() const {
    const std::uint32_t value = value_of(word);
    return negative ? 0U - value : value;
  }
};

/// False if the warp has looked in vain; what it leaves in shared memory is worth nothing then.
template <class Shape>
__device__ bool look_back(const Job& job, const Tile& tile, Exchange<Shape>& shared) {
  const int lane = lane_index();
  const int warp = warp_index();
  const int warp_column = warp % Shape::warp_columns;
  const int warp_row = warp / Shape::warp_columns;
  const int column_group = warp_column * warp_size + lane;
  LookBack<upward, Shape::warp_rows> above{{},
                                           job.workspace.column_sums,
                                           place_of_columns<Shape>(job, tile, column_group),
                                           padded_width<Shape>(job),
                                           column_plane<Shape>(job),
                                           tile.row,
                                           warp_row};
  LookBack<leftward, Shape::warps> left{
      {},          job.workspace.row_sums, place_of_row(tile, lane * lane_rows),
      tile_height, row_plane(job),         tile.column,
      warp};
  CornerLookBack corner(job, tile);
  above.look(tile.tag);
  left.look(tile.tag);
  corner.look();
  int looks = job.looks;
  while (looks > 0 && !(above.complete(tile.tag) && left.complete(tile.tag) && corner.complete(tile.tag))) {
    above.look_again(tile.tag);
    left.look_again(tile.tag);
    corner.look_again(tile.tag);
    --looks;
  }
  __syncwarp();

  const uint4 columns = above.sum();
  if (warp_row < Shape::upward_groups) {
    shared.columns_above[warp_row][column_group] = columns;
    const std::uint32_t all = warp_sum(sum_of(columns));
    if (lane == 0) shared.columns_above_of_warp[warp] = all;
  }
  const uint4 rows = left.sum();
  shared.rows_left[warp][lane] = rows;
  constexpr int lanes = Shape::rows / lane_rows;  // of a row of warps
  const std::uint32_t rows_of_warp = sum_over<lanes>(sum_of(rows));
  if (lane % lanes == 0) shared.rows_left_of_warp[warp * Shape::warp_rows + lane / lanes] = rows_of_warp;
  const std::uint32_t parts = warp_sum(corner.sum());
  if (lane == 0) shared.corner[warp] = parts;
  return looks > 0;
}

}  // namespace satin::kernels::single_pass
