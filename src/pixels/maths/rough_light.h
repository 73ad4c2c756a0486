#pragma once
// About the 24-bit linear light of a 16-bit code (IEC 61966-2-1): what is missing fits 16 bits, so that a
// table of it is half as large as one of light.

#include <cmath>

#include "core/maths/hd.h"

namespace satin {

inline constexpr float rough_light_base = 8388608.0F;  ///< 2^23: from there to 2^24 floats are whole

/// A quarter of the light by the best cubic polynomial, which errs by 15387 of the light, to a whole number;
/// with rough_light_base added.
SATIN_HD float rough_quarter_light(float code) {
  constexpr float most = 65535.0F;
  constexpr float first = 183417.8F / 4 / most;
  constexpr float second = 11387010.7F / 4 / most / most;
  constexpr float third = 5206786.5F / 4 / most / most / most;
  const float slope = fmaf(code, fmaf(code, third, second), first);
  return fmaf(code, slope, rough_light_base + 3846);
}

}  // namespace satin
