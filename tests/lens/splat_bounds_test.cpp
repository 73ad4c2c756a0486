// The splat where its sums are largest, and the same bytes from each device, SIMD target and number of
// threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lens/splat.h"
#include "tests/lens/splat_case.h"
#include "tests/oracles/forced_target.h"

namespace satin::test {
namespace {

TEST(Splat, SumsFitWhereMostMeets) {
  // Each radius just reaches the centre, all colours are the largest, two samples per pixel.
  SplatJob job = job_of(129, 129, 1, 1, 64);
  job.colour_bits = 32;
  LensScene scene = random_scene(job, 0, 8);
  for (std::int64_t y = 0; y < 129; ++y)
    for (std::int64_t x = 0; x < 129; ++x) {
      const auto at = static_cast<std::size_t>(y * 129 + x);
      const auto reach = std::hypot(static_cast<double>(x - 64), static_cast<double>(y - 64)) + 1;
      scene.radii[at] = static_cast<std::uint32_t>(std::min(64.0, reach) * 256);
      scene.colours[at] = scene.source[at] = ~0U;
      scene.weights[at] = lens_full_weight;
      scene.listed.push_back({{~0U},
                              static_cast<std::int32_t>(x),
                              static_cast<std::int32_t>(y),
                              scene.radii[at],
                              lens_full_weight,
                              1,
                              0});
    }
  for (const std::uint32_t value : run_scene(scene)) ASSERT_EQ(value, ~0U);
}

TEST(Splat, LowPartsOfShortSumsFitWhereMostMeet) {
  // All samples that reach the picture's corner have a corner there.
  constexpr int low_bits = 19;
  for (const auto& [radius, quality] : {std::pair{40.0, LensQuality::fast},
                                        {40.0, LensQuality::high},
                                        {41.0, LensQuality::high},
                                        {64.0, LensQuality::fast}}) {
    SplatJob job = job_of(129, 129, 1, 1, radius);
    job.quality = quality;
    if (radius == 41) shape_as_polygon(job, 3, 17);
    const std::uint64_t share = lens_kernels(job).kernels[job.largest_radius].weight[0];
    const auto low_part = [&](std::uint32_t colour) {
      return static_cast<std::int64_t>(colour * share << (64 - low_bits)) >> (64 - low_bits);
    };
    std::uint32_t lowest = 1;
    std::uint32_t highest = 1;
    for (std::uint32_t colour = 2; colour <= 0xFFFF; ++colour) {
      if (low_part(colour) < low_part(lowest)) lowest = colour;
      if (low_part(colour) > low_part(highest)) highest = colour;
    }
    for (const std::uint32_t colour : {lowest, highest}) {
      LensScene scene = random_scene(job, 0, 8);
      std::fill(scene.colours.begin(), scene.colours.end(), colour);
      std::fill(scene.radii.begin(), scene.radii.end(), job.largest_radius);
      std::fill(scene.weights.begin(), scene.weights.end(), static_cast<std::uint16_t>(lens_full_weight));
      for (const std::uint32_t value : run_scene(scene)) ASSERT_EQ(value, colour);
    }
  }
}

TEST(Splat, GivesTheBytesOfTheCpuWithAnyThreads) {
  std::uint64_t seed = 40;
  for (const int groups : {1, 3, 8})
    for (const double radius : {2.0, 17.0, 64.0}) {
      const LensScene scene = random_scene(job_of(700, 391, 3, groups, radius), 20000, seed++);
      const std::vector<std::uint32_t> expected = run_scene(scene, Device::open("cpu", {.threads = 1}));
      EXPECT_TRUE(run_scene(scene) == expected) << radius;
      EXPECT_TRUE(run_scene(scene, Device::open("cpu", {.threads = 5})) == expected) << radius;
    }
}

TEST(Splat, GivesTheBytesOfTheCpuAroundTiles) {
  // Radii below, at and above the reach of tiles, in short and in long sums.
  std::uint64_t seed = 200;
  for (const auto& [width, height] : {std::pair{63, 31}, {64, 32}, {65, 33}, {127, 97}, {257, 160}})
    for (const double radius : {1.5, 32.0, 41.0, 47.0, 64.0, 70.0, 90.0})
      for (const int channels : {1, 2, 3, 4}) {
        SplatJob job = job_of(width, height, channels, 4, radius);
        job.quality = channels == 2 ? LensQuality::fast : LensQuality::high;
        job.colour_bits = channels == 4 ? 24 : 16;
        if (channels > 2) shape_as_polygon(job, channels, 17);
        const LensScene scene = random_scene(job, static_cast<std::size_t>(width), seed++);
        EXPECT_TRUE(run_scene(scene) == run_scene(scene, Device::open("cpu")))
            << width << " x " << height << " x " << channels << ", radius " << radius;
      }
}

TEST(Splat, GivesTheSameBytesFromEverySimdTarget) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "SIMD is the CPU's";
  const Device device = Device::open("cpu");
  for (const int channels : {1, 2, 3, 4})
    for (const int colour_bits : {18, 32}) {
      SplatJob job = job_of(150, 61, channels, 3, 11);
      job.colour_bits = colour_bits;
      const LensScene scene = random_scene(job, 700, 60);
      const std::vector<std::uint32_t> expected = run_scene(scene, device);
      for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        const ForcedTarget forced(target);
        EXPECT_TRUE(run_scene(scene, device) == expected)
            << hwy::TargetName(target) << ", " << channels << " channels of " << colour_bits << " bits";
      }
    }
}

}  // namespace
}  // namespace satin::test
