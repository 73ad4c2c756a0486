// The scenes, by kind and seed.

#include <array>
#include <cmath>

#include "layers.h"

namespace lens {
namespace {

using Outline = std::function<float(Vec2)>;
using Texture = std::function<Vec3(Vec2)>;

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

double noise_at(Vec2 p, double size, std::uint32_t seed, int octaves) {
  return scene::fractal_noise({p.x / size, p.y / size, static_cast<double>(seed % 4096) * 3.7}, octaves);
}

// --- Textures --------------------------------------------------------------------------------------------

Texture cloth(Random& random, double low = 0.03, double high = 0.8) {
  const Vec3 a = random.colour(low, high);
  const Vec3 b = random.colour(low, high);
  const double size = random.between(5, 30);
  const std::uint32_t seed = random.seed();
  return [=](Vec2 p) {
    const double t = scene::saturate((noise_at(p, size, seed, 5) - 0.3) * 2.5);
    const double fleck = noise_at(p, 2.5, seed + 1, 2);
    return mix(a, b, t) * (0.6 + 0.8 * fleck);
  };
}

Texture stripes(Random& random) {
  const Vec3 a = random.colour(0.02, 0.25);
  const Vec3 b = random.colour(0.3, 0.9);
  const double angle = random.between(0, scene::pi);
  const double period = random.between(5, 16);
  const std::uint32_t seed = random.seed();
  return [=](Vec2 p) {
    const double bend = 6 * noise_at(p, 60, seed, 2);
    const double phase = (p.x * std::cos(angle) + p.y * std::sin(angle) + bend) / period;
    return mix(a, b, scene::smoothstep(0.4, 0.6, std::abs(2 * scene::fraction(phase) - 1)));
  };
}

Texture tiles(Random& random) {
  const double size = random.between(9, 30);
  const Vec3 base = random.colour(0.08, 0.6);
  const std::uint32_t seed = random.seed();
  return [=](Vec2 p) {
    const int column = static_cast<int>(std::floor(p.x / size));
    const int row = static_cast<int>(std::floor(p.y / size));
    Random cell(
        scene::hash(seed, scene::hash(static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(row))));
    return (base + cell.colour(-0.07, 0.2)) * (0.4 + cell.between(0, 0.6) + 0.5 * noise_at(p, 4, seed, 3));
  };
}

Texture any_texture(Random& random) {
  switch (random.below(4)) {
    case 0:
      return stripes(random);
    case 1:
      return tiles(random);
    default:
      return cloth(random);
  }
}

Texture plain(Vec3 colour) {
  return [colour](Vec2) { return colour; };
}

/// A dark wall with small lamps, 3 to 25 times as bright as white paper.
Texture lamps(Random& random) {
  struct Lamp {
    Vec2 centre;
    double radius;
    Vec3 light;
  };
  std::vector<Lamp> all;
  for (int i = 0; i < 40; ++i) {
    const Vec2 centre = random.place(-20);
    const double radius = random.between(1.2, 3);
    const Vec3 tint = random.colour(0.35, 1);
    all.push_back({centre, radius, tint * std::exp(random.between(std::log(3.0), std::log(25.0)))});
  }
  const Texture wall = cloth(random, 0.01, 0.15);
  return [=](Vec2 p) {
    Vec3 light = wall(p);
    for (const Lamp& lamp : all) {
      const double distance = std::hypot(p.x - lamp.centre.x, p.y - lamp.centre.y);
      if (distance < lamp.radius + 1)
        light += lamp.light * scene::smoothstep(lamp.radius + 0.5, lamp.radius - 0.5, distance);
    }
    return light;
  };
}

// --- Outlines --------------------------------------------------------------------------------------------

Outline everywhere() {
  return [](Vec2) { return 1.F; };
}

/// A disc with a wavy edge.
Outline blob(Random& random, Vec2 centre, double radius) {
  const std::uint32_t seed = random.seed();
  const double waves = random.between(0.1, 0.45);
  return [=](Vec2 p) {
    const double x = (p.x - centre.x) / radius;
    const double y = (p.y - centre.y) / radius;
    const double distance = std::hypot(x, y);
    if (distance > 2) return -1.F;
    const double wave = waves * (2 * noise_at({x * 10, y * 10}, 6, seed, 3) - 1);
    return static_cast<float>(radius * (1 + wave - distance));
  };
}

Outline bar(Vec2 through, double angle, double half_width) {
  const double across_x = -std::sin(angle);
  const double across_y = std::cos(angle);
  return [=](Vec2 p) {
    return static_cast<float>(half_width -
                              std::abs((p.x - through.x) * across_x + (p.y - through.y) * across_y));
  };
}

/// Wires of a fence, both ways.
Outline wires(Random& random) {
  const double period = random.between(26, 44);
  const double half_width = random.between(1, 2.6);
  const double angle = random.between(0.5, 1.1);
  const double offset = random.between(0, period);
  return [=](Vec2 p) {
    double nearest = 1e9;
    for (const double a : {angle, -angle}) {
      const double across = p.x * std::sin(a) - p.y * std::cos(a) + offset;
      nearest = std::min(nearest, std::abs(across - period * std::round(across / period)));
    }
    return static_cast<float>(half_width - nearest);
  };
}

// --- Scenes ----------------------------------------------------------------------------------------------

Layer layer(double disparity, const Outline& outline, const Texture& texture, Vec2 slope = {}) {
  const auto stored = [&](Vec2 p) {
    const Vec3 c = texture(p);
    return Colour{static_cast<float>(c.x), static_cast<float>(c.y), static_cast<float>(c.z)};
  };
  return {disparity, outline, stored, slope};
}

Layer any_blob(Random& random, double disparity, double smallest, double largest) {
  const Vec2 centre = random.place(30);
  const Outline outline = blob(random, centre, random.between(smallest, largest));
  return layer(disparity, outline, any_texture(random));
}

/// Strength such that the largest circle of confusion between the disparities has this radius.
double strength_for(double radius, double focus, double nearest, double farthest) {
  return radius / std::max(nearest - focus, focus - farthest);
}

Scene near_over_texture(Random& random) {
  Scene made;
  made.focus = 0.25;
  for (int i = 0; i < 5; ++i) made.layers.push_back(any_blob(random, 0.7 + 0.06 * i, 35, 85));
  made.layers.push_back(layer(0.25, everywhere(), any_texture(random)));
  made.strength = strength_for(random.between(13, 20), made.focus, 1, 0.25);
  return made;
}

Scene fence(Random& random) {
  Scene made;
  made.layers.push_back(layer(0.9, wires(random), cloth(random, 0.05, 0.5)));
  made.layers.push_back(any_blob(random, 0.4, 50, 90));
  made.layers.push_back(layer(0.2, everywhere(), any_texture(random)));
  made.focus = random.below(2) == 0 ? 0.4 : 0.9;
  made.strength = strength_for(random.between(9, 15), made.focus, 0.9, 0.2);
  return made;
}

Scene lights(Random& random) {
  Scene made;
  made.focus = 0.75;
  const Vec2 centre{width / 2.0 + random.between(-60, 60), height / 2.0 + random.between(-30, 30)};
  made.layers.push_back(layer(0.75, blob(random, centre, random.between(70, 110)), any_texture(random)));
  made.layers.push_back(any_blob(random, 0.5, 25, 45));
  made.layers.push_back(layer(0.1, everywhere(), lamps(random)));
  made.strength = strength_for(random.between(13, 20), made.focus, 0.75, 0.1);
  return made;
}

Scene slanted_floor(Random& random) {
  Scene made;
  made.focus = random.between(0.4, 0.6);
  const double tilt = random.between(-0.25, 0.25);
  for (int i = 0; i < 3; ++i) made.layers.push_back(any_blob(random, 0.75 + 0.07 * i, 20, 50));
  made.layers.push_back(layer(0.5, everywhere(), any_texture(random), {tilt / width, 0.7 / height}));
  made.strength = strength_for(random.between(13, 20), made.focus, 0.95, 0.05);
  return made;
}

Scene crossing_bars(Random& random) {
  Scene made;
  made.focus = 0.5;
  constexpr std::array disparities{0.95, 0.5, 0.3};
  for (std::size_t i = 0; i < disparities.size(); ++i) {
    const Vec2 through{width / 2.0 + random.between(-50, 50), height / 2.0 + random.between(-50, 50)};
    const double angle = scene::pi * (static_cast<double>(i) / 3) + random.between(-0.3, 0.3);
    made.layers.push_back(
        layer(disparities[i], bar(through, angle, random.between(12, 34)), any_texture(random)));
  }
  made.layers.push_back(layer(0.1, everywhere(), any_texture(random)));
  made.strength = strength_for(random.between(13, 20), made.focus, 0.95, 0.1);
  return made;
}

Scene many_layers(Random& random) {
  Scene made;
  made.focus = random.between(0.35, 0.65);
  for (int i = 0; i < 9; ++i) made.layers.push_back(any_blob(random, 0.95 - 0.1 * i, 35, 90));
  made.layers.push_back(layer(0.08, everywhere(), any_texture(random)));
  made.strength = strength_for(random.between(13, 20), made.focus, 0.95, 0.08);
  return made;
}

Scene black_on_white(Random& random) {
  Scene made;
  made.focus = 0.7;
  const Vec2 centre{width / 2.0 + random.between(-40, 40), height / 2.0 + random.between(-30, 30)};
  made.layers.push_back(layer(0.7, blob(random, centre, random.between(60, 100)), plain({0, 0, 0})));
  made.layers.push_back(layer(0.1, everywhere(), plain({1, 1, 1})));
  made.strength = strength_for(random.between(13, 20), made.focus, 0.7, 0.1);
  return made;
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::near_over_texture:
      return "near";
    case Kind::fence:
      return "fence";
    case Kind::lights:
      return "lights";
    case Kind::floor:
      return "floor";
    case Kind::bars:
      return "bars";
    case Kind::layers:
      return "layers";
    case Kind::black_on_white:
      return "black";
  }
  return "";
}

Scene make_scene(Kind kind, std::uint32_t seed) {
  Random random(scene::hash(static_cast<std::uint32_t>(kind) + 1, seed));
  switch (kind) {
    case Kind::fence:
      return fence(random);
    case Kind::lights:
      return lights(random);
    case Kind::floor:
      return slanted_floor(random);
    case Kind::bars:
      return crossing_bars(random);
    case Kind::layers:
      return many_layers(random);
    case Kind::black_on_white:
      return black_on_white(random);
    case Kind::near_over_texture:
      break;
  }
  return near_over_texture(random);
}

}  // namespace lens
