#pragma once
// Byte-sized means of sums up to 2^32.

#include <cstdint>

#include "kernels/device/registers.cuh"
#include "kernels/means/strip_means.cuh"

namespace satin::kernels {

/// round(sum / divisor), ties up, of byte-sized means of any channels; sum + divisor / 2 is below 2^32, and
/// the divisor below 2^24. The estimate errs to the low side alone, by less than 2^8 * 2^-20.
class ByteQuotient {
 public:
  __device__ explicit ByteQuotient(std::uint32_t divisor)
      : divisor_(divisor), negative_(kept(0U - divisor)), half_(divisor / 2) {
    constexpr float too_small = 1.0F - 1.0F / (1U << 21);
    inverse_ = __fmul_rn(rough_reciprocal(__uint2float_rn(divisor)), too_small);
  }

  /// The mean is in the low byte.
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t sum) const {
    const std::uint32_t total = sum + half_;
    const float estimate = __fmaf_rd(__uint2float_rz(total), inverse_, ByteDivision::whole);
    std::uint32_t quotient = __float_as_uint(estimate);
    const std::uint32_t remainder = total + (quotient - ByteDivision::whole_bits) * negative_;
    asm("{ .reg .pred less; setp.ge.u32 less, %1, %2; @less add.u32 %0, %0, 1; }"
        : "+r"(quotient)
        : "r"(remainder), "r"(divisor_));
    return quotient;
  }

 private:
  std::uint32_t divisor_;
  std::uint32_t negative_;
  std::uint32_t half_;
  float inverse_ = 0;
};

}  // namespace satin::kernels
