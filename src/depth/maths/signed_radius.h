#pragma once
// The signed radius of a pixel's circle of confusion: the integer by which depth/ hands over to lens/.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

/// Radius in 1/256 pixel. Positive: nearer than the focus.
using SignedRadius256 = std::int32_t;
inline constexpr SignedRadius256 unknown_radius = INT32_MIN;

/// Pixels per unit of a radius.
inline constexpr float lens_radius_scale = 1.0F / 256.0F;

/// Largest magnitude of a radius, in pixels.
inline constexpr double largest_lens_radius = 512;

/// Neighbours on a ramp differ by more than this, with one sign on both sides: 0.3 pixel.
inline constexpr std::int32_t ramp_step = 77;
/// Radii that differ by more than this belong to two surfaces: 1.5 pixels.
inline constexpr std::int32_t silhouette_step = 384;

SATIN_HD std::uint32_t magnitude_of(std::int32_t radius) {
  return static_cast<std::uint32_t>(radius < 0 ? -radius : radius);
}

struct RadiusRange {
  std::int32_t low;
  std::int32_t high;
};

}  // namespace satin
