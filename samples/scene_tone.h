#pragma once
// Tone mapping: from radiance to display values.

#include "scene_math.h"

namespace scene {

inline double film_curve(double x) {
  // Rational fit of a film-like response (Narkowicz 2015).
  return saturate(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14));
}

inline double encode_srgb(double x) {
  return x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
}

/// Returns display values in [0, 1], encoded as sRGB, by a film-like curve.
[[nodiscard]] inline Vec3 tone_map(Vec3 radiance) {
  constexpr double
      exposure = 0.9,
      bleed = 0.04;  // share of the luminance in each channel: bright colours fade to white, as on film
  const double grey = luminance(radiance);
  const Vec3 c = mix(radiance, {grey, grey, grey}, bleed) * exposure;
  return {encode_srgb(film_curve(c.x)), encode_srgb(film_curve(c.y)), encode_srgb(film_curve(c.z))};
}

}  // namespace scene
