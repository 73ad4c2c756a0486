// gloss() against the convolution that it approximates, and properties that hold for every map.
// lobe_mean_test.cpp tests the sums.

#include "satin/filters/gloss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "lobes/lobe_mean.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr double pi = std::numbers::pi;
// --- The filter ---

Image run(const Image& map, const Gloss& gloss) {
  const Device& device = device_under_test();
  Plan plan = satin::plan(device, map.shape(), gloss);
  const std::array inputs = {map.view()};
  return run_plan(device, plan, inputs);
}

/// Pixel (x, y) of the result is pixel source(x, y) of the picture.
template <class Source>
Image rearranged(const Image& picture, const Source& source) {
  Image result(picture.shape());
  const Shape& shape = picture.shape();
  const std::size_t pixel = size_of(shape.type) * static_cast<std::size_t>(shape.channels);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto [u, v] = source(x, y);
      std::memcpy(result.view().at(x, y), picture.view().at(u, v), pixel);
    }
  return result;
}

using Place = std::pair<std::int64_t, std::int64_t>;

const std::array<Shape, 6> shapes = {{{64, 32, 3, Type::u8},
                                      {33, 18, 1, Type::u16},
                                      {48, 24, 3, Type::f32},
                                      {20, 10, 4, Type::u8, Alpha::straight},
                                      {1, 2, 3, Type::f32},
                                      {130, 4, 2, Type::u8}}};

/// At roughness 1 lobes are averaged over cells of 16, 2, 4 and 2 pixels; at 0.2 all but the first over
/// pixels.
const std::array<Shape, 4> shapes_of_cells = {{{1024, 512, 1, Type::u8},
                                               {140, 70, 4, Type::u8, Alpha::straight},
                                               {256, 120, 2, Type::u16},
                                               {128, 66, 4, Type::f32, Alpha::straight}}};

std::vector<Shape> all_shapes() {
  std::vector<Shape> all(shapes.begin(), shapes.end());
  all.insert(all.end(), shapes_of_cells.begin(), shapes_of_cells.end());
  return all;
}

/// Side of the cells for lobes of this roughness.
std::int64_t cell_of(const Shape& shape, double roughness) {
  LobeMeanJob job;
  job.width = shape.width;
  job.height = shape.height;
  job.row_weights = row_weights(shape.height);
  add_ggx_level(job, roughness);
  return job.levels.front().cell;
}

TEST(Gloss, WideLobesAreAveragedOverCells) {
  const Shape large{3840, 2160, 3, Type::u8};
  EXPECT_EQ(cell_of(large, 0.1), 1);
  EXPECT_EQ(cell_of(large, 0.2), 4);
  EXPECT_EQ(cell_of(large, 0.5), 16);
  EXPECT_EQ(cell_of({3840, 2158, 3, Type::u8}, 0.5), 2) << "divides the height";
  EXPECT_EQ(cell_of({3848, 2160, 3, Type::u8}, 0.5), 8) << "divides the width";
  EXPECT_EQ(cell_of({1016, 512, 3, Type::u8}, 1), 8) << "leaves 64 columns";
  EXPECT_EQ(cell_of(shapes_of_cells[0], 1), 16);
  EXPECT_EQ(cell_of(shapes_of_cells[1], 1), 2);
  EXPECT_EQ(cell_of(shapes_of_cells[2], 1), 4);
  EXPECT_EQ(cell_of(shapes_of_cells[3], 1), 2);
  for (const Shape& shape : shapes) EXPECT_EQ(cell_of(shape, 1), 1);
}

TEST(Gloss, DevicesTargetsAndThreadsGiveTheSameBytes) {
  for (const Shape& shape : shapes_of_cells) {
    const Image map = random_picture(shape, 6);
    const Gloss wanted{.roughness = 1, .levels = 5};
    const Image result = run(map, wanted);
    DeviceOptions options;
    options.threads = 3;
    EXPECT_EQ(difference(gloss(Device::open("cpu", options), map, wanted), result), "") << describe(shape);
    const ForcedTarget forced(hwy::SupportedAndGeneratedTargets().back());
    EXPECT_EQ(difference(gloss(Device::open("cpu"), map, wanted), result), "") << describe(shape);
  }
}

TEST(Gloss, ConstantMapsStayConstant) {
  for (const Shape& shape : all_shapes())
    for (const double value : {0.0, 0.3, 0.7371, 1.0}) {
      if (slow_build() && value != 0.7371) continue;
      const Image map = constant_picture(shape, value);
      for (const double roughness : {0.01, 0.1, 0.35, 0.6, 1.0})
        ASSERT_EQ(difference(run(map, {.roughness = roughness}), map), "")
            << describe(shape) << ", roughness " << roughness << ", value " << value;
    }
}

