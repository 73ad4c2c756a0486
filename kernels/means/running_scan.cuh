#pragma once
// Prefixes of a row of column sums over the warps of a tile.

#include <cstdint>

#include "kernels/means/running_shared.cuh"

namespace satin::kernels {

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
    add_warps_before([&] { tile.synchronize(); }, memory, warp);
    store(memory, warp);
    tile.synchronize();
  }

  /// Makes the prefixes over the tile. To be called by all its warps; wait() waits until all are there.
  template <class Wait>
  __device__ void add_warps_before(const Wait& wait, const TileMemory<Sum>& memory, int warp) {
    scan_lanes(memory.totals() + 4 * warp * static_cast<int>(sizeof(Sum)));
    wait();
    add_totals_before(memory.totals(), warp);
  }

  __device__ void store(const TileMemory<Sum>& memory, int warp) const {
    const int to = memory.prefixes() + (warp * warp_size + lane_index()) * running_elements * 4;
    store_words<0>(to);
    if constexpr (sizeof(Sum) == 8) store_words<32>(to + memory.to_high_words());
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

  __device__ void add_totals_before(int totals, int warp) {
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
