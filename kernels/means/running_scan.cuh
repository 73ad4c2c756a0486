#pragma once
// Prefixes of a row of column sums over the warps of a tile.

#include <cstdint>

#include "kernels/means/running_shared.cuh"

namespace satin::kernels {

/// The sums of each value over the lanes up to this one.
template <int Count>
__device__ void inclusive_scans(std::uint32_t (&values)[Count]) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
#pragma unroll
    for (std::uint32_t& value : values)
      asm volatile(
          "{ .reg .u32 t; .reg .pred p;"
          " shfl.sync.up.b32 t|p, %0, %1, 0, 0xffffffff;"
          " @p add.u32 %0, %0, t; }"
          : "+r"(value)
          : "r"(distance));
  }
}
template <int Count>
__device__ void inclusive_scans(std::uint64_t (&values)[Count]) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
#pragma unroll
    for (std::uint64_t& value : values)
      asm volatile(
          "{ .reg .u32 l, h, m, n; .reg .pred p;"
          " mov.b64 {l, h}, %0;"
          " shfl.sync.up.b32 m|p, l, %1, 0, 0xffffffff;"
          " shfl.sync.up.b32 n, h, %1, 0, 0xffffffff;"
          " @p add.cc.u32 l, l, m;"
          " @p addc.u32 h, h, n;"
          " mov.b64 %0, {l, h}; }"
          : "+l"(value)
          : "r"(distance));
  }
}

/// The sum of the lanes' values modulo 2^32, or 2^64 for up to 32 of them.
__device__ inline std::uint32_t sum_of_lanes(std::uint32_t value) {
  return __reduce_add_sync(whole_warp, value);
}
__device__ inline std::uint64_t sum_of_lanes(std::uint64_t value) {
  constexpr unsigned bits = 27;  // five more for 32 of them
  constexpr std::uint32_t mask = (1U << bits) - 1;
  const std::uint32_t low = sum_of_lanes(static_cast<std::uint32_t>(value) & mask);
  const std::uint32_t middle = sum_of_lanes(static_cast<std::uint32_t>(value >> bits) & mask);
  const std::uint32_t high = sum_of_lanes(static_cast<std::uint32_t>(value >> 2 * bits));
  return low + (static_cast<std::uint64_t>(middle) << bits) + (static_cast<std::uint64_t>(high) << 2 * bits);
}

/// A lane's part of the prefixes of one row.
template <int Channels, class SumOfRow>
class RowScan {
 public:
  using Sum = SumOfRow;

  /// The prefixes of the lane's own columns.
  template <class Column>
  __device__ void begin(const Column (&sums)[running_elements]) {
#pragma unroll
    for (int e = 0; e < running_elements; ++e)
      prefixes_[e] = sums[e] + (e < Channels ? Sum{0} : prefixes_[e - Channels]);
  }

  /// Leaves the prefixes over the tile in its memory. To be called by all its warps, which wait for each
  /// other twice: before the totals of warps are read, and before the prefixes are.
  __device__ void publish(const TileWarps& tile, const TileMemory<Sum>& memory, int warp) {
    scan_lanes(memory.totals() + 4 * warp * static_cast<int>(sizeof(Sum)));
    tile.synchronize();
    add_warps_before(memory.totals(), warp);
    const int to = memory.prefixes() + (warp * warp_size + lane_index()) * running_elements * 4;
    store_words<0>(to);
    if constexpr (sizeof(Sum) == 8) store_words<32>(to + memory.to_high_words());
    tile.synchronize();
  }

 private:
  __device__ void scan_lanes(int total) {
    Sum inclusive[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) inclusive[c] = prefixes_[running_elements - Channels + c];
    inclusive_scans(inclusive);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      before_[c] = inclusive[c] - prefixes_[running_elements - Channels + c];
      if (lane_index() == warp_size - 1) shared_at<Sum>(total)[c] = inclusive[c];
    }
  }

  __device__ void add_warps_before(int totals, int warp) {
    const Sum* of_warps = shared_at<Sum>(totals) + 4 * lane_index();
#pragma unroll
    for (int c = 0; c < Channels; ++c) before_[c] += sum_of_lanes(lane_index() < warp ? of_warps[c] : Sum{0});
#pragma unroll
    for (int e = 0; e < running_elements; ++e) prefixes_[e] += before_[e % Channels];
  }

  template <int Bit>
  __device__ void store_words(int to) const {
    const auto word = [this](int e) { return static_cast<std::uint32_t>(prefixes_[e] >> Bit); };
#pragma unroll
    for (int e = 0; e < running_elements; e += 4)
      *shared_at<uint4>(to + e * 4) = make_uint4(word(e), word(e + 1), word(e + 2), word(e + 3));
  }

  Sum prefixes_[running_elements];
  Sum before_[Channels];  ///< sums of the lanes to the left
};

}  // namespace satin::kernels
