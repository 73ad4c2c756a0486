#pragma once
// An invented evening sky as an environment map by latitude and longitude, and its reflections by surfaces.

#include "../scene_math.h"
#include "satin/device.h"
#include "satin/image.h"

namespace glossy {

using scene::Vec3;

/// Returns the light from a direction, a unit vector with y up; linear, Rec. 709 primaries.
[[nodiscard]] Vec3 radiance(Vec3 direction);

/// Returns radiance() as a map of floats, width x width / 2. A pixel is the mean of 2 x 2 directions.
[[nodiscard]] satin::Image environment_map(int width);

/// The map for surfaces of every roughness: satin::gloss() in nine levels.
class Environment {
 public:
  Environment(const satin::Device& device, const satin::Image& map);

  /// Returns the mean of the environment over the lobe of that roughness, 0 to 1, around a direction:
  /// bilinear in the map, linear between levels. Roughness 0 is the environment itself.
  [[nodiscard]] Vec3 reflected(Vec3 direction, double roughness) const;
  /// Returns all levels, one below the other.
  [[nodiscard]] const satin::Image& levels() const noexcept { return levels_; }

 private:
  [[nodiscard]] Vec3 level_at(int level, double x, double y) const;

  satin::Image levels_;
  int width_;
  int height_;
};

}  // namespace glossy
