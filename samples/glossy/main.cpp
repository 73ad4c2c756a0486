// satin_glossy: renders metal and glass balls of increasing roughness in front of an evening sky, by
// satin::gloss(). A surface sees the environment blurred by its lobe, which the prefiltered map gives by one
// lookup.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "../scene_tone.h"
#include "environment.h"
#include "satin/error.h"
#include "satin/io.h"

namespace glossy {
namespace {

using namespace scene;

constexpr int columns = 5;
constexpr double radius = 0.9;
constexpr double spacing = 2;
constexpr double distance = 12;  ///< distance of the viewer, at (0, 0, distance) and looking along -z
constexpr double index_of_glass = 1.5;

struct Ball {
  Vec3 centre;
  double roughness;
  bool glass;
};

struct Ray {
  Vec3 origin;
  Vec3 direction;
};

/// Returns the distance at which the ray enters the ball.
std::optional<double> meet(const Ray& ray, const Ball& ball) {
  const Vec3 to = ball.centre - ray.origin;
  const double nearest = dot(to, ray.direction);
  const double inside2 = radius * radius - dot(to, to) + nearest * nearest;
  if (inside2 < 0 || nearest < 0) return std::nullopt;
  return nearest - std::sqrt(inside2);
}

/// Schlick's approximation (1994).
Vec3 fresnel(Vec3 head_on, double cosine) {
  return head_on + (Vec3{1, 1, 1} - head_on) * std::pow(1 - saturate(cosine), 5);
}

/// Snell's law. `ratio`: refractive index before the surface over that behind it. There is no total
/// reflection into glass, nor out of it along a ray that entered through the same ball.
Vec3 refract(Vec3 direction, Vec3 normal, double ratio) {
  const double cosine = -dot(direction, normal);
  const double behind = std::sqrt(std::max(0.0, 1 - ratio * ratio * (1 - cosine * cosine)));
  return normalize(direction * ratio + normal * (ratio * cosine - behind));
}

/// Returns the direction from which light reaches the viewer through a ball.
Vec3 through_glass(Vec3 direction, Vec3 normal) {
  const Vec3 inside = refract(direction, normal, 1 / index_of_glass);
  const Vec3 exit = normalize(normal - inside * (2 * dot(normal, inside)));
  return refract(inside, -exit, index_of_glass);
}

Vec3 seen(const Environment& environment, const Ray& ray, const Ball& ball, double where) {
  const Vec3 normal = (ray.origin + ray.direction * where - ball.centre) * (1 / radius);
  const double cosine = -dot(ray.direction, normal);
  const Vec3 mirrored = environment.reflected(reflect(ray.direction, normal), ball.roughness);
  if (!ball.glass) return fresnel({0.95, 0.80, 0.52}, cosine) * mirrored;
  const Vec3 share = fresnel({0.04, 0.04, 0.04}, cosine);
  const Vec3 straight = environment.reflected(through_glass(ray.direction, normal), ball.roughness);
  return share * mirrored + (Vec3{1, 1, 1} - share) * straight;
}

Vec3 traced(const Environment& environment, const Ray& ray) {
  for (int i = 0; i < 2 * columns; ++i) {
    const int column = i % columns;
    const bool glass = i >= columns;
    const Ball ball{{(column - (columns - 1) / 2) * spacing, glass ? -1.0 : 1.0, 0},
                    column / static_cast<double>(columns - 1),
                    glass};
    if (const auto where = meet(ray, ball)) return seen(environment, ray, ball, *where);
  }
  return environment.reflected(ray.direction, 0);
}

/// Renders a row of metal balls above a row of glass ones, with roughness 0 on the left to 1 on the right, in
/// front of the environment; 8 bits, sRGB.
satin::Image render_balls(const Environment& environment, int width, int height) {
  constexpr int samples = 3;
  const double pixel = (columns * spacing + 0.2) / width;  // size of a pixel in the plane of the balls
  satin::Image picture({.width = width, .height = height, .channels = 3, .type = satin::Type::u8});
  for (int y = 0; y < height; ++y) {
    std::uint8_t* row = picture.view().row<std::uint8_t>(y);
    for (int x = 0; x < width; ++x) {
      Vec3 sum;
      for (int i = 0; i < samples * samples; ++i) {
        const double across = (x + (i % samples + 0.5) / samples - 0.5 * width) * pixel;
        const double up = (0.5 * height - y - (i / samples + 0.5) / samples) * pixel;
        const Vec3 origin{0, 0, distance};
        sum += tone_map(traced(environment, {origin, normalize(Vec3{across, up, 0} - origin)}));
      }
      for (const double value : {sum.x, sum.y, sum.z})
        *row++ = static_cast<std::uint8_t>(std::lround(255 * saturate(value / (samples * samples))));
    }
  }
  return picture;
}

void run(const std::filesystem::path& folder, const std::string& device_name) {
  const satin::WriteOptions overwrite{.overwrite = true, .format = {}};
  std::filesystem::create_directories(folder);
  const satin::Device device = satin::Device::open(device_name);
  const satin::Image map = environment_map(512);
  satin::write_image(folder / "environment.pfm", map, overwrite);
  const Environment environment(device, map);
  satin::write_image(folder / "environment_levels.pfm", environment.levels(), overwrite);
  satin::write_image(folder / "balls.png", render_balls(environment, 960, 390), overwrite);
}

}  // namespace
}  // namespace glossy

int main(int argc, char** argv) {
  CLI::App app(
      "Renders balls before a made-up evening sky and writes balls.png, environment.pfm and "
      "environment_levels.pfm; files of these names are overwritten.");
  std::filesystem::path folder;
  std::string device = "auto";
  app.add_option("-o,--output", folder, "folder to write to; created if need be")->required();
  app.add_option("--device", device, "auto, cpu or cuda:N");
  CLI11_PARSE(app, argc, argv);
  try {
    glossy::run(folder, device);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "satin_glossy: " << error.what() << '\n';
    return 1;
  }
}
