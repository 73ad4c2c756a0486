#pragma once
// Bytes to 16-bit linear light and back, by tables that a block's shared memory has room for.

#include <cstdint>

#include "pixels/maths/pixel.h"

namespace satin::kernels {

/// An entry of the second table stands for 16 linear values. Thresholds of codes are at least 19 apart, so
/// there are two codes among them at most, and the entry is the sum of all 16: 16 times the lower code, and 1
/// for each value that has the upper one. So an entry and the last four bits of a value reach the next
/// multiple of 16 where the value has the upper code.
class ByteLight {
 public:
  static constexpr int codes = 256;
  static constexpr int bytes = codes * static_cast<int>(sizeof(std::uint32_t)) +
                               TransferView::buckets8 * static_cast<int>(sizeof(std::uint16_t));

  /// `memory`: `bytes`, aligned to 16.
  __device__ explicit ByteLight(void* memory)
      : light_(static_cast<std::uint32_t*>(memory)),
        sums_(reinterpret_cast<std::uint16_t*>(light_ + codes)) {}

  /// All threads of a block call it, with a barrier before the first value.
  __device__ void fill(const TransferView& transfer, int thread, int threads) const {
    constexpr int of_vector = static_cast<int>(sizeof(uint4) / sizeof(std::uint16_t));
    for (int i = thread; i < codes; i += threads) light_[i] = __ldg(transfer.decode + i);
    for (int i = thread; i < TransferView::buckets8 / of_vector; i += threads)
      reinterpret_cast<uint4*>(sums_)[i] = __ldg(reinterpret_cast<const uint4*>(transfer.bucket_sums8) + i);
  }

  [[nodiscard]] __device__ std::uint32_t decoded(std::uint32_t code) const { return light_[code]; }

  /// A value above 16 bits, as pixels that are not stored may have, does not lead out of the table.
  [[nodiscard]] __device__ std::uint32_t encoded(std::uint32_t value) const {
    constexpr std::uint32_t bucket = TransferView::bucket8;
    return (sums_[value / bucket % TransferView::buckets8] + value % bucket) / bucket;
  }

 private:
  std::uint32_t* light_;
  std::uint16_t* sums_;
};

}  // namespace satin::kernels
