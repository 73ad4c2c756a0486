#include "scene_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace lens {

double noise_at(Vec2 p, double size, std::uint32_t seed, int octaves) {
  return scene::fractal_noise({p.x / size, p.y / size, static_cast<double>(seed % 4096) * 3.7}, octaves);
}

Texture cloth(Random& random, double low, double high) {
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

namespace {

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

}  // namespace

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

Outline everywhere() {
  return [](Vec2) { return 1.F; };
}

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

Texture bricks(Random& random) {
  const double wide = random.between(16, 26);
  const double high = wide * random.between(0.36, 0.5);
  const Vec3 clay = random.colour(0.1, 0.5);
  const Vec3 mortar = random.colour(0.5, 0.7);
  const double differ = random.between(0.1, 0.3);
  const std::uint32_t seed = random.seed();
  return [=](Vec2 p) {
    const int course = static_cast<int>(std::floor(p.y / high));
    const double along = p.x / wide + (course % 2 == 0 ? 0.0 : 0.5);
    const int brick = static_cast<int>(std::floor(along));
    const double to_side = std::min(scene::fraction(along), 1 - scene::fraction(along)) * wide;
    const double down = scene::fraction(p.y / high);
    const double to_course = std::min(down, 1 - down) * high;
    const double shade = 1 - differ / 2 + differ * scene::random_of(course, brick, static_cast<int>(seed));
    const Vec3 face = clay * (shade * (0.8 + 0.4 * noise_at(p, 3, seed, 2)));
    return mix(mortar, face, scene::smoothstep(0.6, 1.4, std::min(to_side, to_course)));
  };
}

Texture print(Random& random) {
  constexpr int letters = 12;
  constexpr int columns = 4;  // dots per letter and gap; letters have 3 x 5
  constexpr int rows = 9;
  std::array<std::uint32_t, letters> alphabet{};
  for (std::uint32_t& letter : alphabet) letter = random.seed() | 0x10;
  const double dot_size = random.between(1.3, 1.9);
  const std::uint32_t seed = random.seed();
  const Vec3 paper = random.colour(0.7, 0.9);
  const Vec3 ink = random.colour(0.02, 0.08);
  return [=](Vec2 p) {
    const auto place = [](double at, int dots) {
      return std::pair{static_cast<int>(std::floor(at / dots)),
                       static_cast<int>(std::floor(at - dots * std::floor(at / dots)))};
    };
    const auto [column, i] = place(p.x / dot_size, columns);
    const auto [line, j] = place(p.y / dot_size, rows);
    const std::uint32_t cell =
        scene::hash(seed, scene::hash(static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(line)));
    const bool space = cell % 6 == 0;
    const std::uint32_t letter = alphabet[cell / 6 % letters];
    const bool inked = !space && i < 3 && j < 5 && (letter >> (3 * j + i) & 1U) != 0;
    return inked ? ink : paper;
  };
}

Outline leaves(Random& random) {
  constexpr double cell_size = 24;
  const std::uint32_t seed = random.seed();
  return [=](Vec2 p) {
    const int column = static_cast<int>(std::floor(p.x / cell_size));
    const int row = static_cast<int>(std::floor(p.y / cell_size));
    double deepest = -9;
    for (int v = row - 1; v <= row + 1; ++v)
      for (int u = column - 1; u <= column + 1; ++u) {
        Random leaf(
            scene::hash(seed, scene::hash(static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(v))));
        if (leaf.between(0, 1) > 0.6) continue;
        const double x = p.x - (u + leaf.between(0, 1)) * cell_size;
        const double y = p.y - (v + leaf.between(0, 1)) * cell_size;
        const double turn = leaf.between(0, scene::pi);
        const double length = leaf.between(8, 14);
        const double across = length * leaf.between(0.35, 0.55);
        const double a = (x * std::cos(turn) + y * std::sin(turn)) / length;
        const double b = (y * std::cos(turn) - x * std::sin(turn)) / across;
        deepest = std::max(deepest, across * (1 - std::hypot(a, b)));
      }
    return static_cast<float>(deepest);
  };
}

LitWires lit_wires(Random& random) {
  const double between = random.between(70, 110);
  const double bulbs_apart = random.between(24, 40);
  const double bulb = random.between(1.5, 2.6);
  const double sag = random.between(4, 14);
  const std::uint32_t seed = random.seed();
  struct Place {
    double to_wire;
    double to_bulb;
    int number;
  };
  const auto place = [=](Vec2 p) {
    const double height_of_wire = sag * std::sin(p.x / 60) + between / 3;
    const double off = p.y - height_of_wire;
    const int wire = static_cast<int>(std::lround(off / between));
    const double down = off - wire * between;
    const int number = static_cast<int>(std::lround(p.x / bulbs_apart));
    return Place{std::abs(down), std::hypot(p.x - number * bulbs_apart, down - 2), 97 * wire + number};
  };
  const Outline outline = [=](Vec2 p) {
    const Place at = place(p);
    return static_cast<float>(std::max(0.7 - at.to_wire, bulb - at.to_bulb));
  };
  const Texture texture = [=](Vec2 p) {
    const Place at = place(p);
    Random own(scene::hash(seed, static_cast<std::uint32_t>(at.number)));
    const Vec3 light = own.colour(0.4, 1) * own.between(4, 20);
    return at.to_bulb < bulb ? light : Vec3{0.03, 0.03, 0.03};
  };
  return {outline, texture};
}

Layer layer(double disparity, const Outline& outline, const Texture& texture, Vec2 slope) {
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

double strength_for(double radius, double focus, double nearest, double farthest) {
  return radius / std::max(nearest - focus, focus - farthest);
}

}  // namespace lens
