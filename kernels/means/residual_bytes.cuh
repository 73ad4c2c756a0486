#pragma once
// What unsharp makes of bytes and their means with eight bits below the point, without alpha and mask.

#include <cstdint>

#include "means/maths/unsharp_residual.h"

namespace satin::kernels {

/// Byte `place` of a word, or its half, as a float.
__device__ inline float float_of_byte(std::uint32_t word, int place) {
  const std::uint32_t bits = __byte_perm(word, 0x4B000000U, static_cast<unsigned>(0x7440 + place));
  return __fadd_rn(__uint_as_float(bits), -8388608.0F);
}
__device__ inline float float_of_half(std::uint32_t word, int place) {
  const std::uint32_t bits = __byte_perm(word, 0x4B000000U, place == 0 ? 0x7410U : 0x7432U);
  return __fadd_rn(__uint_as_float(bits), -8388608.0F);
}

/// Bytes 0 and 1 of the result: a and b, at least 0 and at most 255. The others are the low ones of `above`.
__device__ inline std::uint32_t pack_clamped(int a, int b, std::uint32_t above) {
  std::uint32_t result = 0;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(b), "r"(a), "r"(above));
  return result;
}

/// Four results; `means`: two words of two.
///
/// exact_in_float() of means/residual_precision.h: all steps are exact, and results below 2^17, so that an
/// addition rounded down leaves their floor in the low bits.
__device__ inline std::uint32_t four_with_residual(std::uint32_t own, const std::uint32_t (&means)[2],
                                                   const UnsharpResidualRule& rule) {
  constexpr float middle = 12582912.0F;  // 1.5 * 2^23
  const auto amount = static_cast<float>(rule.amount);
  const auto threshold = static_cast<float>(rule.threshold);
  int results[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float value = float_of_byte(own, i);
    const float difference = __fmaf_rn(float_of_half(means[i / 2], i % 2), -0x1p-8F, value);
    const float kept = fabsf(difference) > threshold ? difference : 0.0F;
    const float result = __fmaf_rn(kept, amount, __fadd_rn(value, 0.5F));
    results[i] = __float_as_int(__fadd_rd(result, middle)) - __float_as_int(middle);
  }
  return pack_clamped(results[0], results[1], pack_clamped(results[2], results[3], 0));
}

}  // namespace satin::kernels
