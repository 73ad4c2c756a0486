#pragma once
// A value blended with its mean.

#include <cstdint>

#include "kernels/means/launch.h"
#include "pixels/maths/pixel.h"

namespace satin::kernels {

/// blend() of pixels/maths/pixel.h. Values of 16 bits times the largest weights stay below 2^32.
template <class Mean>
__device__ std::uint32_t blended(std::uint32_t own, Mean mean, std::uint32_t weight,
                                 const ScaledDivisor& whole) {
  if constexpr (sizeof(Mean) > 2) {
    return static_cast<std::uint32_t>(blend(own, mean, weight, whole.divisor));
  } else {
    const std::uint32_t sum = own * (whole.divisor - weight) + mean * weight;
    return __umulhi(sum + whole.divisor / 2, whole.factor) >> whole.shift;
  }
}

}  // namespace satin::kernels
