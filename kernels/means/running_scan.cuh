#pragma once
// Prefixes of a row of column sums over the warps of a tile.

#include <cstdint>

#include "kernels/device/vector.cuh"
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
  using Group = Vector<Sum, 16 / sizeof(Sum)>;
  static constexpr int stride = 4 / Group::count;  ///< groups of a warp
  static constexpr int groups = (Channels + Group::count - 1) / Group::count;

  __device__ void scan_lanes(int total) {
    Sum inclusive[groups * Group::count] = {};
    const auto own = [this](int c) { return prefixes_[running_elements - Channels + c]; };
#pragma unroll
    for (int c = 0; c < Channels; ++c) before_[c] = own(c);
    inclusive_scans(before_);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      inclusive[c] = before_[c];
      before_[c] -= own(c);
    }
    if (lane_index() != warp_size - 1) return;
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      Group group;
#pragma unroll
      for (int k = 0; k < Group::count; ++k) group.of[k] = inclusive[g * Group::count + k];
      shared_at<Group>(total)[g] = group;
    }
  }

  __device__ void add_totals_before(int totals, int warp) {
    Group of_warp[groups] = {};
    if (lane_index() < warp) {
#pragma unroll
      for (int g = 0; g < groups; ++g) of_warp[g] = shared_at<Group>(totals)[stride * lane_index() + g];
    }
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      before_[c] += sum_of_lanes(of_warp[c / Group::count].of[c % Group::count]);
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
