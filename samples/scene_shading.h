#pragma once
// Radiance along a ray: recursive ray tracing (Whitted 1980) with sampled area lights (Cook, Porter and
// Carpenter 1984).

#include "scene.h"

namespace scene {

class Renderer {
 public:
  /// `pixel_angle`: the side of a pixel at distance 1, for textures without finer detail.
  Renderer(const Scene& scene, double pixel_angle);

  [[nodiscard]] Hit intersect(const Ray& ray) const { return hierarchy_.intersect(ray); }
  /// Returns the radiance that arrives along the ray from the hit.
  [[nodiscard]] Vec3 radiance(const Ray& ray, const Hit& hit, Sampler& sampler) const {
    return hit ? shade(ray, hit, sampler, {}) : Vec3{};
  }

 private:
  /// A ball in place of a part of an object, for ambient occlusion.
  struct Occluder {
    Vec3 centre;
    double radius = 0;
    const Object* object = nullptr;
  };

  /// The path from the camera to the origin of a ray.
  struct Path {
    int bounces = 0;
    double weight = 1;  ///< share of the pixel's light that the ray carries
    double length = 0;
    bool sees_lights =
        false;  ///< whether the ray can hit the lights; otherwise highlights are in closed form
  };

  [[nodiscard]] Vec3 trace(const Ray& ray, Sampler& sampler, const Path& path) const;
  [[nodiscard]] Vec3 shade(const Ray& ray, const Hit& hit, Sampler& sampler, Path path) const;
  [[nodiscard]] Vec3 direct(const Hit& hit, const Surface& surface, Vec3 view, Sampler& sampler,
                            int bounces) const;
  [[nodiscard]] Vec3 from_bulbs(const Hit& hit) const;
  [[nodiscard]] Vec3 ambient(const Hit& hit) const;
  [[nodiscard]] double openness(const Hit& hit) const;
  [[nodiscard]] Vec3 surroundings(const Ray& ray, double limit, bool sees_lights) const;
  void add_occluders(const Object& object);

  const Scene& scene_;
  double pixel_angle_;
  Hierarchy hierarchy_;
  std::vector<Occluder> occluders_;
};

}  // namespace scene
