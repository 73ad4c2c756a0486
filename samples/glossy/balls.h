#pragma once
// Balls that reflect, and balls of glass, from a mirror to rough.

#include "environment.h"

namespace glossy {

/// 8 bits, sRGB: a row of metal balls above a row of glass ones, roughness 0 at the left to 1 at the right,
/// before the environment itself.
[[nodiscard]] satin::Image render_balls(const Environment& environment, int width, int height);

}  // namespace glossy
