#pragma once
// Codes of 8 bits from 16-bit linear light, by a table that a block's shared memory has room for.

#include <cstdint>

#include "pixels/maths/pixel.h"

namespace satin::kernels {

/// An entry stands for 16 linear values. Thresholds of codes are at least 19 apart, so there are two codes
/// among them at most, and the entry is the sum of all 16: 16 times the lower code, and 1 for each value that
/// has the upper one. So an entry and the last four bits of a value reach the next multiple of 16 where the
/// value has the upper code.
class LightCodes {
 public:
  static constexpr int bytes = TransferView::buckets8 * static_cast<int>(sizeof(std::uint16_t));

  /// `memory`: `bytes`, aligned to 16.
  __device__ explicit LightCodes(void* memory) : sums_(static_cast<std::uint16_t*>(memory)) {}

  /// To be called by all threads of a block, with a barrier before the first code.
  __device__ void fill(const TransferView& transfer, int thread, int threads) const {
    constexpr int vectors = bytes / static_cast<int>(sizeof(uint4));
    for (int i = thread; i < vectors; i += threads)
      reinterpret_cast<uint4*>(sums_)[i] = __ldg(reinterpret_cast<const uint4*>(transfer.bucket_sums8) + i);
  }

  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t light) const {
    constexpr std::uint32_t bucket = TransferView::bucket8;
    return (sums_[light / bucket] + light % bucket) / bucket;
  }

 private:
  std::uint16_t* sums_;
};

}  // namespace satin::kernels
