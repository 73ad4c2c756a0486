#pragma once
// The summed-area table of bytes in one pass: every pixel is read once and every sum written once, by
// decoupled look-back (Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, 2016)
// in two dimensions, of a depth that is fixed.
//
// A tile is the work of one block, which keeps its pixels in registers from the first step to the last.
//   1. It publishes what only its own pixels say: the sums of its columns, of its rows, and of all of it.
//   2. It looks back, at everything at once: at the column sums of the `upward` tiles above it and the
//      inclusive column sums of the tile above those; likewise to the left; and, for the sum of all pixels
//      above and to the left of it (its corner), at the totals of the `upward` x `leftward_totals` tiles
//      there and the corners of that window, which meet as the four corners of a box. What is not there yet
//      is looked at again.
//   3. It publishes its inclusive column and row sums and its corner, and writes its part of the table: the
//      table row above a warp, then row by row the sums of the row before plus the scan of the row's pixels.
//
// Progress: blocks do the tiles in the order of their indices, row by row, and a tile looks only at tiles
// above it and to the left of it. Where blocks start in that order, as they do today, what a block waits for
// is on its way. CUDA promises no such order, so no block relies on it: one that has looked in vain for some
// milliseconds sums the pixels above it and to the left of it itself (kernels/single_pass_alone.cuh), which
// takes long but waits for nobody. Every block therefore ends, whatever the others do, and the sums are the
// same.
//
// Runs: see draw(). The counter and the tags (kernels/published.cuh) go on from run to run, also where a
// captured launch is replayed; the workspace is cleared once, before the first run.
//
// Bytes moved per pixel: 1 + 4, and for what is published, most of which stays in the L2,
//   written 12 / tile height + 12 / tile width, read 4 (upward + 2) / tile height + 4 (leftward + 2) / tile
//   width.

#include <cstdint>

#include "kernels/byte_rows.cuh"
#include "kernels/published.cuh"
#include "kernels/single_pass.cuh"
#include "kernels/single_pass_alone.cuh"
#include "kernels/single_pass_look_back.cuh"

