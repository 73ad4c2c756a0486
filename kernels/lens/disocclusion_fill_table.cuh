#pragma once
// The summed-area table of a tile of the disocclusion fill, in the shared memory of one block.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "lens/maths/disocclusion_fill.h"

namespace satin::kernels {

inline constexpr int tile_width = 2 * warp_size;  ///< a warp has a row of blocks of 2 x 2 pixels
inline constexpr int tile_height = warp_size;
inline constexpr int fill_threads = tile_width * tile_height / 4;
inline constexpr int fill_warps = fill_threads / warp_size;
inline constexpr int table_width = tile_width + 2 * fill_reach;
inline constexpr int table_height = tile_height + 2 * fill_reach;
inline constexpr int lane_pixels = table_width / warp_size;  ///< of a row of the table
inline constexpr int warp_rows = table_height / fill_warps;
static_assert(lane_pixels == 4 && warp_rows * fill_warps == table_height);

/// The inclusive table of one quantity around a tile, modulo 2^32, from (-1, -1) on, which is 0. Even columns
/// and odd ones lie apart, as neighbouring threads look two columns apart.
class SharedTable {
 public:
  static constexpr int bytes = (table_height + 1 + fill_warps) * (table_width + 2) * 4;

  __device__ explicit SharedTable(std::uint32_t* words) : words_(words) {}

  /// The border is cleared before the first integration.
  __device__ void clear_border() {
    for (int i = static_cast<int>(threadIdx.x); i < row; i += fill_threads) words_[i] = 0;
    for (int y = static_cast<int>(threadIdx.x); y < table_height; y += fill_threads) words_[place(-1, y)] = 0;
  }

  /// entry(r, p) is of row r of the warp and pixel p of the lane's columns. All threads call it together, and
  /// __syncthreads() before the table is read.
  template <class Entry>
  __device__ void integrate(const Entry& entry) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int first = lane_index() * lane_pixels;
    std::uint32_t sums[lane_pixels] = {};
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
      std::uint32_t running[lane_pixels];
      std::uint32_t total = 0;
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) running[p] = total += entry(r, p);
      const std::uint32_t before = inclusive_scan(total) - total;
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) sums[p] += before + running[p];
      store(first, warp * warp_rows + r, sums);
    }
    store(first, table_height + warp, sums);  // what the rows below begin with
    __syncthreads();
    std::uint32_t above[lane_pixels] = {};
    for (int i = 0; i < warp; ++i) load_and_add(first, table_height + i, above);
    for (int r = 0; r < warp_rows; ++r) {
      std::uint32_t values[lane_pixels];
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) values[p] = above[p];
      load_and_add(first, warp * warp_rows + r, values);
      store(first, warp * warp_rows + r, values);
    }
  }

  /// The sum over a window around (x, y).
  [[nodiscard]] __device__ std::uint32_t window(int x, int y, int reach) const {
    const int left = x - reach - 1;
    const int top = y - reach - 1;
    return words_[place(x + reach, y + reach)] - words_[place(left, y + reach)] -
           words_[place(x + reach, top)] + words_[place(left, top)];
  }

 private:
  static constexpr int half = table_width / 2 + 2;  ///< where odd columns begin; even, for pairs of words
  static constexpr int row = table_width + 2;
  static_assert(half + table_width / 2 == row);

  [[nodiscard]] __device__ static int place(int x, int y) {
    return (y + 1) * row + (x & 1) * half + (x >> 1);
  }
  /// Four columns from x on, which is a multiple of 4.
  __device__ void store(int x, int y, const std::uint32_t (&values)[lane_pixels]) {
    *reinterpret_cast<uint2*>(words_ + place(x, y)) = make_uint2(values[0], values[2]);
    *reinterpret_cast<uint2*>(words_ + place(x + 1, y)) = make_uint2(values[1], values[3]);
  }
  __device__ void load_and_add(int x, int y, std::uint32_t (&values)[lane_pixels]) const {
    const uint2 even = *reinterpret_cast<const uint2*>(words_ + place(x, y));
    const uint2 odd = *reinterpret_cast<const uint2*>(words_ + place(x + 1, y));
    values[0] += even.x;
    values[1] += odd.x;
    values[2] += even.y;
    values[3] += odd.y;
  }

  std::uint32_t* words_;
};

}  // namespace satin::kernels
