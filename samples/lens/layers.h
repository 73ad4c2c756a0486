#pragma once
// Scenes for a thin lens: flat layers, some of them slanted, each with an outline and a texture.
//
// Everything is told in pixels of the pinhole picture and in disparity, which falls from 1 near the camera to
// 0 at infinity. A plane in space is a plane over (x, y, disparity), and the ray from point u of a unit
// aperture through the pixel p meets the disparity d at p - c u, where c = strength (d - focus) is the signed
// circle of confusion in pixels. So a layer is met exactly, slanted or not.

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
inline constexpr int margin = 64;  ///< how far layers go on beyond the picture

struct Box {
  double left = 1e9;
  double top = 1e9;
  double right = -1e9;
  double bottom = -1e9;

  [[nodiscard]] bool holds(Vec2 p) const {
    return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom;
  }
};

/// Linear light, as it is stored.
struct Colour {
  float red;
  float green;
  float blue;
};

struct Extent {
  float low = 1e9F;
  float high = -1e9F;
};

/// Values on a grid of half a pixel that covers the picture and its margin; bilinear in between.
template <class Value>
class Grid {
 public:
  explicit Grid(const std::function<Value(Vec2)>& value);
  [[nodiscard]] Value at(Vec2 p) const;
  /// The smallest box that holds every place where `holds` is true of the value.
  [[nodiscard]] Box bounds(const std::function<bool(const Value&)>& holds) const;
  /// Of what `number` gives for the values on blocks of 8 x 8 pixels, rows of blocks one after the other.
  [[nodiscard]] std::vector<Extent> extents_of_blocks(const std::function<float(const Value&)>& number) const;

  static constexpr int block_columns = (width + 2 * margin) / 8;
  static constexpr int block_rows = (height + 2 * margin) / 8;

 private:
  static constexpr int columns = 2 * (width + 2 * margin);
  static constexpr int rows = 2 * (height + 2 * margin);
  std::vector<Value> values_;
};

struct Layer {
  double disparity;             ///< in the middle of the picture
  Vec2 slope;                   ///< change of disparity by a pixel
  Grid<float> outline;          ///< the layer is where this is positive
  Grid<Colour> texture;         ///< lamps are above 1
  Box bounds;                   ///< of the outline
  std::vector<Extent> extents;  ///< of the outline by blocks

  Layer(double disparity_in_middle, const std::function<float(Vec2)>& outline_at,
        const std::function<Colour(Vec2)>& colour_at, Vec2 disparity_slope);
  [[nodiscard]] Vec3 colour_at(Vec2 p) const;
  /// At least the extent of the outline within `reach` pixels of a place.
  [[nodiscard]] Extent extent_around(Vec2 p, double reach) const;

  [[nodiscard]] double disparity_at(Vec2 p) const {
    return disparity + slope.x * (p.x - width / 2.0) + slope.y * (p.y - height / 2.0);
  }
};

struct Scene {
  std::vector<Layer> layers;  ///< the last one covers everything
  double strength = 0;        ///< pixels of blur for a disparity of 1
  double focus = 0;           ///< disparity that is sharp

  [[nodiscard]] double blur_at(double disparity) const { return strength * (disparity - focus); }
};

/// Where the ray through pixel position p and point u of the unit aperture meets a layer.
struct Hit {
  const Layer* layer = nullptr;
  Vec2 place{};
  double disparity = 0;
};

/// A layer that rays through some pixel may hit.
struct Candidate {
  const Layer* layer;
  bool everywhere;  ///< no ray through the pixel misses it
};

/// All that rays through a pixel around `centre` and an aperture of radius `aperture` may hit first.
[[nodiscard]] std::vector<Candidate> layers_seen(const Scene& scene, Vec2 centre, double aperture);
/// Every layer.
[[nodiscard]] std::vector<Candidate> all_layers(const Scene& scene);

/// The nearest hit that lies behind `behind`.
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
  portrait  ///< its depth is that of a phone
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
