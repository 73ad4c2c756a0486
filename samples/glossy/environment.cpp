#include "environment.h"

#include <array>

#include "satin/filters/gloss.h"

namespace glossy {
namespace {

using namespace scene;

constexpr int level_count = 9;

/// A disc of light.
struct Lamp {
  Lamp(Vec3 direction, double radius, Vec3 shine)
      : towards(normalize(direction)), edge(std::cos(radius)), light(shine) {}

  Vec3 towards;
  double edge;  ///< cosine of the disc's angular radius
  Vec3 light;
};

const std::array<Lamp, 7> lamps = {{{{0.75, 0.16, -0.64}, 0.05, {60, 34, 14}},
                                    {{-0.80, 0.62, -0.45}, 0.10, {14, 13, 11}},
                                    {{-0.20, 0.55, -0.90}, 0.07, {11, 12, 15}},
                                    {{0.35, 0.70, -0.70}, 0.05, {16, 9, 6}},
                                    {{0.90, 0.50, 0.30}, 0.08, {5, 9, 14}},
                                    {{-0.90, 0.20, 0.60}, 0.09, {12, 4, 3}},
                                    {{0.10, 0.35, 0.95}, 0.06, {4, 12, 6}}}};

Vec3 sky(Vec3 d) {
  const Vec3 low{0.95, 0.42, 0.18}, high{0.07, 0.12, 0.30};
  const Vec3 clear = mix(low, high, smoothstep(-0.05, 0.55, d.y));
  const double above = d.y + 0.12;
  const double clouds = smoothstep(0.50, 0.72, fractal_noise(Vec3{d.x, 0, d.z} * (1.3 / above), 5));
  return mix(clear, mix(Vec3{1.1, 0.55, 0.35}, Vec3{0.20, 0.19, 0.27}, saturate(d.y * 1.6)), 0.7 * clouds);
}

/// Tiles of two kinds of stone, fading into haze.
Vec3 ground(Vec3 d) {
  const double distance = -1 / d.y;
  const int square =
      static_cast<int>(std::floor(d.x * distance)) + static_cast<int>(std::floor(d.z * distance));
  const Vec3 stone = (square & 1) != 0 ? Vec3{0.34, 0.30, 0.26} : Vec3{0.07, 0.07, 0.08};
  return mix(stone, {0.55, 0.28, 0.16}, smoothstep(2, 14, distance));
}

/// Colatitude 0 is up; longitude 0 is behind the viewer, who looks along -z.
Vec3 direction_of(double column, double row, int width) {
  const double longitude = 2 * pi * column / width;
  const double colatitude = 2 * pi * row / width;
  return {-std::sin(colatitude) * std::sin(longitude), std::cos(colatitude),
          std::sin(colatitude) * std::cos(longitude)};
}

}  // namespace

Vec3 radiance(Vec3 direction) {
  for (const Lamp& lamp : lamps)
    if (dot(direction, lamp.towards) > lamp.edge) return lamp.light;
  return direction.y >= 0 ? sky(direction) : ground(direction);
}

satin::Image environment_map(int width) {
  constexpr int samples = 2;
  satin::Image map({.width = width, .height = width / 2, .channels = 3, .type = satin::Type::f32});
  for (int y = 0; y < width / 2; ++y) {
    float* row = map.view().row<float>(y);
    for (int x = 0; x < width; ++x) {
      Vec3 sum;
      for (int i = 0; i < samples * samples; ++i)
        sum += radiance(
            direction_of(x + (i % samples + 0.5) / samples, y + (i / samples + 0.5) / samples, width));
      for (const double value : {sum.x, sum.y, sum.z})
        *row++ = static_cast<float>(value / (samples * samples));
    }
  }
  return map;
}

Environment::Environment(const satin::Device& device, const satin::Image& map)
    : levels_(satin::gloss(device, map, {.roughness = 1, .levels = level_count})),
      width_(static_cast<int>(map.shape().width)),
      height_(static_cast<int>(map.shape().height)) {}

Vec3 Environment::reflected(Vec3 direction, double roughness) const {
  if (roughness <= 0) return radiance(direction);
  const double longitude = std::atan2(-direction.x, direction.z);
  const double x = fraction(longitude / (2 * pi)) * width_ - 0.5;
  const double y = std::acos(std::clamp(direction.y, -1.0, 1.0)) / pi * height_ - 0.5;
  const double level = roughness * (level_count - 1);
  const int lower = std::min(static_cast<int>(level), level_count - 2);
  return mix(level_at(lower, x, y), level_at(lower + 1, x, y), level - lower);
}

Vec3 Environment::level_at(int level, double x, double y) const {
  const int left = static_cast<int>(std::floor(x));
  const int top = static_cast<int>(std::floor(y));
  const auto pixel = [&](int u, int v) {
    const float* row = levels_.view().row<float>(level * height_ + std::clamp(v, 0, height_ - 1));
    const float* at = row + 3 * ((u + width_) % width_);
    return Vec3{at[0], at[1], at[2]};
  };
  return mix(mix(pixel(left, top), pixel(left + 1, top), x - left),
             mix(pixel(left, top + 1), pixel(left + 1, top + 1), x - left), y - top);
}

}  // namespace glossy
