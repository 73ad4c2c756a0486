#pragma once
// The summed-area table in one pass: every pixel is read once and every sum is written once, by decoupled
// look-back (Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, 2016) in two
// dimensions and with a fixed depth.
//
// A tile is the work of one block, which keeps its pixels in registers from the first step to the last.
//   1. It publishes the sums that depend on its own pixels alone: of its columns, of its rows, and its total.
//   2. It looks back. For its columns it reads the column sums of the `upward` tiles above it and the
//      inclusive column sums of the tile above those; for its rows it does the same to the left. For the
//      sum of all pixels above and to the left of it (its corner) it reads the totals of the `upward` x
//      `leftward_totals` tiles there and the corners of that rectangle of tiles. All reads are issued at
//      once; a word that has not been published yet is read again.
//   3. It publishes its inclusive column and row sums and its corner, and writes its sums: the table row
//   above
//      a warp, then row by row the row before plus the scan of the pixels.
//
// Progress: block i does tile i, row by row, and a tile reads only tiles above it and to the left of it. As
// long as blocks start in the order of their indices, which they do today, every word that a block waits for
// is on its way. CUDA promises no such order, so no block relies on it: a block that has waited for some
// milliseconds sums the pixels above it and to the left of it itself (sum_alone()). Every block therefore
// ends, whatever the others do, with the same sums.
//
// Runs: see draw(). The counter and the tags (kernels/device/published.cuh) continue from run to run, also
// where a captured launch is replayed; the workspace is cleared once, before the first run.
//
// Bytes moved per element: s + a, where an element of the picture has s bytes and one of the table a.
// Published words, most of which stay in the L2, add 4 (1 + p) (1 / tile height + 1 / w) written and 4
// (upward + p) / tile height + 4 (leftward + p) / w read, with p words for an inclusive sum and tiles of w
// pixels.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/device/launch.h"
#include "kernels/device/published.cuh"
#include "kernels/pixels/byte_rows.cuh"
#include "kernels/tables/launch.h"
#include "kernels/tables/single_pass.cuh"

namespace satin::kernels::single_pass {

// --- Look-back ---

/// Reads the sums of `Width` neighbouring columns or rows in the tiles before this one. Slots 0 .. Depth - 1
/// are the sums of `Depth` tiles, slots Depth .. Depth + SumWords - 1 the words of the inclusive sums of the
/// tile before those. A thread reads every `Groups`-th slot.
template <int Width, int Depth, int SumWords, int Groups>
struct LookBack {
  static constexpr int slots = (Depth + SumWords + Groups - 1) / Groups;
  Vector<std::uint32_t, Width> words[slots];

  const std::uint32_t* sums;  ///< sums of all tiles
  int own;                    ///< index of this tile's sums
  int step;                   ///< distance to the sums of the tile before
  int plane;  ///< distance from the sums to the first words of inclusive sums, and to the next
  int tiles_before;
  int group;

  [[nodiscard]] __device__ bool is_inclusive(int k) const {
    const int first = k * Groups;  // constant where the loop over k is unrolled
    if (first + Groups <= Depth) return false;
    return first >= Depth || group + first >= Depth;
  }
  [[nodiscard]] __device__ bool exists(int k) const {
    const int slot = group + k * Groups;
    return is_inclusive(k) ? slot < Depth + SumWords && Depth < tiles_before : slot < tiles_before;
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
      const int word = group + k * Groups - Depth;
      const int shift = is_inclusive(k) && word < SumWords ? word * value_bits : 0;
#pragma unroll
      for (int i = 0; i < Width; ++i) total.of[i] += static_cast<Sum>(value_of(words[k].of[i])) << shift;
    }
    return total;
  }
};

/// Reads the terms of the corner of one channel. In slot s a lane reads a total in the row of tiles s + 1
/// above, and the last lane a word of one of the corners of the rectangle of tiles. A thread reads every
/// `groups`-th slot.
template <class Tiling>
struct CornerLookBack {
  using Sum = typename Tiling::Sum;
  static constexpr int groups = Tiling::leftward_groups;
  static constexpr int slots = (Tiling::upward + groups - 1) / groups;
  static constexpr int nowhere = -1;
  const std::uint64_t* totals;
  int indices[slots];
  std::uint64_t words[slots];
  int group;

