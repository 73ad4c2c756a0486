#pragma once
// Bytes to 16-bit linear light and back, by tables that fit the shared memory of a block.

#include <cstdint>

#include "pixels/maths/pixel.h"

namespace satin::kernels {

/// The encode table has one entry for 16 linear values: the sum of their codes. Thresholds of codes are at
/// least 19 apart, so these values have at most two codes, and the sum is 16 times the lower code plus the
/// number of values with the upper code. The values with the upper code are the last ones, so (sum + value %
/// 16) / 16 is the code.
class ByteLight {
 public:
  static constexpr int codes = 256;
  static constexpr int bytes = codes * static_cast<int>(sizeof(std::uint32_t)) +
                               TransferView::buckets8 * static_cast<int>(sizeof(std::uint16_t));

  /// `memory` has `bytes` bytes, aligned to 16.
  __device__ explicit ByteLight(void* memory)
      : light_(static_cast<std::uint32_t*>(memory)),
        sums_(reinterpret_cast<std::uint16_t*>(light_ + codes)) {}

  /// Fills the tables. All threads of a block call it, with a barrier before the first use.
  __device__ void fill(const TransferView& transfer, int thread, int threads) const {
    constexpr int of_vector = static_cast<int>(sizeof(uint4) / sizeof(std::uint16_t));
    for (int i = thread; i < codes; i += threads) light_[i] = __ldg(transfer.decode + i);
    for (int i = thread; i < TransferView::buckets8 / of_vector; i += threads)
      reinterpret_cast<uint4*>(sums_)[i] = __ldg(reinterpret_cast<const uint4*>(transfer.bucket_sums8) + i);
  }

  [[nodiscard]] __device__ std::uint32_t decoded(std::uint32_t code) const { return light_[code]; }

  /// Returns the code of a value. Values above 16 bits, which occur in pixels that are not stored, stay in
  /// the table.
  [[nodiscard]] __device__ std::uint32_t encoded(std::uint32_t value) const {
    constexpr std::uint32_t bucket = TransferView::bucket8;
    return (sums_[value / bucket % TransferView::buckets8] + value % bucket) / bucket;
  }

 private:
  std::uint32_t* light_;
  std::uint16_t* sums_;
};

}  // namespace satin::kernels
