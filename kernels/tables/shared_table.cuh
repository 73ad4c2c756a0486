#pragma once
// A summed-area table of 128 x 96 pixels in the shared memory of one block of 512 threads, 6 rows per warp,
// for tiles that look up many windows of up to 65 x 65 pixels.

#include <cstdint>

#include "kernels/device/launch.h"
#include "kernels/device/warp.cuh"

namespace satin::kernels {

inline constexpr int table_width = 128;
inline constexpr int table_height = 96;
inline constexpr int table_threads = 512;
inline constexpr int table_warps = table_threads / warp_size;
inline constexpr int lane_pixels = table_width / warp_size;  ///< pixels of a row of the table per lane
inline constexpr int warp_rows = table_height / table_warps;
static_assert(lane_pixels == 4 && warp_rows * table_warps == table_height);

/// The inclusive table of one quantity around a tile, modulo 2^32, with a border of zeros in row and column
/// -1. Even and odd columns are stored apart, since neighbouring threads look two columns apart.
class SharedTable {
 public:
  static constexpr int bytes = ((table_height + 1) * (table_width + 4) + table_warps * table_width) * 4;

  __device__ explicit SharedTable(std::uint32_t* words) : words_(words) {}

  /// Memory of the table, free after its last use and before clear_border() of the next one.
  [[nodiscard]] __device__ std::uint32_t* memory() const { return words_; }

  /// Clears the border. Called before the first integration.
  __device__ void clear_border() {
    for (int i = static_cast<int>(threadIdx.x); i < row; i += table_threads) words_[i] = 0;
    for (int y = static_cast<int>(threadIdx.x); y < table_height; y += table_threads)
      words_[index_of(-1, y)] = 0;
  }

  /// Builds the table. read(r, values) returns the values of the lane's pixels in row r of the warp; it is
  /// called twice for each row. All threads call this together, and __syncthreads() before they read the
  /// table.
  template <class Read>
  __device__ void integrate(const Read& read) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int first = lane_index() * lane_pixels;
    std::uint32_t* totals = words_ + (table_height + 1) * row + first;  // column sums of each warp
    std::uint32_t sums[lane_pixels] = {};
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) add(read, r, sums);
    *reinterpret_cast<uint4*>(totals + warp * table_width) = make_uint4(sums[0], sums[1], sums[2], sums[3]);
    __syncthreads();
#pragma unroll
    for (std::uint32_t& sum : sums) sum = 0;
    for (int i = 0; i < warp; ++i) {
      const uint4 above = *reinterpret_cast<const uint4*>(totals + i * table_width);
      sums[0] += above.x;
      sums[1] += above.y;
      sums[2] += above.z;
      sums[3] += above.w;
    }
    std::uint32_t before[warp_rows];
    std::uint32_t running[warp_rows][lane_pixels];
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
      add(read, r, sums);
      std::uint32_t total = 0;
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) running[r][p] = total += sums[p];
      before[r] = total;
    }
    inclusive_scans(before);
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
      before[r] -= running[r][lane_pixels - 1];
#pragma unroll
      for (std::uint32_t& value : running[r]) value += before[r];
      store(first, warp * warp_rows + r, running[r]);
    }
  }

  /// Returns the sum over the window of this reach around (x, y).
  [[nodiscard]] __device__ std::uint32_t window(int x, int y, int reach) const {
    const int left = x - reach - 1;
    const int top = y - reach - 1;
    return words_[index_of(x + reach, y + reach)] - words_[index_of(left, y + reach)] -
           words_[index_of(x + reach, top)] + words_[index_of(left, top)];
  }

 private:
  static constexpr int half =
      table_width / 2 + 2;  ///< first odd column; even, so that pairs of words are aligned
  static constexpr int row = table_width + 4;
  static_assert(half + table_width / 2 <= row);

  template <class Read>
  __device__ static void add(const Read& read, int r, std::uint32_t (&sums)[lane_pixels]) {
    std::uint32_t values[lane_pixels];
    read(r, values);
#pragma unroll
    for (int p = 0; p < lane_pixels; ++p) sums[p] += values[p];
  }
  [[nodiscard]] __device__ static int index_of(int x, int y) {
    return (y + 1) * row + (x & 1) * half + (x >> 1);
  }
  /// Stores four columns from x on, a multiple of 4.
  __device__ void store(int x, int y, const std::uint32_t (&values)[lane_pixels]) {
    *reinterpret_cast<uint2*>(words_ + index_of(x, y)) = make_uint2(values[0], values[2]);
    *reinterpret_cast<uint2*>(words_ + index_of(x + 1, y)) = make_uint2(values[1], values[3]);
  }

  std::uint32_t* words_;
};

}  // namespace satin::kernels