  __device__ CornerLookBack(const Job& job, const Tile& tile, int channel, int first_slot)
      : totals(job.workspace.totals), group(first_slot) {
#pragma unroll
    for (int k = 0; k < slots; ++k) {
      words[k] = 0;
      indices[k] = index_of(job, tile, channel, group + k * groups);
    }
  }
  __device__ static int index_of(const Job& job, const Tile& tile, int channel, int slot) {
    const int lane = lane_index();
    if (lane < leftward_totals) {
      if (slot >= Tiling::upward || slot >= tile.row || lane >= tile.column) return nowhere;
      return index_of_totals<Tiling>(job, 0, channel) + tile.number - (slot + 1) * job.tile_columns -
             (lane + 1);
    }
    const bool beyond_top = tile.row > Tiling::upward;
    const bool beyond_left = tile.column > leftward_totals;
    const int of_corner = slot % 3;
    if (slot >= 3 * Tiling::corner_words) return nowhere;
    if ((of_corner != 1 && !beyond_left) || (of_corner != 0 && !beyond_top)) return nowhere;
    return index_of_totals<Tiling>(job, 1 + slot / 3, channel) + tile.number -
           (of_corner != 1 ? leftward_totals : 0) - (of_corner != 0 ? Tiling::upward * job.tile_columns : 0);
  }
  __device__ void look() {
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (indices[k] != nowhere) look_at(totals + indices[k], words[k]);
  }
  [[nodiscard]] __device__ bool complete(std::uint32_t tag) const {
    bool all = true;
#pragma unroll
    for (int k = 0; k < slots; ++k) all = all && (indices[k] == nowhere || is_current(words[k], tag));
    return all;
  }
  __device__ void look_again(std::uint32_t tag) {
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (indices[k] != nowhere && !is_current(words[k], tag)) look_at(totals + indices[k], words[k]);
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

/// Stores the sums above a lane's columns, and their sum over the warp for each channel.
template <class Tiling>
__device__ void share_columns_above(const WarpPosition<Tiling>& at,
                                    const Vector<typename Tiling::Sum, Tiling::elements>& columns,
                                    Exchange<Tiling>& shared) {
  shared.columns_above[at.row][at.lane_across] = columns;
  const typename Tiling::Phase phase(at.lane_across);
#pragma unroll
  for (int c = 0; c < Tiling::channels; ++c) {
    const typename Tiling::Sum all = warp_sum(phase.sum_of(c, columns));
    if (lane_index() == 0) shared.columns_above_of_warp[c][at.warp] = all;
  }
}

/// Returns false if the warp gave up waiting; the sums that it stores in shared memory are then invalid.
template <class Tiling>
__device__ bool look_back(const Job& job, const Tile& tile, Exchange<Tiling>& shared) {
  using Sum = typename Tiling::Sum;
  const int lane = lane_index();
  const WarpPosition<Tiling> at;
  const int channel = at.warp / Tiling::leftward_groups;
  const int group = at.warp % Tiling::leftward_groups;
  const bool looks_left = Tiling::warps % Tiling::channels == 0 || channel < Tiling::channels;
  LookBack<Tiling::elements, Tiling::upward, Tiling::sum_words, Tiling::warp_rows> above{
      {},
      job.workspace.column_sums,
      index_of_columns<Tiling>(job, tile, at.lane_across),
      padded_width<Tiling>(job),
      column_plane<Tiling>(job),
      tile.row,
      at.row};
  LookBack<lane_rows, Tiling::leftward, Tiling::sum_words, Tiling::leftward_groups> left{
      {},
      job.workspace.row_sums,
      index_of_row<Tiling>(tile, channel, lane * lane_rows),
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
    share_columns_above(at, columns, shared);
  }
  const auto rows = left.template sum<Sum>();
  shared.rows_left[at.warp][lane] = rows;
  constexpr int lanes = Tiling::rows / lane_rows;  // lanes that cover the rows of one warp
  const Sum rows_of_warp = sum_over<lanes>(sum_of(rows));
  if (lane % lanes == 0) shared.rows_left_of_warp[at.warp][lane / lanes] = rows_of_warp;
  const Sum terms = warp_sum(corner.sum());
  if (lane == 0) shared.corner[at.warp] = terms;
  return looks > 0;
}

// --- Sums without the other blocks ---

template <class Pixels>
__device__ typename Pixels::Sum element_at(const ByteRows& picture, int x, int y) {
  const auto* row = reinterpret_cast<const typename Pixels::Element*>(picture.data + y * picture.row);
  return __ldg(row + x);
}

/// Sums one channel of row y up to element `end`. Every lane gets the sum.
template <class Pixels>
__device__ typename Pixels::Sum sum_of_row(const ByteRows& picture, int channel, int y, int end) {
  typename Pixels::Sum sum = 0;
#pragma unroll 1
  for (int x = channel + lane_index() * Pixels::channels; x < end; x += warp_size * Pixels::channels)
    sum += element_at<Pixels>(picture, x, y);
  return warp_sum(sum);
}

/// Computes all that look_back() finds from the pixels themselves. The whole block calls it, between two
/// barriers.
template <class Tiling>
__device__ void sum_alone(const Job& job, const Tile& tile, Exchange<Tiling>& shared) {
  using Pixels = typename Tiling::Pixels;
  using Sum = typename Tiling::Sum;
  const ByteRows& picture = job.picture;
  const int first_x = tile.column * Tiling::width;
  const int first_y = tile.row * tile_height;
  const int lane = lane_index();
  const WarpPosition<Tiling> at;

  if (at.row < Tiling::upward_groups) {
    Vector<Sum, Tiling::elements> columns{};
    const int x = first_x + at.lane_across * Tiling::elements;
#pragma unroll 1
    for (int y = at.row; y < first_y; y += Tiling::upward_groups)
#pragma unroll
      for (int i = 0; i < Tiling::elements; ++i)
        if (x + i < job.width) columns.of[i] += element_at<Pixels>(picture, x + i, y);
    share_columns_above(at, columns, shared);
  }

  const int channel = at.warp / Tiling::leftward_groups;
  const int group = at.warp % Tiling::leftward_groups;
  if (channel >= Tiling::channels) return;
  Sum of_rows[lane_rows] = {};  // sums of the lane's rows that this warp computes
  Sum of_warp_row = 0;          // lane r: sum over the rows of warp row r
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

// --- The start ---

__device__ inline Tile tile_of_block(const Job& job) {
  Tile tile{};
  tile.row = static_cast<int>(job.reversed ? gridDim.y - 1 - blockIdx.y : blockIdx.y);
  tile.column = static_cast<int>(job.reversed ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  tile.number = tile.row * job.tile_columns + tile.column;
  return tile;
}

/// Draws a number from the counter, once per block. The numbers of a run are consecutive, in any order of its
/// blocks. The block that draws the last one moves the counter to the first number of the next run: all
/// blocks of this run have drawn by then, and none of the next one has started. The upper bits are therefore
/// the number of the run, the same for all its blocks; they wrap around without harm, see tag_of_run().
__device__ inline unsigned draw(const Job& job) { return atomicAdd(job.workspace.counter, 1U); }

__device__ inline unsigned run_of_draw(const Job& job, unsigned drawn) {
  const unsigned of_a_run = 1U << job.run_bits;
  const auto tiles = static_cast<unsigned>(job.tile_columns) * static_cast<unsigned>(job.tile_rows);
  if ((drawn & (of_a_run - 1)) == tiles - 1) atomicAdd(job.workspace.counter, of_a_run - tiles);
  return drawn >> job.run_bits;
}

// --- Sums of a tile ---

template <class Tiling>
__device__ void sum_pixels(const typename Tiling::Pixels::Word (&words)[Tiling::rows],
                           Exchange<Tiling>& shared) {
  using Pixels = typename Tiling::Pixels;
  const int lane = lane_index();
  const WarpPosition<Tiling> at;
  const typename Tiling::Phase phase(at.lane_across);
  typename Pixels::ColumnSums columns{};
  std::uint32_t row_sums[Tiling::channels] = {};  // sums of the lane's row, or of two rows in one word
#pragma unroll
  for (int r = 0; r < Tiling::rows; r += 2) {
    Pixels::add_to_columns(words[r], words[r + 1], columns);
#pragma unroll
    for (int c = 0; c < Tiling::channels; ++c) {
      const auto weights = phase.weights_of(c);
      const std::uint32_t upper = Pixels::weighted(words[r], weights, 0U);
      const std::uint32_t lower = Pixels::weighted(words[r + 1], weights, 0U);
      if constexpr (Pixels::pairs_rows) {
        const std::uint32_t both = warp_sum(upper | lower << 16);
        if (lane / 2 == r / 2) row_sums[c] = both;
      } else {
        const std::uint32_t of_upper = warp_sum(upper);
        const std::uint32_t of_lower = warp_sum(lower);
        if (lane / 2 == r / 2) row_sums[c] = lane % 2 == 0 ? of_upper : of_lower;
      }
    }
  }
  shared.column_sums[at.row][at.lane_across] = columns;
  if (lane < Tiling::rows) {
#pragma unroll
    for (int c = 0; c < Tiling::channels; ++c) {
      if constexpr (Pixels::pairs_rows) row_sums[c] = row_sums[c] >> lane % 2 * 16 & 0xFFFF;
      shared.row_sums[c][at.column][at.row * Tiling::rows + lane] = row_sums[c];
    }
  }
}

template <class Tiling>
__device__ void publish_sums(const Job& job, const Tile& tile, const Exchange<Tiling>& shared) {
  using Pixels = typename Tiling::Pixels;
  const auto thread = static_cast<int>(threadIdx.x);
  const int channel = WarpPosition<Tiling>().warp - (Tiling::warps - Tiling::channels);
  if (thread < Tiling::lanes_across) {
    auto sums = Pixels::of_columns(shared.column_sums[0][thread]);
#pragma unroll
    for (int k = 1; k < Tiling::warp_rows; ++k)
      sums = sums + Pixels::of_columns(shared.column_sums[k][thread]);
    publish(job.workspace.column_sums + index_of_columns<Tiling>(job, tile, thread), tagged(tile.tag, sums));
  } else if (channel >= 0) {
    const int lane = lane_index();
    Vector<std::uint32_t, lane_rows> sums{};
#pragma unroll
    for (int c = 0; c < Tiling::warp_columns; ++c)
      sums = sums + *reinterpret_cast<const Vector<std::uint32_t, lane_rows>*>(
                        &shared.row_sums[channel][c][lane * lane_rows]);
    publish(job.workspace.row_sums + index_of_row<Tiling>(tile, channel, lane * lane_rows),
            tagged(tile.tag, sums));
    const std::uint32_t total = warp_sum(sum_of(sums));
    if (lane == 0)
      publish(job.workspace.totals + index_of_totals<Tiling>(job, 0, channel) + tile.number,
              tagged_wide(tile.tag, total));
  }
}

// --- The table ---

template <class Tiling>
struct Carry {
  Vector<typename Tiling::Sum, Tiling::elements> columns;  ///< sums above the lane's columns
  typename Tiling::Sum base[Tiling::channels];  ///< sums above the warp and to the left of its columns
};

/// Returns the sums above the lane's columns, and publishes the inclusive column sums of the tile.
template <class Tiling>
__device__ auto resolve_columns(const Job& job, const Tile& tile, const WarpPosition<Tiling>& at,
                                const Exchange<Tiling>& shared) {
  using Pixels = typename Tiling::Pixels;
  auto columns = shared.columns_above[0][at.lane_across];
#pragma unroll
  for (int k = 1; k < Tiling::upward_groups; ++k) columns = columns + shared.columns_above[k][at.lane_across];
  typename Pixels::ColumnSums upper{};
#pragma unroll
  for (int k = 0; k < Tiling::warp_rows - 1; ++k)
    if (k < at.row) upper = upper + shared.column_sums[k][at.lane_across];
  columns = columns + converted<typename Tiling::Sum>(Pixels::of_columns(upper));
  if (at.row == Tiling::warp_rows - 1 && tile.row + Tiling::upward + 1 < job.tile_rows) {
    const auto own = Pixels::of_columns(shared.column_sums[at.row][at.lane_across]);
    const auto inclusive = columns + converted<typename Tiling::Sum>(own);
    std::uint32_t* to = job.workspace.column_sums + index_of_columns<Tiling>(job, tile, at.lane_across);
#pragma unroll
    for (int word = 0; word < Tiling::sum_words; ++word)
      publish(to + (word + 1) * column_plane<Tiling>(job), tagged(tile.tag, word_of(inclusive, word)));
  }
  return columns;
}

/// Stores the sums to the left of the warp's rows for each phase, and publishes the inclusive row sums of the
/// tile.
template <class Tiling>
__device__ void resolve_rows(const Job& job, const Tile& tile, const WarpPosition<Tiling>& at,
                             Exchange<Tiling>& shared) {
  using Pixels = typename Tiling::Pixels;
  using Sum = typename Tiling::Sum;
  const int lane = lane_index();
  if (lane >= Tiling::rows) return;
  const int row = at.row * Tiling::rows + lane;
  Sum carries[Tiling::channels];
#pragma unroll
  for (int c = 0; c < Tiling::channels; ++c) {
    carries[c] = 0;
#pragma unroll
    for (int k = 0; k < Tiling::leftward_groups; ++k)
      carries[c] += reinterpret_cast<const Sum*>(shared.rows_left[c * Tiling::leftward_groups + k])[row];
#pragma unroll
    for (int k = 0; k < Tiling::warp_columns - 1; ++k)
      if (k < at.column) carries[c] += shared.row_sums[c][k][row];
    if (at.column == Tiling::warp_columns - 1 && tile.column + Tiling::leftward + 1 < job.tile_columns) {
      const Sum sum = carries[c] + shared.row_sums[c][at.column][row];
      std::uint32_t* to = job.workspace.row_sums + index_of_row<Tiling>(tile, c, row);
#pragma unroll
      for (int word = 0; word < Tiling::sum_words; ++word)
        publish(to + (word + 1) * row_plane<Tiling>(job), tagged(tile.tag, word_of(sum, word)));
    }
  }
#pragma unroll
  for (int phase = 0; phase < Pixels::phases; ++phase)
#pragma unroll
    for (int k = 0; k < Pixels::kinds; ++k)
      shared.row_carries[at.warp][phase][lane].of[k] = carries[(phase * Pixels::step + k) % Pixels::channels];
}

template <class Tiling>
__device__ typename Tiling::Sum resolve_base(const WarpPosition<Tiling>& at, int channel,
                                             const Exchange<Tiling>& shared) {
  using Sum = typename Tiling::Sum;
  const int lane = lane_index();
  constexpr int groups = Tiling::leftward_groups;
  Sum base = lane < groups ? shared.corner[channel * groups + lane] : 0;
  if (lane < Tiling::upward_groups * Tiling::warp_columns && lane % Tiling::warp_columns < at.column)
    base += shared.columns_above_of_warp[channel][lane];
#pragma unroll
  for (int i = lane; i < groups * Tiling::warp_rows; i += warp_size)
    if (i % Tiling::warp_rows < at.row)
      base += shared.rows_left_of_warp[channel * groups + i / Tiling::warp_rows][i % Tiling::warp_rows];
#pragma unroll
  for (int k = 0; k < Tiling::warp_columns - 1; ++k)
#pragma unroll
    for (int row = lane; row < tile_height; row += warp_size)
      if (k < at.column && row < at.row * Tiling::rows) base += shared.row_sums[channel][k][row];
  return warp_sum(base);
}

/// Adds up the sums that the warps have found, and publishes the inclusive ones.
template <class Tiling>
__device__ Carry<Tiling> resolve(const Job& job, const Tile& tile, Exchange<Tiling>& shared) {
  const WarpPosition<Tiling> at;
  Carry<Tiling> carry;
  carry.columns = resolve_columns(job, tile, at, shared);
  resolve_rows(job, tile, at, shared);
#pragma unroll
  for (int c = 0; c < Tiling::channels; ++c) {
    carry.base[c] = resolve_base(at, c, shared);
    if (threadIdx.x == 0) {
#pragma unroll
      for (int word = 0; word < Tiling::corner_words; ++word)
        publish(job.workspace.totals + index_of_totals<Tiling>(job, 1 + word, c) + tile.number,
                tagged_wide(tile.tag, static_cast<std::uint32_t>(std::uint64_t{carry.base[c]} >> 32 * word)));
    }
  }
  __syncwarp();
  return carry;
}

template <class Tiling>
__device__ auto row_above(const typename Tiling::Phase& phase, const Carry<Tiling>& carry) {
  using Sum = typename Tiling::Sum;
  Sum before[Tiling::channels];
#pragma unroll
  for (int c = 0; c < Tiling::channels; ++c) {
    const Sum own = phase.sum_of(c, carry.columns);
    before[c] = inclusive_scan(own) - own + carry.base[c];
  }
  const auto before_word = phase.of_word(before);
  auto sums = carry.columns;
#pragma unroll
  for (int i = 0; i < Tiling::elements; ++i)
    sums.of[i] += i < Tiling::channels ? before_word.of[i] : sums.of[i - Tiling::channels];
  return sums;
}

/// Sums of the pixels of the warp before the lane's words of two rows, for each channel of a word.
template <class Pixels>
struct RowsBefore {
  Vector<std::uint32_t, Pixels::kinds> upper, lower;

  __device__ RowsBefore(const typename Pixels::Phase& phase, typename Pixels::Word upper_word,
                        typename Pixels::Word lower_word) {
    std::uint32_t of_upper[Pixels::channels];
    std::uint32_t of_lower[Pixels::channels];
#pragma unroll
    for (int c = 0; c < Pixels::channels; ++c) {
      const auto weights = phase.weights_of(c);
      of_upper[c] = Pixels::weighted(upper_word, weights, 0U);
      of_lower[c] = Pixels::weighted(lower_word, weights, 0U);
      if constexpr (Pixels::pairs_rows) {
        of_upper[c] |= of_lower[c] << 16;
      } else {
        of_lower[c] = inclusive_scan(of_lower[c]) - of_lower[c];
      }
      of_upper[c] = inclusive_scan(of_upper[c]) - of_upper[c];
    }
    upper = phase.of_word(of_upper);
    if constexpr (Pixels::pairs_rows) {
#pragma unroll
      for (int k = 0; k < Pixels::kinds; ++k) {
        lower.of[k] = upper.of[k] >> 16;
        upper.of[k] &= 0xFFFF;
      }
    } else {
      lower = phase.of_word(of_lower);
    }
  }
};

inline constexpr int any_step = -1;

/// Writes the warp's rows of the table, from element first_x on. Row r of the table begins r * Step sums
/// after a multiple of a lane's sums, or anywhere with any_step. `Edge` says that the picture ends within the
/// rows.
template <class Tiling, int Step, bool Edge>
__device__ void write_rows(const Job& job, int first_x, int y,
                           const typename Tiling::Pixels::Word (&words)[Tiling::rows],
                           const Carry<Tiling>& carry, const Exchange<Tiling>& shared) {
  using Pixels = typename Tiling::Pixels;
  using Sum = typename Tiling::Sum;
  const WarpPosition<Tiling> at;
  const typename Tiling::Phase phase(at.lane_across);
  const int x = first_x + lane_index() * Tiling::elements;
  const int existing = job.picture.height - y;
  const int valid = job.width - x;
  const bool cut = Edge && first_x + Tiling::warp_elements > job.width;
  auto sums = row_above(phase, carry);
  const auto* row_carries = shared.row_carries[at.warp][phase.number()];

  std::byte* to = job.table + y * job.table_row + x * static_cast<std::int64_t>(sizeof(Sum));
  const auto write_row = [&](int r, const Vector<std::uint32_t, Pixels::kinds>& before) {
    const auto left = row_carries[r];
    Pixels::add_row(words[r], before, left, sums);
    auto* row = reinterpret_cast<Sum*>(to + r * job.table_row);
    if (!Edge || r < existing) {
      if (cut) {
        store_row_at_edge(sums, row, valid);
      } else if (Step == any_step) {
        store_row(sums, row);
      } else {
        store_row(sums, row, r * Step % Tiling::elements);
      }
    }
  };
#pragma unroll
  for (int r = 0; r < Tiling::rows; r += 2) {
    if (r % tuning::single_pass_rows_ahead<Step> == 0) __syncwarp();
    const RowsBefore<Pixels> before(phase, words[r], words[r + 1]);
    write_row(r, before.upper);
    write_row(r + 1, before.lower);
  }
}

template <class Tiling>
__device__ int first_column(const Tile& tile) {
  return tile.column * Tiling::width + WarpPosition<Tiling>().column * Tiling::warp_elements;
}
template <class Tiling>
__device__ int first_row(const Tile& tile) {
  return tile.row * tile_height + WarpPosition<Tiling>().row * Tiling::rows;
}

/// The kernel. `Aligned` says that rows of the picture begin at multiples of a lane's bytes; for `Step` see
/// write_rows().
template <class Tiling, bool Aligned, int Step>
__global__ void __launch_bounds__(Tiling::threads, Tiling::blocks) build(const __grid_constant__ Job job) {
  using Pixels = typename Tiling::Pixels;
  __shared__ Exchange<Tiling> shared;
  Tile tile = tile_of_block(job);
  const int x = first_column<Tiling>(tile);
  const int y = first_row<Tiling>(tile);
  unsigned drawn = 0;
  if (threadIdx.x == 0) drawn = draw(job);  // in flight together with the pixels
  typename Pixels::Word words[Tiling::rows];
  load_rows<Aligned, Pixels::lane_bytes>(job.picture, x * static_cast<int>(sizeof(typename Pixels::Element)),
                                         y, words);
#pragma unroll
  for (int r = 0; r < Tiling::rows; ++r) words[r] = opaque(Pixels::from_stored(words[r]));
  if (threadIdx.x == 0) shared.tag = tag_of_run(run_of_draw(job, drawn));
  sum_pixels<Tiling>(words, shared);
  __syncthreads();
  tile.tag = shared.tag;
  publish_sums<Tiling>(job, tile, shared);
  const bool found = look_back<Tiling>(job, tile, shared);
  if (__syncthreads_or(!found) != 0) {
    sum_alone<Tiling>(job, tile, shared);
    __syncthreads();
  }
  const Carry<Tiling> carry = resolve<Tiling>(job, tile, shared);
  if (x + Tiling::warp_elements <= job.width && y + Tiling::rows <= job.picture.height) {
    write_rows<Tiling, Step, false>(job, x, y, words, carry, shared);
  } else {
    write_rows<Tiling, Step, true>(job, x, y, words, carry, shared);
  }
}

// --- Host side: workspace and launch ---

inline constexpr std::size_t array_alignment = 128;  // bytes: no two arrays share a line of the L2

inline TableTiles tiles_of(std::int64_t width, std::int64_t height, const TileSizes& sizes) {
  TableTiles tiles;
  tiles.width = width;
  tiles.height = height;
  tiles.channels = sizes.channels;
  tiles.tile_width = sizes.width / sizes.channels;
  tiles.tile_height = tile_height;
  tiles.tile_columns = (width + tiles.tile_width - 1) / tiles.tile_width;
  tiles.tile_rows = (height + tile_height - 1) / tile_height;
  return tiles;
}

/// Returns the number of planes: the sums, and the words of inclusive sums if a tile looks back that far.
inline std::int64_t planes(std::int64_t tiles, int depth, int sum_words) {
  return tiles > depth + 1 ? 1 + sum_words : 1;
}

/// Lays the workspace out from `memory` on, and computes its size.
struct Layout {
  Workspace workspace{};
  std::size_t bytes = 0;

  Layout(const TableTiles& tiles, const TileSizes& sizes, void* memory)
      : memory_(static_cast<std::byte*>(memory)) {
    const std::int64_t count = tiles.tile_columns * tiles.tile_rows;
    take(workspace.counter, 1);
    take(workspace.totals, (1 + sizes.corner_words) * sizes.channels * count);
    take(workspace.column_sums, planes(tiles.tile_rows, sizes.upward, sizes.sum_words) * count * sizes.width);
    take(workspace.row_sums,
         planes(tiles.tile_columns, sizes.leftward, sizes.sum_words) * count * sizes.channels * tile_height);
  }

 private:
  template <class Word>
  void take(Word*& array, std::int64_t words) {
    if (memory_ != nullptr) array = reinterpret_cast<Word*>(memory_ + bytes);
    bytes += static_cast<std::size_t>(words) * sizeof(Word);
    bytes = (bytes + array_alignment - 1) / array_alignment * array_alignment;
  }

  std::byte* memory_;
};

// Limits of a picture: bytes of a row and words of the workspace are counted in 32 bits, and rows of tiles
// are rows of the grid.
inline constexpr std::int64_t largest_row = 1LL << 30;
inline constexpr std::int64_t largest_height = 65535LL * tile_height;
inline constexpr std::size_t largest_workspace = std::size_t{1} << 32;

inline bool fits(const TableTiles& tiles, const TileSizes& sizes, int pixel_bytes) {
  return tiles.width <= largest_row / pixel_bytes && tiles.height <= largest_height &&
         Layout(tiles, sizes, nullptr).bytes <= largest_workspace;
}

template <class Tiling>
Job job_of(const TableArguments& arguments, const SinglePassTrial& trial) {
  const TableTiles& tiles = arguments.tiles;
  Job job{};
  job.width = static_cast<int>(tiles.width * Tiling::channels);
  job.picture = {arguments.picture.data, arguments.picture.row,
                 job.width * static_cast<int>(sizeof(typename Tiling::Pixels::Element)),
                 static_cast<int>(tiles.height)};
  job.table = arguments.table.data;
  job.table_row = arguments.table.row;
  job.tile_columns = static_cast<int>(tiles.tile_columns);
  job.tile_rows = static_cast<int>(tiles.tile_rows);
  const auto count = static_cast<std::uint64_t>(tiles.tile_columns * tiles.tile_rows);
  job.run_bits = std::bit_width(count - 1);
  job.looks = trial.looks;
  job.reversed = trial.reversed;
  job.workspace = Layout(tiles, Tiling::sizes, arguments.workspace).workspace;
  return job;
}

inline bool are_aligned(const std::byte* data, std::int64_t row, int bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(bytes) == 0 && row % bytes == 0;
}

template <class Tiling>
int step_of(const Job& job) {
  constexpr int sum = sizeof(typename Tiling::Sum);
  if (!are_aligned(job.table, 0, sum * Tiling::elements)) return any_step;
  return static_cast<int>(static_cast<std::uint64_t>(job.table_row) / sum % Tiling::elements);
}

template <class Tiling>
auto kernel_for(const Job& job) {
  const int step = step_of<Tiling>(job);
  if (step == 0)
    return are_aligned(job.picture.data, job.picture.row, Tiling::Pixels::lane_bytes)
               ? build<Tiling, true, 0>
               : build<Tiling, false, 0>;
  if (step == 1) return build<Tiling, false, 1>;
  if constexpr (Tiling::elements == 4) {
    if (step == 2) return build<Tiling, false, 2>;
    if (step == 3) return build<Tiling, false, 3>;
  }
  return build<Tiling, false, any_step>;
}

template <class Tiling>
void launch(const TableArguments& arguments, const SinglePassTrial& trial, StreamHandle stream) {
  const Job job = job_of<Tiling>(arguments, trial);
  const dim3 blocks(static_cast<unsigned>(job.tile_columns), static_cast<unsigned>(job.tile_rows));
  kernel_for<Tiling>(job)<<<blocks, Tiling::threads, 0, stream>>>(job);
}

// --- Tilings ---
//
// Figures are the speed of a copy of the same bytes over the time, H200, 2026-11-20. All tiles are 128 rows
// high. Depths give every warp that looks back the same number of slots. A spilled register costs 2 %.

/// 256 columns: .87 at 16384 x 16384, .83 at 8192, .82 at 4096; with 16 warps of 16 rows .77 at 8192.
using ByteTile = TileShape<2, 4, 32, 3, 7, 14>;
/// 128 RGB pixels: .74 at 2048 x 2048, .69 at 4096, .73 at 8192; with depths of 6 and 10 .67, .69 and .71.
using RgbTile = TileShape<3, 4, 32, 2, 10, 14>;
/// 96 RGBA pixels: .62 at 2048 x 2048, .67 at 4096, .65 at 8192; 128 pixels .64, .64 and .69.
using RgbaTile = TileShape<3, 4, 32, 2, 6, 7>;

/// 128 columns of pairs: u16 to u64 .76 at 2048 x 2048, .79 at 4096, .83 at 8192; 192 columns .60, .76, .83.
using PairTile = TileShape<2, 4, 32, 3, 9, 13>;
using RgbPairTile = TileShape<3, 4, 32, 2, 9, 9>;

template <class T, int Channels>
using Pairs =
    Tiling<Pixels<T, Channels, std::uint64_t>, std::conditional_t<Channels == 1, PairTile, RgbPairTile>>;

}  // namespace satin::kernels::single_pass