namespace satin::kernels::single_pass {

// --- The start
// ---------------------------------------------------------------------------------------------------

__device__ inline Tile tile_of_block(const Job& job) {
  Tile tile{};
  tile.row = static_cast<int>(job.reversed ? gridDim.y - 1 - blockIdx.y : blockIdx.y);
  tile.column = static_cast<int>(job.reversed ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  tile.number = tile.row * job.tile_columns + tile.column;
  return tile;
}

/// Every block draws once. The draws of a run are its first number and the following ones, in whatever order
/// the blocks come. Who draws the last of them moves the counter on to the first number of the next run: all
/// blocks of this run have drawn by then, and none of the next one has started. So the upper bits are the
/// number of the run, the same for all its blocks; they wrap around without harm, see tag_of_run().
__device__ inline unsigned draw(const Job& job) { return atomicAdd(job.workspace.counter, 1U); }

__device__ inline unsigned run_of_draw(const Job& job, unsigned drawn) {
  const unsigned of_a_run = 1U << job.run_bits;
  const auto tiles = static_cast<unsigned>(job.tile_columns) * static_cast<unsigned>(job.tile_rows);
  if ((drawn & (of_a_run - 1)) == tiles - 1) atomicAdd(job.workspace.counter, of_a_run - tiles);
  return drawn >> job.run_bits;
}

// --- What a tile says of itself
// ----------------------------------------------------------------------------------

/// Sums of the warp's columns and rows.
template <class Shape>
__device__ void sum_pixels(const std::uint32_t (&words)[Shape::rows], Exchange<Shape>& shared) {
  const int lane = lane_index();
  const int warp_column = warp_index() % Shape::warp_columns;
  const int warp_row = warp_index() / Shape::warp_columns;
  uint2 columns = {0, 0};
  std::uint32_t row_sums = 0;  // of two rows
#pragma unroll
  for (int r = 0; r < Shape::rows; r += 2) {
    columns.x += (words[r] & 0xFF00FF) + (words[r + 1] & 0xFF00FF);
    columns.y += (words[r] >> 8 & 0xFF00FF) + (words[r + 1] >> 8 & 0xFF00FF);
    const std::uint32_t both =
        warp_sum(__dp4a(words[r], 0x01010101U, 0U) | __dp4a(words[r + 1], 0x01010101U, 0U) << 16);
    if (lane / 2 == r / 2) row_sums = both;
  }
  shared.column_sums[warp_row][warp_column * warp_size + lane] = columns;
  if (lane < Shape::rows)
    shared.row_sums[warp_column][warp_row * Shape::rows + lane] =
        lane % 2 == 0 ? row_sums & 0xFFFF : row_sums >> 16;
}

template <class Shape>
__device__ void publish_sums(const Job& job, const Tile& tile, const Exchange<Shape>& shared) {
  const auto group = static_cast<int>(threadIdx.x);
  if (group < Shape::column_groups) {
    uint2 sums = shared.column_sums[0][group];
#pragma unroll
    for (int k = 1; k < Shape::warp_rows; ++k) sums = sums + shared.column_sums[k][group];
    publish(job.workspace.column_sums + place_of_columns<Shape>(job, tile, group),
            tagged(tile.tag, unpacked(sums)));
  } else if (warp_index() == Shape::warps - 1) {
    const int lane = lane_index();
    uint4 sums = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int c = 0; c < Shape::warp_columns; ++c)
      sums = sums + *reinterpret_cast<const uint4*>(&shared.row_sums[c][lane * lane_rows]);
    publish(job.workspace.row_sums + place_of_row(tile, lane * lane_rows), tagged(tile.tag, sums));
    const std::uint32_t total = warp_sum(sum_of(sums));
    if (lane == 0) publish(job.workspace.totals + tile.number, tagged_wide(tile.tag, total));
  }
}

// --- The table
// ---------------------------------------------------------------------------------------------------

/// What lies above and to the left of a warp.
struct Carry {
  std::uint32_t row;   ///< lane r: sum of what lies to the left of the warp's row r
  std::uint32_t base;  ///< sum of what lies above the warp and to the left of its columns
  uint4 columns;       ///< sums of what lies above the lane's columns
};

/// Adds up what the warps have found, and publishes what this tile adds to it.
template <class Shape>
__device__ Carry resolve(const Job& job, const Tile& tile, const Exchange<Shape>& shared) {
  const int lane = lane_index();
  const int warp = warp_index();
  const int warp_column = warp % Shape::warp_columns;
  const int warp_row = warp / Shape::warp_columns;
  const int column_group = warp_column * warp_size + lane;
  Carry carry{};

  carry.columns = shared.columns_above[0][column_group];
#pragma unroll
  for (int k = 1; k < Shape::upward_groups; ++k)
    carry.columns = carry.columns + shared.columns_above[k][column_group];
  uint2 upper = {0, 0};
#pragma unroll
  for (int k = 0; k < Shape::warp_rows - 1; ++k)
    if (k < warp_row) upper = upper + shared.column_sums[k][column_group];
  if (warp_row == Shape::warp_rows - 1 && tile.row + upward + 1 < job.tile_rows) {
    const uint4 sums = carry.columns + unpacked(upper + shared.column_sums[warp_row][column_group]);
    std::uint32_t* to = job.workspace.column_sums + place_of_columns<Shape>(job, tile, column_group) +
                        column_plane<Shape>(job);
    publish(to, tagged(tile.tag, low_halves(sums)));
    publish(to + column_plane<Shape>(job), tagged(tile.tag, high_halves(sums)));
  }
  carry.columns = carry.columns + unpacked(upper);

  if (lane < Shape::rows) {
    const int row = warp_row * Shape::rows + lane;
#pragma unroll
    for (int k = 0; k < Shape::warps; ++k)
      carry.row += reinterpret_cast<const std::uint32_t*>(shared.rows_left[k])[row];
#pragma unroll
    for (int c = 0; c < Shape::warp_columns - 1; ++c)
      if (c < warp_column) carry.row += shared.row_sums[c][row];
    if (warp_column == Shape::warp_columns - 1 && tile.column + leftward + 1 < job.tile_columns) {
      const std::uint32_t sum = carry.row + shared.row_sums[warp_column][row];
      std::uint32_t* to = job.workspace.row_sums + place_of_row(tile, row) + row_plane(job);
      publish(to, tagged(tile.tag, sum & 0xFFFF));
      publish(to + row_plane(job), tagged(tile.tag, sum >> 16));
    }
  }

  std::uint32_t base = lane < Shape::warps ? shared.corner[lane] : 0;
  if (lane < Shape::upward_groups * Shape::warp_columns && lane % Shape::warp_columns < warp_column)
    base += shared.columns_above_of_warp[lane];
#pragma unroll
  for (int i = 0; i < Shape::warps * Shape::warp_rows; i += warp_size)
    if ((i + lane) % Shape::warp_rows < warp_row) base += shared.rows_left_of_warp[i + lane];
#pragma unroll
  for (int c = 0; c < Shape::warp_columns - 1; ++c)
#pragma unroll
    for (int row = lane; row < tile_height; row += warp_size)
      if (c < warp_column && row < warp_row * Shape::rows) base += shared.row_sums[c][row];
  carry.base = warp_sum(base);
  if (threadIdx.x == 0)
    publish(job.workspace.totals + corner_plane(job) + tile.number, tagged_wide(tile.tag, carry.base));
  return carry;
}

inline constexpr int any_step = -1;

/// The rows of the warp, columns from first_x on. Row r of the table begins r * Step sums behind a multiple
/// of 16 bytes; with any_step anywhere. `Edge`: not all rows and columns are in the picture.
template <class Shape, int Step, bool Edge>
__device__ void write_rows(const Job& job, int first_x, int y, const std::uint32_t (&words)[Shape::rows],
                           const Carry& carry) {
  const int x = first_x + lane_index() * lane_pixels;
  const int existing = job.picture.height - y;
  const int valid = job.picture.width - x;
  const bool cut = Edge && first_x + warp_pixels > job.picture.width;
  uint4 sums = carry.columns;
  sums.y += sums.x;
  sums.z += sums.y;
  sums.w += sums.z;
  const std::uint32_t before = inclusive_scan(sums.w) - sums.w + carry.base;
  sums = sums + make_uint4(before, before, before, before);

  std::byte* to = job.table + y * job.table_row + x * static_cast<std::int64_t>(sizeof(std::uint32_t));
  const auto write_row = [&](int r, std::uint32_t left) {
    sums.x += __dp4a(words[r], 0x00000001U, left);
    sums.y += __dp4a(words[r], 0x00000101U, left);
    sums.z += __dp4a(words[r], 0x00010101U, left);
    sums.w += __dp4a(words[r], 0x01010101U, left);
    auto* row = reinterpret_cast<std::uint32_t*>(to + r * job.table_row);
    if (!Edge || r < existing) {
      if (cut) {
        store_row_at_edge(sums, row, valid);
      } else if (Step == any_step) {
        store_row(sums, row);
      } else {
        store_row(sums, row, r * Step % 4);
      }
    }
  };
#pragma unroll
  for (int r = 0; r < Shape::rows; r += 2) {
    if (r % tuning::single_pass_rows_ahead<Step> == 0) __syncwarp();
    const std::uint32_t both = __dp4a(words[r], 0x01010101U, 0U) | __dp4a(words[r + 1], 0x01010101U, 0U)
                                                                       << 16;
    const std::uint32_t lanes_before = inclusive_scan(both) - both;
    write_row(r, (lanes_before & 0xFFFF) + __shfl_sync(whole_warp, carry.row, r));
    write_row(r + 1, (lanes_before >> 16) + __shfl_sync(whole_warp, carry.row, r + 1));
  }
}

template <class Shape>
__device__ int first_column(const Tile& tile) {
  return tile.column * Shape::width + warp_index() % Shape::warp_columns * warp_pixels;
}
template <class Shape>
__device__ int first_row(const Tile& tile) {
  return tile.row * tile_height + warp_index() / Shape::warp_columns * Shape::rows;
}

/// `Aligned`: rows of the picture begin at multiples of 4 bytes. `Step`: see write_rows.
template <class Shape, bool Aligned, int Step>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks) build(const __grid_constant__ Job job) {
  __shared__ Exchange<Shape> shared;
  Tile tile = tile_of_block(job);
  const int x = first_column<Shape>(tile);
  const int y = first_row<Shape>(tile);
  unsigned drawn = 0;
  if (threadIdx.x == 0) drawn = draw(job);  // its answer comes while the pixels do
  std::uint32_t words[Shape::rows];
  load_rows<Aligned>(job.picture, x, y, words);
  if (threadIdx.x == 0) shared.tag = tag_of_run(run_of_draw(job, drawn));
  sum_pixels<Shape>(words, shared);
  __syncthreads();
  tile.tag = shared.tag;
  publish_sums<Shape>(job, tile, shared);
  const bool found = look_back<Shape>(job, tile, shared);
  if (__syncthreads_or(!found) != 0) {
    sum_alone<Shape>(job, tile, shared);
    __syncthreads();
  }
  const Carry carry = resolve<Shape>(job, tile, shared);
  if (x + warp_pixels <= job.picture.width && y + Shape::rows <= job.picture.height) {
    write_rows<Shape, Step, false>(job, x, y, words, carry);
  } else {
    write_rows<Shape, Step, true>(job, x, y, words, carry);
  }
}

}  // namespace satin::kernels::single_pass