void expect_turned(const Image& map, double roughness, std::int64_t turn) {
  const std::int64_t width = map.shape().width;
  const auto turned = [&](std::int64_t x, std::int64_t y) { return Place{(x + turn) % width, y}; };
  ASSERT_EQ(difference(run(rearranged(map, turned), {.roughness = roughness}),
                       rearranged(run(map, {.roughness = roughness}), turned)),
            "")
      << describe(map.shape()) << ", roughness " << roughness << ", by " << turn;
}

TEST(Gloss, TurningTheMapTurnsTheResult) {
  for (const Shape& shape : shapes)
    for (const double roughness : {0.2, 0.5, 1.0})
      for (const std::int64_t turn : {std::int64_t{1}, shape.width / 2, shape.width - 1})
        expect_turned(random_picture(shape, 3), roughness, turn);
  for (const Shape& shape : shapes_of_cells)
    for (const double roughness : {0.2, 0.5, 1.0})
      for (const std::int64_t cells : slow_build() ? std::vector{7} : std::vector{1, 7})
        expect_turned(random_picture(shape, 3), roughness, cells * cell_of(shape, roughness));
}

TEST(Gloss, MirroringTheMapMirrorsTheResult) {
  for (const Shape& shape : all_shapes()) {
    const Image map = random_picture(shape, 4);
    const auto sideways = [&](std::int64_t x, std::int64_t y) { return Place{shape.width - 1 - x, y}; };
    const auto upside_down = [&](std::int64_t x, std::int64_t y) { return Place{x, shape.height - 1 - y}; };
    for (const double roughness : {0.05, 0.2, 0.5, 1.0}) {
      if (slow_build() && roughness < 0.5) continue;
      const Image result = run(map, {.roughness = roughness});
      ASSERT_EQ(
          difference(run(rearranged(map, sideways), {.roughness = roughness}), rearranged(result, sideways)),
          "")
          << describe(shape) << ", roughness " << roughness;
      if (shape.height / cell_of(shape, roughness) % 2 != 0) continue;  // a row on the equator
      ASSERT_EQ(difference(run(rearranged(map, upside_down), {.roughness = roughness}),
                           rearranged(result, upside_down)),
                "")
          << describe(shape) << ", roughness " << roughness;
    }
  }
}

TEST(Gloss, LevelsAreTheRunsOfTheirRoughness) {
  for (const Shape& shape : all_shapes()) {
    const Image map = random_picture(shape, 5);
    const Image levels = run(map, {.roughness = 0.75, .levels = 4});
    ASSERT_EQ(levels.shape().height, 4 * shape.height);
    for (int level = 0; level < 4; ++level) {
      const Image alone = run(map, {.roughness = 0.25 * level});
      const std::size_t bytes = byte_size(shape);
      ASSERT_EQ(std::memcmp(levels.data() + static_cast<std::size_t>(level) * bytes, alone.data(), bytes), 0)
          << describe(shape) << ", level " << level;
    }
    ASSERT_EQ(difference(run(map, {.roughness = 0}), map), "");
  }
}

TEST(Gloss, Refusals) {
  const Shape shape{8, 4, 3, Type::u8};
  const auto planned = [&](const Gloss& gloss) { return satin::plan(device_under_test(), shape, gloss); };
  for (const double roughness : {-0.1, 1.5, std::nan("")})
    expect_error(ErrorKind::usage, "roughness", [&] { return planned({.roughness = roughness}); });
  for (const int levels : {0, 17})
    expect_error(ErrorKind::usage, "levels", [&] { return planned({.levels = levels}); });
  for (const std::int64_t width : {1, 2049}) {
    const auto with_height = [&](std::int64_t height) {
      return satin::plan(device_under_test(), {width, height, 1, Type::u8}, Gloss{.roughness = 0.01});
    };
    EXPECT_NO_THROW(with_height(std::max<std::int64_t>(width, 2048)));
    expect_error(ErrorKind::usage, "square of its height",
                 [&] { return with_height(std::max<std::int64_t>(width, 2048) + 1); });
  }
  Image map = constant_picture({8, 4, 1, Type::f32}, 0.5);
  map.view().value<float>(3, 2) = std::nanf("");
  expect_error(ErrorKind::input, "NaN", [&] { return gloss(device_under_test(), map); });
}

// --- Against the convolution ---

struct Direction {
  double x, y, z;
};

Direction direction_of(double column, double row, const Shape& shape) {
  const double longitude = 2 * pi * column / static_cast<double>(shape.width);
  const double colatitude = pi * row / static_cast<double>(shape.height);
  return {std::sin(colatitude) * std::cos(longitude), std::sin(colatitude) * std::sin(longitude),
          std::cos(colatitude)};
}

/// A sky with a gradient, a horizon, a pattern and three lamps, one of them near a pole, one at the seam.
double radiance(const Direction& d) {
  double light = d.z > 0 ? 0.3 + 0.5 * d.z : 0.1 + 0.05 * std::sin(9 * std::atan2(d.y, d.x));
  light += 0.2 * (std::sin(7 * d.x + 3) * std::sin(11 * d.y) > 0.3 ? 1 : 0);
  const std::array<Direction, 3> lamps = {{{0.1, 0.05, 0.9937}, {0.98, 0.0, 0.199}, {-0.6, 0.7, -0.387}}};
  for (const Direction& lamp : lamps)
    if (d.x * lamp.x + d.y * lamp.y + d.z * lamp.z > std::cos(0.09)) light += 20;
  return light;
}

