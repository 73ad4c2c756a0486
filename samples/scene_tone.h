#pragma once
// From radiance to what a display shows.

#include "scene_math.h"

namespace scene {

/// Display values in [0, 1], encoded as sRGB, by a film-like curve.
[[nodiscard]] Vec3 tone_map(Vec3 radiance);

}  // namespace scene
