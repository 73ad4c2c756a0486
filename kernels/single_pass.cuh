#pragma once
// What the parts of the single-pass table (kernels/table_single_pass.cuh) share: the shape of a tile, the
// workspace, and what the warps of a block exchange.

#include <cstdint>

#include "kernels/byte_rows.cuh"
#include "kernels/published.cuh"
#include "kernels/tuning.h"
#include "kernels/warp.cuh"

namespace satin::kernels::single_pass {

inline constexpr int upward = tuning::single_pass_upward;
inline constexpr int leftward = tuning::single_pass_leftward;
inline constexpr int leftward_totals = warp_size - 1;  ///< one a lane; the last lane looks at the corners
inline constexpr int tile_height = tuning::single_pass_tile_height;
inline constexpr int lane_rows = 4;  ///< tile rows that a lane of a warp that covers all of them looks after

/// A tile as warps of 128 columns and `Rows` rows. `Blocks` a multiprocessor bound the registers.
template <int WarpColumns, int WarpRows, int Rows, int Blocks>
struct TileShape {
  static constexpr int warp_columns = WarpColumns;
  static constexpr int warp_rows = WarpRows;
  static constexpr int rows = Rows;
  static constexpr int blocks = Blocks;
  static constexpr int warps = warp_columns * warp_rows;
  static constexpr int threads = warps * warp_size;
  static constexpr int width = warp_columns * warp_pixels;
  static constexpr int column_groups = width / lane_pixels;
  /// Warps of one column that have something to look at above.
  static constexpr int upward_groups = warp_rows < upward + 2 ? warp_rows : upward + 2;

  static_assert(warp_rows * rows == tile_height && tile_height == warp_size * lane_rows);
  static_assert(rows % lane_rows == 0 && rows <= warp_size);
  static_assert(upward <= warps, "a warp looks at a row of totals");
  static_assert(warps >= 4 && warps <= warp_size && upward_groups * warp_columns <= warp_size);
  static_assert(column_groups <= threads - warp_size, "the last warp publishes rows");
  static_assert(warps * warp_rows % warp_size == 0, "they are added up by whole warps");

  // What is published must fit, and so must two sums in one register.
  static_assert(255 * width <= static_cast<int>(largest_value), "sum of a row of the tile");
  static_assert(255 * tile_height <= 0xFFFF, "sum of a column of the tile");
  static_assert(255 * warp_pixels <= 0xFFFF, "sum of a row of a warp");
  static_assert(0xFFFF <= largest_value, "half an inclusive sum");
};

using LargeTile = TileShape<2, 4, 32, tuning::single_pass_blocks_of_large_tiles>;
using SmallTile = TileShape<1, 8, 16, tuning::single_pass_blocks_of_small_tiles>;

/// Its places are counted in 32 bits.
struct Workspace {
  unsigned* counter;      ///< of the blocks that have run
  std::uint64_t* totals;  ///< [2][tiles]: the sum of the tile; its corner: of all above and to the left
  std::uint32_t*
      column_sums;          ///< [3][tile rows][padded width]: of the tile; both halves of the inclusive ones
  std::uint32_t* row_sums;  ///< [3][tiles][tile height]: likewise
};

struct Job {
  BytePicture picture;
  std::byte* table;
  std::int64_t table_row;
  int tile_columns;
  int tile_rows;
  int step;       ///< row r of the table begins r * step sums behind a multiple of 16 bytes; or any_step
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
template <class Shape>
struct Exchange {
  uint4 columns_above[Shape::upward_groups][Shape::column_groups];  ///< parts of the sums above
  uint4 rows_left[Shape::warps][warp_size];                         ///< parts of the sums to the left
  uint2 column_sums[Shape::warp_rows][Shape::column_groups];        ///< 0 and 2, 1 and 3: two 16-bit sums
  std::uint32_t row_sums[Shape::warp_columns][tile_height];
  std::uint32_t columns_above_of_warp[Shape::upward_groups * Shape::warp_columns];
  std::uint32_t rows_left_of_warp[Shape::warps * Shape::warp_rows];
  std::uint32_t corner[Shape::warps];
  std::uint32_t tag;
};

/// The same for all lanes, and known to be.
__device__ inline int warp_index() {
  return __shfl_sync(whole_warp, static_cast<int>(threadIdx.x) / warp_size, 0);
}

/// The sum over the warp, in every lane.
__device__ inline std::uint32_t warp_sum(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(whole_warp, value);
#else
  return sum_over<warp_size>(value);
#endif
}

__device__ inline uint4 operator+(const uint4& a, const uint4& b) {
  return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ inline uint2 operator+(const uint2& a, const uint2& b) { return make_uint2(a.x + b.x, a.y + b.y); }
__device__ inline std::uint32_t sum_of(const uint4& v) { return v.x + v.y + v.z + v.w; }

/// Sums of columns 0 and 2, and 1 and 3, as four.
__device__ inline uint4 unpacked(const uint2& sums) {
  return make_uint4(sums.x & 0xFFFF, sums.y & 0xFFFF, sums.x >> 16, sums.y >> 16);
}
__device__ inline uint4 low_halves(const uint4& v) {
  return make_uint4(v.x & 0xFFFF, v.y & 0xFFFF, v.z & 0xFFFF, v.w & 0xFFFF);
}
__device__ inline uint4 high_halves(const uint4& v) {
  return make_uint4(v.x >> 16, v.y >> 16, v.z >> 16, v.w >> 16);
}

// --- Places in the workspace
// -------------------------------------------------------------------------------------

__device__ inline int corner_plane(const Job& job) { return job.tile_rows * job.tile_columns; }

template <class Shape>
__device__ int padded_width(const Job& job) {
  return job.tile_columns * Shape::width;
}
/// The sums of four columns of a tile.
template <class Shape>
__device__ int place_of_columns(const Job& job, const Tile& tile, int group) {
  return tile.row * padded_width<Shape>(job) + tile.column * Shape::width + group * lane_pixels;
}
template <class Shape>
__device__ int column_plane(const Job& job) {
  return job.tile_rows * padded_width<Shape>(job);
}

/// The sum of a row of a tile.
__device__ inline int place_of_row(const Tile& tile, int row) { return tile.number * tile_height + row; }
__device__ inline int row_plane(const Job& job) { return job.tile_rows * job.tile_columns * tile_height; }

}  // namespace satin::kernels::single_pass
