#pragma once
// 24-bit linear light to codes of 16 bits.

#include <cstdint>

#include "pixels/maths/pixel.h"

namespace satin::kernels {

__device__ inline float approximate_log2(float value) {
  float result = 0;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

__device__ inline float approximate_exp2(float value) {
  float result = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

inline constexpr float encode_whole = 12582912.0F;  ///< 1.5 * 2^23: adding it rounds to an integer

/// The estimate of a 16-bit code in float: the code is `nearest` or the one before.
struct EstimatedCode {
  std::uint32_t nearest;  ///< code with the nearest threshold, added to the bits of encode_whole
  float distance;         ///< signed distance of the estimate from that threshold

  /// Whether the estimate is too near to the threshold to decide.
  [[nodiscard]] __device__ bool doubtful() const { return fabsf(distance) <= 0.05F; }
};

/// Estimates the 16-bit code of a 24-bit linear value (IEC 61966-2-1). On the power part of the curve, the
/// logarithm errs by 2^-22 (relative, or absolute below 1), its product with 1 / 2.4 by 2^-23 and the power
/// by 2^-22: with the last rounding less than 0.04 codes. Estimates within 0.05 of a threshold are doubtful;
/// no value is that near to the threshold of code 65536.
__device__ inline EstimatedCode estimated_code16(std::uint32_t value) {
  constexpr float white = 16777215.0F;
  constexpr float codes = 65535.0F;
  constexpr std::uint32_t linear_end = 52526;  // about 0.0031308 white, where the two parts of the curve meet
  const float light = static_cast<float>(value);
  const float power = approximate_exp2(__fmul_rn(approximate_log2(__fmul_rn(light, 1 / white)), 1 / 2.4F));
  // The threshold of code c is c - 1/2.
  const float code = value < linear_end ? __fmaf_rn(light, 12.92F * codes / white, 0.5F)
                                        : __fmaf_rn(power, 1.055F * codes, 0.5F - 0.055F * codes);
  const float nearest = __fadd_rn(code, encode_whole);
  return {__float_as_uint(nearest), __fadd_rn(code, -__fadd_rn(nearest, -encode_whole))};
}

/// Replaces each value by its code, as encode() of pixels/maths/pixel.h. Doubtful estimates are compared with
/// the table of thresholds; up to four values are looked up at once.
template <int Count>
__device__ void encode16(std::uint32_t (&values)[Count], const TransferView& transfer) {
  constexpr int side_by_side = Count <= 4 ? Count : Count % 4 == 0 ? 4 : 1;
  const std::uint32_t* thresholds = transfer.thresholds - __float_as_uint(encode_whole);
#pragma unroll
  for (int first = 0; first < Count; first += side_by_side) {
    EstimatedCode estimated[side_by_side];
    std::uint32_t least[side_by_side];  // least value that has the nearest code
    bool doubtful = false;
#pragma unroll
    for (int i = 0; i < side_by_side; ++i) {
      estimated[i] = estimated_code16(values[first + i]);
      least[i] = estimated[i].distance < 0 ? 0xFFFFFFFFU : 0;
      doubtful |= estimated[i].doubtful();
    }
    if (doubtful) {
#pragma unroll
      for (int i = 0; i < side_by_side; ++i)
        if (estimated[i].doubtful()) least[i] = __ldg(thresholds + estimated[i].nearest);
    }
#pragma unroll
    for (int i = 0; i < side_by_side; ++i)
      values[first + i] = estimated[i].nearest - (values[first + i] < least[i] ? 1 : 0);
  }
}

}  // namespace satin::kernels
