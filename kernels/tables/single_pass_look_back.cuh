#pragma once
// How a tile of the single-pass table learns the sums above it and to the left of it: by looking back, and
// if that was in vain, from all the pixels there.

#include <cstdint>

#include "kernels/tables/single_pass.cuh"

namespace satin::kernels::single_pass {

/// `Width` neighbouring columns or rows in the tiles before this one, `Depth` of them and the pieces of the
/// inclusive sums of the one before, as slots 0 .. Depth + Pieces - 1. A thread has every `Groups`-th slot.
template <int Width, int Depth, int Pieces, int Groups>
struct LookBack {
  static constexpr int slots = (Depth + Pieces + Groups - 1) / Groups;
  Vector<std::uint32_t, Width> words[slots];

  const std::uint32_t* sums;  ///< of all tiles
  int own;                    ///< place of this tile's
  int step;                   ///< to the same place of the tile before
  int plane;                  ///< from the sums to the first pieces of inclusive sums, and on to the next
  int tiles_before;
  int group;

  [[nodiscard]] __device__ bool is_inclusive(int k) const {
    const int first = k * Groups;  // constant where the loop over k is unrolled
    if (first + Groups <= Depth) return false;
    return first >= Depth || group + first >= Depth;
  }
  [[nodiscard]] __device__ bool exists(int k) const {
    const int slot = group + k * Groups;
    return is_inclusive(k) ? slot < Depth + Pieces && Depth < tiles_before : slot < tiles_before;
  }
  [[nodiscard]] __device__ const std::uint32_t* address(int k) const {
    const int slot = group + k * Groups;
    return sums + (is_inclusive(k) ? own - (Depth + 1) * step + (slot - Depth + 1) * plane
                                   : own - (slot + 1) * step);
  }
  __device__ void look(std::uint32_t tag) {
#pragma unroll
    for (int k = 0; k < slots; ++k) {
#pragma unroll
      for (int i = 0; i < Width; ++i) words[k].of[i] = tagged(tag, 0U);
      if (exists(k)) look_at(address(k), words[k]);
    }
  }
  __device__ void look_again(std::uint32_t tag) {
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (!is_current(words[k], tag)) look_at(address(k), words[k]);
  }
  [[nodiscard]] __device__ bool complete(std::uint32_t tag) const {
    bool all = true;
#pragma unroll
    for (int k = 0; k < slots; ++k) all = all && is_current(words[k], tag);
    return all;
  }
  template <class Sum>
  [[nodiscard]] __device__ Vector<Sum, Width> sum() const {
    Vector<Sum, Width> total{};
#pragma unroll
    for (int k = 0; k < slots; ++k) {
      const int piece = group + k * Groups - Depth;
      const int shift = is_inclusive(k) && piece < Pieces ? piece * value_bits : 0;
#pragma unroll
      for (int i = 0; i < Width; ++i) total.of[i] += static_cast<Sum>(value_of(words[k].of[i])) << shift;
    }
    return total;
  }
};

/// The corner of one channel. In slot s a lane looks at a total in the row of tiles s + 1 above, the last
/// lane at a word of one of the corners of that window. A thread has every `Groups`-th slot.
template <class Tiling>
struct CornerLookBack {
  using Sum = typename Tiling::Sum;
  static constexpr int groups = Tiling::leftward_groups;
  static constexpr int slots = (Tiling::upward + groups - 1) / groups;
  static constexpr int nowhere = -1;
  const std::uint64_t* totals;
  int places[slots];
  std::uint64_t words[slots];
  int group;

