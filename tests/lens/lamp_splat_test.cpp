// The splat of lamps against lamps that are drawn pixel by pixel.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/lens/splat_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

std::vector<LensStyle> styles() {
  std::vector<LensStyle> list(6);
  list[1].bokeh = Bokeh::hexagon;
  list[2].bokeh = Bokeh::polygon;
  list[2].blades = 3;
  list[2].blade_angle = 25;
  list[2].squeeze = 2;
  list[3].onion = 1;
  list[4].cats_eye = 1;
  list[5].bokeh = Bokeh::polygon;
  list[5].blades = 5;
  list[5].blade_curvature = 0.4;
  list[5].cats_eye = 0.7;
  list[5].onion = 0.5;
  list[5].squeeze = 0.5;
  return list;
}

LensScene scene_of_lamps(const SplatJob& job, const LensStyle& style, std::size_t lamps, std::uint64_t seed) {
  LensScene scene = random_scene(job, 20, seed);
  Random random(seed + 1000);
  scene.aperture_table = aperture_table(style);
  scene.job.peak_bits = scene.aperture_table.peak_bits;
  for (std::size_t i = 0; i < lamps; ++i) {
    LensSample sample{};
    for (std::uint32_t& colour : sample.colour) colour = random_colour(job, random);
    sample.x = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(job.width)));
    sample.y = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(job.height)));
    sample.radius = least_lamp_radius +
                    static_cast<std::uint32_t>(random.below(job.largest_radius - least_lamp_radius + 1));
    sample.weight = random.one_in(2) ? lens_full_weight : lens_full_weight / 3;
    sample.block = 1;
    sample.group = static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(job.groups)));
    scene.lamps.push_back({sample, 0});
  }
  return scene;
}

TEST(Lamps, AreDrawnPlaceByPlace) {
  std::uint64_t seed = 1;
  for (const LensStyle& style : styles())
    for (const int channels : {1, 3, 4})
      for (const int colour_bits : {16, 24}) {
        SplatJob job = job_of(75, 41, channels, 2, 11);
        job.colour_bits = colour_bits;
        const LensScene scene = scene_of_lamps(job, style, 12, seed++);
        const std::vector<std::uint32_t> found = run_scene(scene);
        const std::vector<long double> expected = expected_composite(scene);
        for (std::size_t i = 0; i < found.size(); ++i)
          ASSERT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected[i]), 0.76)
              << seed << ", " << i;
      }
}

TEST(Lamps, GiveTheBytesOfTheCpuAroundTilesWithAnyThreads) {
  std::uint64_t seed = 60;
  for (const auto& [width, height] : {std::pair{63, 31}, {65, 33}, {257, 160}, {700, 97}})
    for (const double radius : {5.0, 40.0, 70.0})
      for (const LensStyle& style : styles()) {
        if (radius > 40 && (seed++ % 3 != 0 || slow_build())) continue;
        const SplatJob job = job_of(width, height, 3, 3, radius);
        const LensScene scene = scene_of_lamps(job, style, 9, seed++);
        const std::vector<std::uint32_t> expected = run_scene(scene, Device::open("cpu", {.threads = 1}));
        EXPECT_TRUE(run_scene(scene) == expected) << width << ", radius " << radius;
        LensScene reversed = scene;
        std::reverse(reversed.lamps.begin(), reversed.lamps.end());
        EXPECT_TRUE(run_scene(reversed, Device::open("cpu", {.threads = 5})) == expected);
      }
}

TEST(Lamps, SumsFitWhereMostMeets) {
  // Each pixel is a lamp of the largest colour that just reaches the centre, and has a listed sample too.
  constexpr std::uint32_t largest = (1U << 30U) - 1;
  for (const LensStyle& style : {styles()[0], styles()[5]}) {
    SplatJob job = job_of(41, 41, 1, 1, 20);
    job.colour_bits = 30;
    LensScene scene = scene_of_lamps(job, style, 0, 8);
    scene.listed.clear();
    for (std::int32_t y = 0; y < 41; ++y)
      for (std::int32_t x = 0; x < 41; ++x) {
        const auto at = static_cast<std::size_t>(y * 41 + x);
        scene.weights[at] = 0;
        scene.source[at] = 0;
        const double reach = std::hypot(x - 20.0, y - 20.0) + 1;
        const auto radius = static_cast<std::uint32_t>(std::clamp(reach, 4.0, 20.0) * 256);
        const LensSample sample{{largest}, x, y, radius, lens_full_weight, 1, 0};
        scene.listed.push_back(sample);
        scene.lamps.push_back({sample, 0});
      }
    for (const std::uint32_t value : run_scene(scene)) ASSERT_EQ(value, largest);
  }
}

}  // namespace
}  // namespace satin::test
