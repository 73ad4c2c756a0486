#pragma once
// Elements of scenes: random numbers, textures, outlines and layers.

#include <cstdint>
#include <functional>

#include "layers.h"

namespace lens {

using Outline = std::function<float(Vec2)>;  ///< positive inside
using Texture = std::function<Vec3(Vec2)>;   ///< linear light

class Random {
 public:
  explicit Random(std::uint32_t seed) : seed_(seed) {}
  double between(double low, double high) {
    return low + (high - low) * scene::unit_interval(scene::hash(seed_, ++count_));
  }
  int below(int count) { return static_cast<int>(between(0, count)); }
  std::uint32_t seed() { return scene::hash(seed_, ++count_); }
  Vec2 place(double inset) {
    const double x = between(inset, width - inset);
    return {x, between(inset, height - inset)};
  }
  Vec3 colour(double low, double high) {
    const double red = between(low, high);
    const double green = between(low, high);
    return {red, green, between(low, high)};
  }

 private:
  std::uint32_t seed_;
  std::uint32_t count_ = 0;
};

/// Fractal noise from 0 to 1 with features of the given size.
[[nodiscard]] double noise_at(Vec2 p, double size, std::uint32_t seed, int octaves);

[[nodiscard]] Texture cloth(Random& random, double low = 0.03, double high = 0.8);
[[nodiscard]] Texture any_texture(Random& random);
[[nodiscard]] Texture plain(Vec3 colour);
/// A dark wall with small lamps, 3 to 25 times as bright as white paper.
[[nodiscard]] Texture lamps(Random& random);
/// Courses of slightly different bricks.
[[nodiscard]] Texture bricks(Random& random);
/// Lines of letters from a small alphabet.
[[nodiscard]] Texture print(Random& random);

[[nodiscard]] Outline everywhere();
/// A disc with a wavy edge.
[[nodiscard]] Outline blob(Random& random, Vec2 centre, double radius);
[[nodiscard]] Outline bar(Vec2 through, double angle, double half_width);
/// Wires of a fence, in both directions.
[[nodiscard]] Outline wires(Random& random);
/// Leaves of 16 to 28 pixels that cover about half of the picture.
[[nodiscard]] Outline leaves(Random& random);

/// Sagging wires with a bulb every few pixels: an outline and its texture.
struct LitWires {
  Outline outline;
  Texture texture;
};
[[nodiscard]] LitWires lit_wires(Random& random);

[[nodiscard]] Layer layer(double disparity, const Outline& outline, const Texture& texture, Vec2 slope = {});
[[nodiscard]] Layer any_blob(Random& random, double disparity, double smallest, double largest);

/// Strength at which the largest circle of confusion between both disparities has this radius.
[[nodiscard]] double strength_for(double radius, double focus, double nearest, double farthest);

}  // namespace lens