  __device__ CornerLookBack(const Job& job, const Tile& tile, int channel, int first_slot)
      : totals(job.workspace.totals), group(first_slot) {
#pragma unroll
    for (int k = 0; k < slots; ++k) {
      words[k] = 0;
      places[k] = place(job, tile, channel, group + k * groups);
    }
  }
  __device__ static int place(const Job& job, const Tile& tile, int channel, int slot) {
    const int lane = lane_index();
    if (lane < leftward_totals) {
      if (slot >= Tiling::upward || slot >= tile.row || lane >= tile.column) return nowhere;
      return place_of_totals<Tiling>(job, 0, channel) + tile.number - (slot + 1) * job.tile_columns -
             (lane + 1);
    }
    const bool beyond_top = tile.row > Tiling::upward;
    const bool beyond_left = tile.column > leftward_totals;
    const int of_corner = slot % 3;
    if (slot >= 3 * Tiling::corner_words) return nowhere;
    if ((of_corner != 1 && !beyond_left) || (of_corner != 0 && !beyond_top)) return nowhere;
    return place_of_totals<Tiling>(job, 1 + slot / 3, channel) + tile.number -
           (of_corner != 1 ? leftward_totals : 0) - (of_corner != 0 ? Tiling::upward * job.tile_columns : 0);
  }
  __device__ void look() {
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (places[k] != nowhere) look_at(totals + places[k], words[k]);
  }
  [[nodiscard]] __device__ bool complete(std::uint32_t tag) const {
    bool all = true;
#pragma unroll
    for (int k = 0; k < slots; ++k) all = all && (places[k] == nowhere || is_current(words[k], tag));
    return all;
  }
  __device__ void look_again(std::uint32_t tag) {
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (places[k] != nowhere && !is_current(words[k], tag)) look_at(totals + places[k], words[k]);
  }
  [[nodiscard]] __device__ Sum sum() const {
    Sum total = 0;
#pragma unroll
    for (int k = 0; k < slots; ++k) {
      const int slot = group + k * groups;
      const bool is_corner = lane_index() == leftward_totals;
      Sum value = value_of(words[k]);
      if constexpr (Tiling::corner_words == 2) value <<= is_corner && slot >= 3 && slot < 6 ? 32 : 0;
      total += is_corner && slot % 3 == 2 ? Sum{0} - value : value;
    }
    return total;
  }
};

/// False if the warp has looked in vain; what it leaves in shared memory is worth nothing then.
template <class Tiling>
__device__ bool look_back(const Job& job, const Tile& tile, Exchange<Tiling>& shared) {
  using Sum = typename Tiling::Sum;
  const int lane = lane_index();
  const Place<Tiling> at;
  const int channel = at.warp / Tiling::leftward_groups;
  const int group = at.warp % Tiling::leftward_groups;
  const bool looks_left = Tiling::warps % Tiling::channels == 0 || channel < Tiling::channels;
  LookBack<Tiling::elements, Tiling::upward, Tiling::pieces, Tiling::warp_rows> above{
      {},
      job.workspace.column_sums,
      place_of_columns<Tiling>(job, tile, at.lane_across),
      padded_width<Tiling>(job),
      column_plane<Tiling>(job),
      tile.row,
      at.row};
  LookBack<lane_rows, Tiling::leftward, Tiling::pieces, Tiling::leftward_groups> left{
      {},
      job.workspace.row_sums,
      place_of_row<Tiling>(tile, channel, lane * lane_rows),
      Tiling::channels * tile_height,
      row_plane<Tiling>(job),
      looks_left ? tile.column : 0,
      group};
  CornerLookBack<Tiling> corner(job, looks_left ? tile : Tile{}, channel, group);
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

  const auto columns = above.template sum<Sum>();
  if (at.row < Tiling::upward_groups) {
    shared.columns_above[at.row][at.lane_across] = columns;
    const typename Tiling::Phase phase(at.lane_across);
#pragma unroll
    for (int c = 0; c < Tiling::channels; ++c) {
      const Sum all = warp_sum(phase.sum_of(c, columns));
      if (lane == 0) shared.columns_above_of_warp[c][at.warp] = all;
    }
  }
  const auto rows = left.template sum<Sum>();
  shared.rows_left[at.warp][lane] = rows;
  constexpr int lanes = Tiling::rows / lane_rows;  // of a row of warps
  const Sum rows_of_warp = sum_over<lanes>(sum_of(rows));
  if (lane % lanes == 0) shared.rows_left_of_warp[at.warp][lane / lanes] = rows_of_warp;
  const Sum parts = warp_sum(corner.sum());
  if (lane == 0) shared.corner[at.warp] = parts;
  return looks > 0;
}

// --- Without the other blocks ---

template <class Pixels>
__device__ typename Pixels::Sum element_at(const ByteRows& picture, int x, int y) {
  const auto* row = reinterpret_cast<const typename Pixels::Element*>(picture.data + y * picture.row);
  return __ldg(row + x);
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
