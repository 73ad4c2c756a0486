#pragma once
// Radix sort by one-bit splits in shared memory and bitonic merges of the tiles, as ../split_sort.h does.

#include <bit>

#include "block_scan.cuh"
#include "memory.cuh"

namespace study::gpu {

constexpr int sort_tile_keys = 1024;
constexpr int sort_threads = sort_tile_keys / 2;
constexpr std::uint32_t largest_key = 0xFFFFFFFFU;

/// Sorts each tile. Elements from n on become the largest key.
static __global__ void __launch_bounds__(sort_threads)
    sort_tiles(const std::uint32_t* keys, Index n, std::uint32_t* sorted) {
  __shared__ BlellochInBlock<Sum, sort_tile_keys> zeros;
  __shared__ std::uint32_t tile[2][sort_tile_keys];
  const int thread = static_cast<int>(threadIdx.x);
  const Index first = static_cast<Index>(blockIdx.x) * sort_tile_keys;
  for (int i = thread; i < sort_tile_keys; i += sort_threads)
    tile[0][i] = first + i < n ? keys[first + i] : largest_key;

  for (int bit = 0; bit < 32;
       ++bit) {  // a thread reads the keys that it wrote, or all after the barrier below
    const std::uint32_t* from = tile[bit % 2];
    std::uint32_t* to = tile[1 - bit % 2];
    for (int i = thread; i < sort_tile_keys; i += sort_threads) zeros.put(i, ~from[i] >> bit & 1U);
    const int all_zeros = static_cast<int>(zeros.scan(Sum{}));
    for (int i = thread; i < sort_tile_keys; i += sort_threads) {
      const int before = static_cast<int>(zeros.get(i));
      const bool is_one = (from[i] >> bit & 1U) != 0;
      to[is_one ? all_zeros + i - before : before] = from[i];
    }
    __syncthreads();
  }
  for (int i = thread; i < sort_tile_keys; i += sort_threads) sorted[first + i] = tile[0][i];
}

__device__ inline void order_pair(std::uint32_t* keys, Index low, Index high) {
  const std::uint32_t a = keys[low];
  const std::uint32_t b = keys[high];
  keys[low] = min(a, b);
  keys[high] = max(a, b);
}

/// Returns the lower element of pair k at that distance, a power of two.
__device__ inline Index pair_at(Index k, Index distance) { return 2 * k - (k & (distance - 1)); }

/// Does one step over all n / 2 pairs: mirror images in runs of `size`, or elements at a distance if `size`
/// is 0.
static __global__ void merge_step(std::uint32_t* keys, Index pairs, Index size, Index distance) {
  const Index k = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= pairs) return;
  const Index low = pair_at(k, distance);
  const Index start = low & ~(size - 1);  // first element of the run
  order_pair(keys, low, size == 0 ? low + distance : start + (size - 1 - (low - start)));
}

/// Does all steps at distances within a tile, in shared memory.
static __global__ void __launch_bounds__(sort_threads) merge_in_tiles(std::uint32_t* keys) {
  __shared__ std::uint32_t tile[sort_tile_keys];
  const int thread = static_cast<int>(threadIdx.x);
  const Index first = static_cast<Index>(blockIdx.x) * sort_tile_keys;
  for (int i = thread; i < sort_tile_keys; i += sort_threads) tile[i] = keys[first + i];
  for (int distance = sort_tile_keys / 2; distance > 0; distance /= 2) {
    __syncthreads();
    const auto low = static_cast<int>(pair_at(thread, distance));
    order_pair(tile, low, low + distance);
  }
  __syncthreads();
  for (int i = thread; i < sort_tile_keys; i += sort_threads) keys[first + i] = tile[i];
}

/// Sorts keys in an array of its own, a power of two of tiles long.
class SplitSort {
 public:
  explicit SplitSort(Index n)
      : sorted_(std::max<Index>(sort_tile_keys,
                                static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(n))))) {}

  void run(const std::uint32_t* keys, Index n) {
    constexpr unsigned threads = 256;
    const Index size_of_all = sorted_.size();
    const Index pairs = size_of_all / 2;
    const unsigned tiles = blocks_for(size_of_all, sort_tile_keys);
    sort_tiles<<<tiles, sort_threads>>>(keys, n, sorted_.data());
    for (Index size = 2 * sort_tile_keys; size <= size_of_all; size *= 2) {
      merge_step<<<blocks_for(pairs, threads), threads>>>(sorted_.data(), pairs, size, size / 2);
      for (Index distance = size / 4; distance >= sort_tile_keys; distance /= 2)
        merge_step<<<blocks_for(pairs, threads), threads>>>(sorted_.data(), pairs, 0, distance);
      merge_in_tiles<<<tiles, sort_threads>>>(sorted_.data());
    }
    check_launch();
  }
  [[nodiscard]] const DeviceArray<std::uint32_t>& sorted() const { return sorted_; }

 private:
  DeviceArray<std::uint32_t> sorted_;
};

}  // namespace study::gpu
