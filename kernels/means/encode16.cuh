#pragma once
// The 16-bit code of a 24-bit linear value (IEC 61966-2-1): an estimate in float, and the table of thresholds
// where that is too near to one of them.

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

inline constexpr float encode_whole = 12582912.0F;  ///< 1.5 * 2^23: sums with it are whole

/// The code of a value by an estimate in float: `nearest`, or the one before.
struct EstimatedCode {
  std::uint32_t nearest;  ///< the code whose threshold lies nearest, added to the bits of encode_whole
  float distance;         ///< of the estimate from that threshold

  /// Too near to the threshold to tell.
  [[nodiscard]] __device__ bool doubtful() const { return fabsf(distance) <= 0.05F; }
};

/// Where the curve is a power, the logarithm errs by 2^-22 of itself, or of 1 where that is more, its product
/// with 1 / 2.4 by 2^-23, the power by 2^-22 of itself: below 0.04 codes together with the rounding of the
/// last step. Estimates within 0.05 of a threshold are doubtful, and none is that near to code 65536's.
__device__ inline EstimatedCode estimated_code16(std::uint32_t value) {
  constexpr float white = 16777215.0F;
  constexpr float codes = 65535.0F;
  constexpr std::uint32_t linear_end = 52526;  // about 0.0031308 of white, where the curves meet
  const float light = static_cast<float>(value);
  const float power = approximate_exp2(__fmul_rn(approximate_log2(__fmul_rn(light, 1 / white)), 1 / 2.4F));
  // The threshold of code c lies at c - 1/2.
  const float code = value < linear_end ? __fmaf_rn(light, 12.92F * codes / white, 0.5F)
                                        : __fmaf_rn(power, 1.055F * codes, 0.5F - 0.055F * codes);
  const float nearest = __fadd_rn(code, encode_whole);
  return {__float_as_uint(nearest), __fadd_rn(code, -__fadd_rn(nearest, -encode_whole))};
}

/// values[i] = encode(values[i]) of pixels/maths/pixel.h, in the lower half. The thresholds of a few are
/// asked for at once.
template <int Count>
__device__ void encode16(std::uint32_t (&values)[Count], const TransferView& transfer) {
  constexpr int side_by_side = Count % 4 == 0 ? 4 : 1;
  const std::uint32_t* thresholds = transfer.thresholds - __float_as_uint(encode_whole);
#pragma unroll
  for (int first = 0; first < Count; first += side_by_side) {
    EstimatedCode estimated[side_by_side];
    std::uint32_t least[side_by_side];  // that have the nearest code
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
