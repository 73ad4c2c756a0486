#pragma once
// Tone mapping: from radiance to display values.

#include "scene_math.h"

namespace scene {

/// Returns display values in [0, 1], encoded as sRGB, by a film-like curve.
[[nodiscard]] Vec3 tone_map(Vec3 radiance);

}  // namespace scene
