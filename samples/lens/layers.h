#pragma once
// Scenes for a thin lens: flat layers, some of them slanted, each with an outline and a texture.
//
// Lengths are in pixels of the pinhole picture. Disparity falls from 1 near the camera to 0 at infinity. A
// plane in space is a plane over (x, y, disparity); the ray from point u of a unit aperture through pixel p
// meets the disparity d at p - c u, where c = strength (d - focus) is the signed circle of confusion in
// pixels. So a layer is intersected exactly, slanted or not.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../scene_math.h"

namespace lens {

using scene::Vec2;
using scene::Vec3;

inline constexpr int width = 480;
inline constexpr int height = 360;
inline constexpr int margin = 64;  ///< extent of layers beyond the picture

struct Box {
  double left = 1e9;
  double top = 1e9;
  double right = -1e9;
  double bottom = -1e9;

  [[nodiscard]] bool holds(Vec2 p) const {
    return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom;
  }
};

/// Linear light, as stored.
struct Colour {
  float red;
  float green;
  float blue;
};

struct Extent {
  float low = 1e9F;
  float high = -1e9F;
};

/// Values on a grid of half a pixel over the picture and its margin, interpolated bilinearly.
template <class Value>
class Grid {
 public:
  explicit Grid(const std::function<Value(Vec2)>& value);
  [[nodiscard]] Value at(Vec2 p) const;
  /// Smallest box that holds each position whose value satisfies `holds`.
  [[nodiscard]] Box bounds(const std::function<bool(const Value&)>& holds) const;
  /// Range of number(value) over each block of 8 x 8 pixels, row by row.
  [[nodiscard]] std::vector<Extent> extents_of_blocks(const std::function<float(const Value&)>& number) const;

  static constexpr int block_columns = (width + 2 * margin) / 8;
  static constexpr int block_rows = (height + 2 * margin) / 8;

 private:
  static constexpr int columns = 2 * (width + 2 * margin);
  static constexpr int rows = 2 * (height + 2 * margin);
  std::vector<Value> values_;
};

struct Layer {
  double disparity;             ///< at the centre of the picture
  Vec2 slope;                   ///< change of disparity per pixel
  Grid<float> outline;          ///< positive inside the layer
  Grid<Colour> texture;         ///< lamps are above 1
  Box bounds;                   ///< bounds of the outline
  std::vector<Extent> extents;  ///< range of the outline in each block

  Layer(double disparity_in_middle, const std::function<float(Vec2)>& outline_at,
        const std::function<Colour(Vec2)>& colour_at, Vec2 disparity_slope);
  [[nodiscard]] Vec3 colour_at(Vec2 p) const;
  /// Returns a range that holds the outline within `reach` pixels of p.
  [[nodiscard]] Extent extent_around(Vec2 p, double reach) const;

  [[nodiscard]] double disparity_at(Vec2 p) const {
    return disparity + slope.x * (p.x - width / 2.0) + slope.y * (p.y - height / 2.0);
  }
};

struct Scene {
  std::vector<Layer> layers;  ///< the last one covers everything
  double strength = 0;        ///< blur in pixels for a disparity of 1
  double focus = 0;           ///< disparity in focus

  [[nodiscard]] double blur_at(double disparity) const { return strength * (disparity - focus); }
};

/// Intersection of a layer with the ray through pixel position p and point u of the unit aperture.
struct Hit {
  const Layer* layer = nullptr;
  Vec2 place{};
  double disparity = 0;
};

/// A layer that rays through a pixel may hit.
struct Candidate {
  const Layer* layer;
  bool everywhere;  ///< whether all rays through the pixel hit it
};

/// Layers that rays through a pixel around `centre` and an aperture of radius `aperture` may hit first.
[[nodiscard]] std::vector<Candidate> layers_seen(const Scene& scene, Vec2 centre, double aperture);
[[nodiscard]] std::vector<Candidate> all_layers(const Scene& scene);

/// Returns the nearest hit behind `behind`.
[[nodiscard]] Hit nearest_hit(const Scene& scene, std::span<const Candidate> candidates, Vec2 p, Vec2 u,
                              double behind = 1e9);

enum class Kind {
  near_over_texture,
  fence,
  lights,
  floor,
  bars,
  layers,
  black_on_white,
  foliage,
  lamps_behind_fence,
  lights_on_wires,
  near_over_page,
  portrait  ///< with the depth of a phone
};
inline constexpr Kind all_kinds[] = {Kind::near_over_texture,
                                     Kind::fence,
                                     Kind::lights,
                                     Kind::floor,
                                     Kind::bars,
                                     Kind::layers,
                                     Kind::black_on_white,
                                     Kind::foliage,
                                     Kind::lamps_behind_fence,
                                     Kind::lights_on_wires,
                                     Kind::near_over_page,
                                     Kind::portrait};
[[nodiscard]] const char* name_of(Kind kind);

[[nodiscard]] Scene make_scene(Kind kind, std::uint32_t seed);

}  // namespace lens
