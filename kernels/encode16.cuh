#pragma once
// The 16-bit code of a 24-bit linear value (IEC 61966-2-1): an estimate in float, and the table of thresholds
// where that is too near to one of them.

#include <cstdint>

#include "core/maths/pixel.h"

namespace satin::kernels {

__device__ inline float approximate_log2(float value) {
  float result = 0;
  asm("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

__device__ inline float approximate_exp2(float value) {
  float result = 0;
  asm("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// encode() of core/maths/pixel.h. Where the curve is a power, the logarithm errs by 2^-22 of itself, or of 1
/// where that is more, its product with 1 / 2.4 by 2^-23, the power by 2^-22 of itself: below 0.04 codes
/// together with the roundings of the last two steps. Estimates within 0.05 of a threshold are looked up.
__device__ inline std::uint32_t encoded16(std::uint32_t value, const TransferView& transfer) {
  constexpr float white = 16777215.0F;
  constexpr float codes = 65535.0F;
  constexpr float linear_end = 52526.0F;  // about 0.0031308 of white, where the curves meet
  const float light = static_cast<float>(value);
  const float power = approximate_exp2(__fmul_rn(approximate_log2(__fmul_rn(light, 1 / white)), 1 / 2.4F));
  const float code = light < linear_end ? __fmul_rn(light, 12.92F * codes / white)
                                        : __fmaf_rn(power, 1.055F * codes, -0.055F * codes);
  // The threshold of code c lies at c - 1/2.
  const float from_threshold = __fadd_rn(code, 0.5F);
  const auto below = __float2uint_rd(from_threshold);
  const auto nearest = __float2uint_rn(from_threshold);
  const float distance = __fadd_rn(from_threshold, -static_cast<float>(nearest));
  if (fabsf(distance) > 0.05F || nearest == 0) return below;
  if (nearest > 65535) return 65535;
  return __ldg(transfer.thresholds + nearest) <= value ? nearest : nearest - 1;
}

}  // namespace satin::kernels