Image environment(const Shape& shape) {
  Image map(shape);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      map.view().value<float>(x, y) = static_cast<float>(
          radiance(direction_of(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, shape)));
  return map;
}

/// A map as light from directions, samples x samples per pixel.
class Sphere {
 public:
  Sphere(const ImageView& map, int samples) : shape_(map.shape) {
    for (std::int64_t v = 0; v < shape_.height; ++v)
      for (int j = 0; j < samples; ++j) {
        const double row = static_cast<double>(v) + (j + 0.5) / samples;
        const double solid_angle = std::sin(pi * row / static_cast<double>(shape_.height));
        for (std::int64_t u = 0; u < shape_.width; ++u)
          for (int i = 0; i < samples; ++i)
            points_.push_back({direction_of(static_cast<double>(u) + (i + 0.5) / samples, row, shape_),
                               solid_angle, static_cast<double>(map.value<float>(u, v))});
      }
  }

  /// The mean over the lobe around a pixel.
  [[nodiscard]] double convolved(std::int64_t x, std::int64_t y, double roughness) const {
    const double alpha2 = std::pow(roughness, 4);
    const Direction to = direction_of(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, shape_);
    double sum = 0;
    double weights = 0;
    for (const Point& point : points_) {
      const Direction& from = point.direction;
      const double cosine = from.x * to.x + from.y * to.y + from.z * to.z;
      if (cosine <= 0) continue;
      const double half2 = (1 + cosine) / 2;
      const double d = half2 * (alpha2 - 1) + 1;
      const double weight = cosine / (d * d) * point.solid_angle;
      sum += weight * point.value;
      weights += weight;
    }
    return sum / weights;
  }

 private:
  struct Point {
    Direction direction;
    double solid_angle;
    double value;
  };
  Shape shape_;
  std::vector<Point> points_;
};

struct Deviation {
  double relative_rms;  ///< rms of the difference / rms of the convolution
  double mean_change;   ///< relative change of the mean over all directions
};

/// Compares one in `every` pixels, as the oracle is slow.
Deviation deviation_from_convolution(const Image& map, const Sphere& sphere, double roughness, int every) {
  const Shape& shape = map.shape();
  const Image result = run(map, {.roughness = roughness});
  double difference2 = 0;
  double expected2 = 0;
  double sum_before = 0;
  double sum_after = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const double solid_angle =
        std::sin(pi * (static_cast<double>(y) + 0.5) / static_cast<double>(shape.height));
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double value = result.view().value<float>(x, y);
      sum_before += solid_angle * static_cast<double>(map.view().value<float>(x, y));
      sum_after += solid_angle * value;
      if ((x * 7 + y) % every != 0) continue;
      const double expected = sphere.convolved(x, y, roughness);
      difference2 += solid_angle * (value - expected) * (value - expected);
      expected2 += solid_angle * expected * expected;
    }
  }
  return {std::sqrt(difference2 / expected2), sum_after / sum_before - 1};
}

struct MostDeviation {
  double roughness;
  double rms;
};

void expect_near_convolution(const Shape& shape, int samples, int every,
                             const std::vector<MostDeviation>& bounds) {
  const Image map = environment(shape);
  const Sphere sphere(map.view(), samples);
  for (const auto& [roughness, most] : bounds) {
    const Deviation found = deviation_from_convolution(map, sphere, roughness, every);
    EXPECT_LT(found.relative_rms, most) << "roughness " << roughness;
    EXPECT_LT(std::abs(found.mean_change), 0.001) << "roughness " << roughness;
    const std::string at = std::to_string(shape.width) + "_at_" + std::to_string(roughness);
    testing::Test::RecordProperty("rms_" + at, std::to_string(found.relative_rms));
    testing::Test::RecordProperty("mean_" + at, std::to_string(found.mean_change));
  }
}

TEST(Gloss, IsNearTheConvolution) {
  if (slow_build()) GTEST_SKIP() << "the oracle is slow";
  const Shape small{128, 64, 1, Type::f32};
  expect_near_convolution(small, 4, 61, {{0.2, 0.03}});
  expect_near_convolution(small, 2, 61, {{0.35, 0.03}, {0.5, 0.03}, {0.7, 0.03}, {1.0, 0.025}});
  // cells of 2, 4, 8 and 8 pixels
  expect_near_convolution({512, 256, 1, Type::f32}, 2, 1201,
                          {{0.2, 0.03}, {0.35, 0.02}, {0.5, 0.02}, {0.7, 0.02}, {1.0, 0.015}});
}

}  // namespace
}  // namespace satin::test
