#pragma once
// Metal and glass balls of increasing roughness.

#include "environment.h"

namespace glossy {

/// Renders a row of metal balls above a row of glass ones, with roughness 0 on the left to 1 on the right, in
/// front of the environment; 8 bits, sRGB.
[[nodiscard]] satin::Image render_balls(const Environment& environment, int width, int height);

}  // namespace glossy
