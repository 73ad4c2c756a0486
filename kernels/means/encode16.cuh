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

/// The code of a value by an estimate in float.
struct EstimatedCode {
  std::uint32_t code;
  std::uint32_t nearest;  ///< the code whose threshold lies nearest
  bool doubtful;          ///< too near to it to tell
};

/// Where the curve is a power, the logarithm errs by 2^-22 of itself, or of 1 where that is more, its product
/// with 1 / 2.4 by 2^-23, the power by 2^-22 of itself: below 0.04 codes together with the roundings of the
/// last two steps. Estimates within 0.05 of a threshold are doubtful, and none is that near to code 65536's.
__device__ inline EstimatedCode estimated_code16(std::uint32_t value) {
  constexpr float white = 16777215.0F;
  constexpr float codes = 65535.0F;
  constexpr float linear_end = 52526.0F;  // about 0.0031308 of white, where the curves meet
  const float light = static_cast<float>(value);
  const float power = approximate_exp2(__fmul_rn(approximate_log2(__fmul_rn(light, 1 / white)), 1 / 2.4F));
  const float code = light < linear_end ? __fmul_rn(light, 12.92F * codes / white)
                                        : __fmaf_rn(power, 1.055F * codes, -0.055F * codes);
  // The threshold of code c lies at c - 1/2.
  const float from_threshold = __fadd_rn(code, 0.5F);
  const auto nearest = __float2uint_rn(from_threshold);
  const float distance = __fadd_rn(from_threshold, -static_cast<float>(nearest));
  return {__float2uint_rd(from_threshold), nearest, fabsf(distance) <= 0.05F && nearest != 0};
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
      const std::uint32_t by_threshold = estimated[i].nearest - (thresholds[i] > values[first + i] ? 1 : 0);
      values[first + i] = estimated[i].doubtful ? by_threshold : estimated[i].code;
    }
  }
}

}  // namespace satin::kernels
