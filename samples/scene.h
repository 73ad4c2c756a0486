#pragma once
// An evening still life: a chess board on a table, a vase and books behind it, lamps on a string, a window at
// dusk.
//
// World frame: metres, x to the right, y up from the table top, z away from the camera.

#include <vector>

#include "scene_materials.h"
#include "scene_shapes.h"

namespace scene {

/// A pinhole camera that looks along +z, tilted downwards.
class Camera {
 public:
  Camera(int width, int height);

  /// Returns the ray through a point of the picture, in pixels; pixel centres are at 1/2.
  [[nodiscard]] Ray ray(double x, double y) const;
  /// Returns the side of a pixel at distance 1.
  [[nodiscard]] double pixel_angle() const { return 1 / focal_; }
  /// Returns the depth of a point along the view axis.
  [[nodiscard]] double depth(Vec3 point) const { return dot(point - origin_, axis_); }

 private:
  Vec3 origin_, axis_, up_;
  double focal_ = 1, centre_x_ = 0, centre_y_ = 0;
};

/// An area light. `u` and `v` are half its sides; it shines towards cross(u, v).
struct RectangleLight {
  Vec3 centre, u, v;
  Vec3 radiance;
  bool soft = false;  ///< whether reflections may ignore its shadows
};

/// A small bulb, far from everything that it lights. Casts no shadow.
struct PointLight {
  Vec3 position;
  Vec3 intensity;
};

struct Scene {
  std::vector<Material> materials;
  std::vector<Object> objects;
  std::vector<RectangleLight> lights;
  std::vector<PointLight> bulbs;
  Vec3 subject_centre;  ///< point to focus on
};

[[nodiscard]] Scene make_scene();

}  // namespace scene
