#pragma once
// Extracts all bins in order, as ../bins.h does, by many blocks. Each block counts its values in each bin; an
// exclusive scan of the counts, bin after bin and block after block, gives the offset of each block; then
// each block extracts its values to there.

#include "../bins.h"
#include "blocks.cuh"

namespace study::gpu {

using BinScan = BlellochInBlock<Sum, 1024>;

/// The first pass, without `base`, writes counts[bin * blocks + block]. The second writes the values from
/// base[bin * blocks + block] on.
static __global__ void __launch_bounds__(BinScan::threads)
    extract_bins_of_block(const float* values, Index n, int bins, std::uint32_t* counts,
                          const std::uint32_t* base, float* out) {
  __shared__ BinScan offsets;
  const int thread = static_cast<int>(threadIdx.x);
  const Index first = static_cast<Index>(blockIdx.x) * BinScan::values;
  for (int bin = 0; bin < bins; ++bin) {
    const Index place = static_cast<Index>(bin) * gridDim.x + blockIdx.x;
    const auto in_bin = [&](int i) { return first + i < n && bin_of(values[first + i], bins) == bin; };
    for (int i = thread; i < BinScan::values; i += BinScan::threads) offsets.put(i, in_bin(i) ? 1U : 0U);
    const std::uint32_t count = offsets.scan(Sum{});  // the last offset plus the last predicate
    if (base == nullptr) {
      if (thread == 0) counts[place] = count;
    } else {
      for (int i = thread; i < BinScan::values; i += BinScan::threads)
        if (in_bin(i)) out[base[place] + offsets.get(i)] = values[first + i];
    }
    __syncthreads();  // the offsets have been read
  }
}

/// Owns the counts.
class ExtractBins {
 public:
  ExtractBins(Index n, int bins)
      : bins_(bins),
        blocks_(blocks_for(n, BinScan::values)),
        counts_(bins * blocks_),
        bases_(bins * blocks_),
        scan_(bins * blocks_) {}

  void run(const float* values, Index n, float* out) {
    const auto blocks = static_cast<unsigned>(blocks_);
    extract_bins_of_block<<<blocks, BinScan::threads>>>(values, n, bins_, counts_.data(), nullptr, nullptr);
    scan_.run(counts_.data(), bases_.data(), counts_.size());
    extract_bins_of_block<<<blocks, BinScan::threads>>>(values, n, bins_, nullptr, bases_.data(), out);
    check_launch();
  }

  /// Returns the number of values of each bin.
  [[nodiscard]] std::vector<Index> counts() const {
    std::vector<Index> result(static_cast<std::size_t>(bins_));
    const std::vector<std::uint32_t> of_blocks = counts_.download();
    for (std::size_t i = 0; i < of_blocks.size(); ++i)
      result[i / static_cast<std::size_t>(blocks_)] += of_blocks[i];
    return result;
  }

 private:
  int bins_;
  Index blocks_;
  DeviceArray<std::uint32_t> counts_;
  DeviceArray<std::uint32_t> bases_;
  ScanBlocks<BinScan> scan_;
};

}  // namespace study::gpu
