// Scenes by kind and seed.

#include <array>

#include "layers.h"
#include "scene_parts.h"

namespace lens {
namespace {

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

Scene foliage(Random& random) {
  Scene made;
  made.focus = 0.3;
  made.layers.push_back(layer(0.9, leaves(random), cloth(random, 0.05, 0.5)));
  made.layers.push_back(layer(0.8, leaves(random), cloth(random, 0.03, 0.35)));
  made.layers.push_back(layer(0.3, everywhere(), bricks(random)));
  made.strength = strength_for(random.between(11, 17), made.focus, 0.9, 0.3);
  return made;
}

Scene lamps_behind_fence(Random& random) {
  Scene made;
  made.focus = 0.6;
  made.layers.push_back(layer(0.6, wires(random), cloth(random, 0.02, 0.3)));
  made.layers.push_back(layer(0.1, everywhere(), lamps(random)));
  made.strength = strength_for(random.between(13, 20), made.focus, 0.6, 0.1);
  return made;
}

Scene lights_on_wires(Random& random) {
  Scene made;
  made.focus = 0.6;
  const LitWires before = lit_wires(random);
  made.layers.push_back(layer(0.95, before.outline, before.texture));
  made.layers.push_back(any_blob(random, 0.6, 60, 100));
  made.layers.push_back(layer(0.1, everywhere(), lamps(random)));
  made.strength = strength_for(random.between(11, 17), made.focus, 0.95, 0.1);
  return made;
}

Scene near_over_page(Random& random) {
  Scene made;
  made.focus = 0.25;
  for (int i = 0; i < 3; ++i) made.layers.push_back(any_blob(random, 0.88 + 0.04 * i, 30, 70));
  made.layers.push_back(layer(0.25, everywhere(), print(random)));
  made.strength = strength_for(random.between(22, 27), made.focus, 0.96, 0.25);
  return made;
}

Scene portrait(Random& random) {
  Scene made;
  made.focus = 0.6;
  const double middle = width / 2.0 + random.between(-50, 50);
  const Vec2 hand{random.between(40, 140), height - random.between(0, 60)};
  const Outline head = blob(random, {middle, 140}, random.between(45, 65));
  const Outline body = blob(random, {middle, 340}, random.between(100, 140));
  made.layers.push_back(layer(0.95, blob(random, hand, random.between(50, 80)), any_texture(random)));
  made.layers.push_back(layer(0.6, head, cloth(random, 0.2, 0.7)));
  made.layers.push_back(layer(0.58, body, any_texture(random)));
  made.layers.push_back(any_blob(random, 0.35, 40, 80));
  made.layers.push_back(layer(0.08, everywhere(), any_texture(random)));
  made.strength = strength_for(random.between(13, 20), made.focus, 0.95, 0.08);
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
    case Kind::foliage:
      return "foliage";
    case Kind::lamps_behind_fence:
      return "lamps";
    case Kind::lights_on_wires:
      return "wires";
    case Kind::near_over_page:
      return "page";
    case Kind::portrait:
      return "phone";
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
    case Kind::foliage:
      return foliage(random);
    case Kind::lamps_behind_fence:
      return lamps_behind_fence(random);
    case Kind::lights_on_wires:
      return lights_on_wires(random);
    case Kind::near_over_page:
      return near_over_page(random);
    case Kind::portrait:
      return portrait(random);
    case Kind::near_over_texture:
      break;
  }
  return near_over_texture(random);
}

}  // namespace lens
