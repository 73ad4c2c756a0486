#pragma once
// The 16-bit code of a 24-bit linear value (IEC 61966-2-1): an estimate in float, and the table of thresholds
// where that is too near to one of them.

#include <cstdint>

#include "pixels/maths/pixel.h"

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

/// The code of a value by an estimate in float: `nearest`, or the one before.
struct EstimatedCode {
  std::uint32_t nearest;  ///< the code whose threshold lies nearest
  bool before;            ///< the estimate is below it
  bool doubtful;          ///< too near to it to tell
};

/// Where the curve is a power, the logarithm errs by 2^-22 of itself, or of 1 where that is more, its product
/// with 1 / 2.4 by 2^-23, the power by 2^-22 of itself: below 0.04 codes together with the roundings of the
/// last two steps. Estimates within 0.05 of a threshold are doubtful, and none is that near to code 65536's.
__device__ inline EstimatedCode estimated_code16(std::uint32_t value) {
  constexpr float white = 16777215.0F;
  constexpr float codes = 65535.0F;
  constexpr float linear_end = 52526.0F;  // about 0.0031308 of white, where the curves meet
  constexpr float whole = 12582912.0F;    // 1.5 * 2^23: sums with it are whole
  const float light = static_cast<float>(value);
  const float power = approximate_exp2(__fmul_rn(approximate_log2(__fmul_rn(light, 1 / white)), 1 / 2.4F));
  const float code = light < linear_end ? __fmul_rn(light, 12.92F * codes / white)
                                        : __fmaf_rn(power, 1.055F * codes, -0.055F * codes);
  // The threshold of code c lies at c - 1/2.
  const float from_threshold = __fadd_rn(code, 0.5F);
  const float nearest = __fadd_rn(from_threshold, whole);
  const float distance = __fadd_rn(from_threshold, -__fadd_rn(nearest, -whole));
  return {__float_as_uint(nearest) - __float_as_uint(whole), distance < 0, fabsf(distance) <= 0.05F};
}

/// values[i] = encode(values[i]) of pixels/maths/pixel.h. A few are done side by side, so that no threshold
/// is waited for before the next one is asked for.
template <int Count>
__device__ void encode16(std::uint32_t (&values)[Count], const TransferView& transfer) {
  constexpr int side_by_side = Count % 4 == 0 ? 4 : 1;
#pragma unroll
  for (int first = 0; first < Count; first += side_by_side) {
    EstimatedCode estimated[side_by_side];
    std::uint32_t thresholds[side_by_side] = {};
#pragma unroll
    for (int i = 0; i < side_by_side; ++i) {
      estimated[i] = estimated_code16(values[first + i]);
      if (estimated[i].doubtful) thresholds[i] = __ldg(transfer.thresholds + estimated[i].nearest);
    }
#pragma unroll
    for (int i = 0; i < side_by_side; ++i) {
      const bool before = estimated[i].doubtful ? thresholds[i] > values[first + i] : estimated[i].before;
      values[first + i] = estimated[i].nearest - (before ? 1 : 0);
    }
  }
}

}  // namespace satin::kernels
