#pragma once
// What the parts of the single-pass table (kernels/tables/table_single_pass.cuh) share: the shape of a tile,
// the workspace, and what the warps of a block exchange.

#include <cstdint>

#include "kernels/device/published.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/byte_rows.cuh"
#include "kernels/tables/single_pass_pixels.cuh"

namespace satin::kernels::single_pass {

inline constexpr int leftward_totals = warp_size - 1;  ///< one a lane; the last lane looks at the corners
inline constexpr int tile_height = tuning::single_pass_tile_height;
inline constexpr int lane_rows = 4;  ///< tile rows that a lane of a warp that covers all of them looks after

/// A tile as warps of one word a lane and `Rows` rows. `Blocks` a multiprocessor bound the registers; it
/// looks `Upward` and `Leftward` tiles far.
template <int WarpColumns, int WarpRows, int Rows, int Blocks, int Upward, int Leftward>
struct TileShape {
  static constexpr int warp_columns = WarpColumns;
  static constexpr int warp_rows = WarpRows;
  static constexpr int rows = Rows;
  static constexpr int blocks = Blocks;
  static constexpr int upward = Upward;
  static constexpr int leftward = Leftward;
};

/// Sizes of a tile that the host must know.
struct TileSizes {
  int channels;
  int width;  ///< elements
  int upward;
  int leftward;
  int pieces;        ///< of an inclusive sum
  int corner_words;  ///< likewise
};

/// Tiles of one shape on pictures of one kind.
template <class PixelsType, class Shape>
struct Tiling {
  using Pixels = PixelsType;
  using Sum = typename Pixels::Sum;
  using Phase = typename Pixels::Phase;
  static constexpr int elements = Pixels::elements;
  static constexpr int channels = Pixels::channels;
  static constexpr int pieces = pieces_of<Sum>;
  static constexpr int warp_columns = Shape::warp_columns;
  static constexpr int warp_rows = Shape::warp_rows;
  static constexpr int rows = Shape::rows;
  static constexpr int blocks = Shape::blocks;
  static constexpr int upward = Shape::upward;
  static constexpr int leftward = Shape::leftward;
  static constexpr int warps = warp_columns * warp_rows;
  static constexpr int threads = warps * warp_size;
  static constexpr int lanes_across = warp_columns * warp_size;
  static constexpr int warp_elements = warp_size * elements;
  static constexpr int width = lanes_across * elements;
  /// Warps of one column that have something to look at above, and warps that look left for one channel; what
  /// these leave over looks nowhere.
  static constexpr int upward_groups = warp_rows < upward + pieces ? warp_rows : upward + pieces;
  static constexpr int leftward_groups = warps / channels;
  static constexpr int corner_words = static_cast<int>(sizeof(Sum)) / 4;
  static constexpr bool pairs_columns = elements != 2;
  static constexpr TileSizes sizes = {channels, width, upward, leftward, pieces, corner_words};

  static_assert(warp_rows * rows == tile_height && tile_height == warp_size * lane_rows);
  static_assert(rows % lane_rows == 0 && rows <= warp_size);
  static_assert(width % channels == 0 && warps >= channels);
  static_assert(warps <= warp_size && upward_groups * warp_columns <= warp_size);
  static_assert(3 * corner_words <= upward, "each row of totals has one word of a corner");
  static_assert(lanes_across <= threads - channels * warp_size, "the last warps publish rows");

