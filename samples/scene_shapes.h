#pragma once
// Shapes, their intersection with rays, and the bounding volume hierarchy over them.

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <variant>
#include <vector>

#include "scene_math.h"

namespace scene {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// Distance of a ray's origin from the surface that it leaves, in metres.
inline constexpr double surface_offset = 2e-5;

struct Ray {
  Vec3 origin;
  Vec3 direction;  ///< unit vector

  [[nodiscard]] Vec3 at(double t) const { return origin + direction * t; }
};

struct Bounds {
  Vec3 low{infinity, infinity, infinity};
  Vec3 high{-infinity, -infinity, -infinity};

  void include(Vec3 p);
  void include(const Bounds& b);
  /// Returns half of the surface area.
  [[nodiscard]] double area() const;
  /// Returns the distance at which a ray enters, or infinity if it misses or enters beyond `limit`. `inverse`
  /// is 1 / direction.
  [[nodiscard]] double enter(Vec3 origin, Vec3 inverse, double limit) const {
    const double ax = (low.x - origin.x) * inverse.x, bx = (high.x - origin.x) * inverse.x;
    const double ay = (low.y - origin.y) * inverse.y, by = (high.y - origin.y) * inverse.y;
    const double az = (low.z - origin.z) * inverse.z, bz = (high.z - origin.z) * inverse.z;
    const double in = std::max(std::max(std::min(ax, bx), std::min(ay, by)), std::max(std::min(az, bz), 0.0));
    const double out =
        std::min(std::min(std::max(ax, bx), std::max(ay, by)), std::min(std::max(az, bz), limit));
    return in <= out ? in : infinity;
  }
};

/// The hit of a ray on a shape, in the frame of the shape.
struct LocalHit {
  double t = infinity;
  Vec3 normal;
};

struct Sphere {
  double radius = 1;
};

/// An axis-aligned box around the origin of its frame.
struct Box {
  Vec3 half;
};

/// A rod with round ends from the origin of its frame.
struct Capsule {
  Vec3 end;
  double radius = 0.01;
};

/// A surface of revolution about the y axis: truncated cones with smooth normals along the profile.
class Lathe {
 public:
  /// Control points (radius, height) from the bottom of the axis to its top, joined by Catmull-Rom splines;
  /// a point given twice is a corner. All are multiplied by `scale`.
  Lathe(std::span<const Vec2> profile, double scale);

  [[nodiscard]] LocalHit intersect(const Ray& ray, double limit) const;
  [[nodiscard]] Bounds bounds() const { return {{-radius_, low_, -radius_}, {radius_, high_, radius_}}; }
  [[nodiscard]] double height() const { return high_; }
  /// Returns the largest radius of the profile between two heights.
  [[nodiscard]] double radius_between(double low, double high) const;

 private:
  struct Segment {
    Vec2 from, to;                ///< (radius, height)
    Vec2 normal_from, normal_to;  ///< (outwards, upwards)
  };
  /// Segments between two corners, with their bounds.
  struct Run {
    std::vector<Segment> segments;
    double radius = 0, low = infinity, high = -infinity;
  };
  void add_run(std::span<const Vec2> points);

  std::vector<Run> runs_;
  double radius_ = 0, low_ = infinity, high_ = -infinity;
};

using Shape = std::variant<Sphere, Box, Capsule, Lathe>;

/// A shape in the world: rotated about the vertical, then moved.
struct Object {
  Shape shape;
  Vec3 position;
  Turn turn;
  int material = 0;
  bool subject = false;
};

struct Hit {
  double t = infinity;
  Vec3 position;
  Vec3 normal;
  Vec3 local;         ///< the position in the frame of the object
  Vec3 local_normal;  ///< the normal in the frame of the object
  const Object* object = nullptr;

  explicit operator bool() const { return object != nullptr; }
};

[[nodiscard]] Bounds bounds_of(const Object& object);

/// A bounding volume hierarchy, split by the surface area heuristic (Goldsmith and Salmon 1987). The objects
/// must outlive it.
class Hierarchy {
 public:
  Hierarchy() = default;
  explicit Hierarchy(std::span<const Object> objects);

  /// Returns the nearest hit along the ray.
  [[nodiscard]] Hit intersect(const Ray& ray) const;
  /// Whether any object is nearer than `limit`.
  [[nodiscard]] bool occluded(const Ray& ray, double limit) const;

 private:
  struct Node {
    Bounds bounds;
    std::size_t first = 0;  ///< leaf: first object; inner node: second child, as the first follows the node
    std::size_t count = 0;  ///< number of objects of a leaf; 0 for an inner node
  };
  void build(std::size_t first, std::size_t last);
  [[nodiscard]] std::size_t split(std::size_t first, std::size_t last);
  template <class Visit>
  void walk(const Ray& ray, double& limit, Visit visit) const;

  std::vector<const Object*> order_;
  std::vector<Node> nodes_;
};

}  // namespace scene