  // What is published must fit, and so must sums that share a register.
  static constexpr std::uint64_t largest_of_row = std::uint64_t{Pixels::largest} * width / channels;
  static constexpr std::uint64_t largest_of_column = std::uint64_t{Pixels::largest} * tile_height;
  static_assert(largest_of_row <= largest_value && largest_of_column <= largest_value);
  static_assert(largest_of_row * tile_height <= 0xFFFFFFFF, "total of the tile");
  static_assert(!pairs_columns || largest_of_column <= 0xFFFF, "two columns in a register");
  static_assert(leftward * largest_of_row <= 0xFFFFFFFF && upward * largest_of_column <= 0xFFFFFFFF);
};

/// Its places are counted in 32 bits.
struct Workspace {
  unsigned* counter;      ///< of the blocks that have run
  std::uint64_t* totals;  ///< [1 + words][channels][tiles]: the sum of the tile; then the words of its
                          ///< corner, the sum of all above and to the left
  std::uint32_t*
      column_sums;          ///< [1 + pieces][tile rows][padded width]: of the tile; then the inclusive ones
  std::uint32_t* row_sums;  ///< [1 + pieces][tiles][channels][tile height]: likewise
};

struct Job {
  ByteRows picture;
  std::byte* table;
  std::int64_t table_row;
  int width;  ///< elements
  int tile_columns;
  int tile_rows;
  int run_bits;   ///< a run moves the counter on by 2^run_bits, at least the number of tiles
  int looks;      ///< after so many a block stops waiting and works alone
  bool reversed;  ///< the first blocks do the last tiles
  Workspace workspace;
};

struct Tile {
  int number;
  int row;
  int column;
  std::uint32_t tag;
};

/// Shared memory.
template <class Tiling>
struct Exchange {
  using Sum = typename Tiling::Sum;
  using Pixels = typename Tiling::Pixels;
  static constexpr int carries = Pixels::kinds == 3 ? 4 : Pixels::kinds;

  Vector<Sum, Tiling::elements> columns_above[Tiling::upward_groups]
                                             [Tiling::lanes_across];  ///< parts of the sums above
  Vector<Sum, lane_rows> rows_left[Tiling::warps][warp_size];         ///< parts of the sums to the left
  Vector<Sum, carries> row_carries[Tiling::warps][Pixels::phases][Tiling::rows];  ///< as words begin
  typename Pixels::ColumnSums column_sums[Tiling::warp_rows]
                                         [Tiling::lanes_across];  ///< as Pixels::add_to_columns() leaves them
  alignas(16) std::uint32_t row_sums[Tiling::channels][Tiling::warp_columns][tile_height];
  Sum columns_above_of_warp[Tiling::channels][Tiling::upward_groups * Tiling::warp_columns];
  Sum rows_left_of_warp[Tiling::warps][Tiling::warp_rows];
  Sum corner[Tiling::warps];
  std::uint32_t tag;
};

/// Of the calling warp.
template <class Tiling>
struct Place {
  int warp;
  int column;  ///< of warps
  int row;
  int lane_across;

  __device__ Place()
      : warp(__shfl_sync(whole_warp, static_cast<int>(threadIdx.x) / warp_size, 0)),  // known to be uniform
        column(warp % Tiling::warp_columns),
        row(warp / Tiling::warp_columns),
        lane_across(column * warp_size + lane_index()) {}
};

/// The sum over the warp, in every lane.
template <class Sum>
__device__ Sum warp_sum(Sum value) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(Sum) == 4) return __reduce_add_sync(whole_warp, value);
#endif
  return sum_over<warp_size>(value);
}

// --- Places in the workspace
// -------------------------------------------------------------------------------------

/// Totals, and words of corners, of one channel.
template <class Tiling>
__device__ int place_of_totals(const Job& job, int plane, int channel) {
  return (plane * Tiling::channels + channel) * job.tile_rows * job.tile_columns;
}

template <class Tiling>
__device__ int padded_width(const Job& job) {
  return job.tile_columns * Tiling::width;
}
/// The sums of a lane's columns in a tile.
template <class Tiling>
__device__ int place_of_columns(const Job& job, const Tile& tile, int lane_across) {
  return tile.row * padded_width<Tiling>(job) + tile.column * Tiling::width + lane_across * Tiling::elements;
}
template <class Tiling>
__device__ int column_plane(const Job& job) {
  return job.tile_rows * padded_width<Tiling>(job);
}

/// The sum of a row of a tile.
template <class Tiling>
__device__ int place_of_row(const Tile& tile, int channel, int row) {
  return (tile.number * Tiling::channels + channel) * tile_height + row;
}
template <class Tiling>
__device__ int row_plane(const Job& job) {
  return job.tile_rows * job.tile_columns * Tiling::channels * tile_height;
}

}  // namespace satin::kernels::single_pass
