// The splat against samples that are spread pixel by pixel.

#include "lens/splat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/lens/splat_case.h"

namespace satin::test {
namespace {

void expect_near(const std::vector<std::uint32_t>& found, const std::vector<long double>& expected,
                 const SplatJob& job) {
  // Half a step from rounding, the rest from compositing.
  const long double error = .5L + (job.colour_bits <= 18 ? .25L : .01L);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_LE(std::abs(static_cast<long double>(found[i]) - expected[i]), error)
        << "x " << i / static_cast<std::size_t>(job.channels) % static_cast<std::size_t>(job.width) << ", y "
        << i / static_cast<std::size_t>(job.channels * job.width) << ": " << found[i];
}

TEST(Splat, SpreadsEverySampleOverItsShape) {
  std::uint64_t seed = 1;
  for (const Bokeh bokeh : {Bokeh::disc, Bokeh::hexagon, Bokeh::square})
    for (const LensQuality quality : {LensQuality::fast, LensQuality::high})
      for (const int channels : {1, 2, 3, 4})
        for (const int colour_bits : {16, 18, 24, 32}) {
          SplatJob job = job_of(40, 33, channels, 1 + static_cast<int>(seed % 5), 9.5);
          job.bokeh = bokeh;
          job.quality = quality;
          job.colour_bits = colour_bits;
          const LensScene scene = random_scene(job, 200, seed++);
          SCOPED_TRACE(seed);
          expect_near(run_scene(scene), expected_composite(scene), job);
        }
}

TEST(Splat, SpreadsSamplesOverOutlines) {
  std::uint64_t seed = 30;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 70}, {70, 1}, {3, 2}, {41, 33}, {80, 30}})
    for (const double radius : {9.5, 20.0, 34.0})
      for (const int channels : {1, 3, 4}) {
        SplatJob job = job_of(width, height, channels, 2, radius);
        job.quality = channels == 1 ? LensQuality::fast : LensQuality::high;
        shape_as_polygon(job, channels == 4 ? 3 : 5, 17);
        const LensScene scene = random_scene(job, static_cast<std::size_t>(width * height / 8), seed++);
        SCOPED_TRACE(testing::Message() << width << " x " << height << ", radius " << radius);
        expect_near(run_scene(scene), expected_composite(scene), job);
      }
}

TEST(Splat, LongRunsOfNeighboursThatHaveOneShape) {
  std::uint64_t seed = 50;
  for (const int channels : {1, 2, 3, 4})
    for (const std::uint32_t step : {0U, 1U, 9U}) {
      SplatJob job = job_of(201, 24, channels, 2, 14);
      if (channels == 3) shape_as_polygon(job, 5, 17);
      LensScene scene = random_scene(job, 0, seed++);
      Random random(seed);
      for (std::size_t i = 0; i < scene.pixels(); ++i) {
        const auto x = static_cast<std::uint32_t>(i % 201);
        scene.radii[i] = 1500 + step * x;
        scene.groups[i] = x < 120 ? 0 : 1;
        scene.weights[i] = random.one_in(40) ? lens_full_weight / 3 : lens_full_weight;
      }
      SCOPED_TRACE(testing::Message() << channels << " channels, step " << step);
      expect_near(run_scene(scene), expected_composite(scene), job);
    }
}

TEST(Splat, TilesFollowTheRadiiOfThePicture) {
  std::uint64_t seed = 60;
  for (const double far : {0.0, 2.5, 30.0})
    for (const auto& [width, height] : {std::pair{400, 60}, {50, 300}}) {
      SplatJob job = job_of(width, height, 3, 3, 40);
      LensScene scene = random_scene(job, 40, seed++);
      Random random(seed);
      for (std::uint32_t& radius : scene.radii) radius %= 700;
      for (LensSample& sample : scene.listed) sample.radius %= 900;
      // One sample of each kind reaches far beyond all others.
      scene.radii[random.below(scene.radii.size())] = static_cast<std::uint32_t>(256 * far);
      scene.listed[0].radius = static_cast<std::uint32_t>(300 * far);
      SCOPED_TRACE(testing::Message() << width << " x " << height << ", " << far);
      expect_near(run_scene(scene), expected_composite(scene), job);
    }
}

TEST(Splat, PicturesOfAnySize) {
  std::uint64_t seed = 100;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 70}, {70, 1}, {2, 3}, {31, 33}, {65, 64}, {129, 127}, {300, 20}})
    for (const double radius : {0.0, 0.7, 3.0, 30.0}) {
      const SplatJob job = job_of(width, height, 3, 3, radius);
      const LensScene scene = random_scene(job, static_cast<std::size_t>(width * height / 8), seed++);
      SCOPED_TRACE(testing::Message() << width << " x " << height << ", radius " << radius);
      expect_near(run_scene(scene), expected_composite(scene), job);
    }
}

TEST(Splat, AConstantPictureStaysConstant) {
  for (const int colour_bits : {16, 18, 24, 32})
    for (const double radius : {4.0, 40.0}) {
      SplatJob job = job_of(150, 97, 3, 4, radius);
      job.colour_bits = colour_bits;
      LensScene scene = random_scene(job, 500, 7);
      const std::uint32_t largest = ~0U >> (32 - colour_bits);
      const std::uint32_t colour[3] = {largest, largest / 3, 1};
      for (std::size_t i = 0; i < scene.colours.size(); ++i)
        scene.colours[i] = scene.source[i] = colour[i % 3];
      for (LensSample& sample : scene.listed) std::copy_n(colour, 3, sample.colour);
      const std::vector<std::uint32_t> found = run_scene(scene);
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], colour[i % 3]) << i;
    }
}

TEST(Splat, ASurfaceIsOpaqueUpToTheBorderOfThePicture) {
  // Samples of another colour are hidden behind all of it.
  for (const LensQuality quality : {LensQuality::fast, LensQuality::high})
    for (const double radius : {3.0, 14.0, 31.0, 70.0}) {
      SplatJob job = job_of(97, 64, 3, 2, radius);
      job.quality = quality;
      LensScene scene = random_scene(job, 0, 7);
      std::fill(scene.colours.begin(), scene.colours.end(), 40000U);
      std::fill(scene.radii.begin(), scene.radii.end(), job.largest_radius);
      std::fill(scene.groups.begin(), scene.groups.end(), std::uint8_t{0});
      std::fill(scene.weights.begin(), scene.weights.end(), static_cast<std::uint16_t>(lens_full_weight));
      for (std::int32_t y = 0; y < 64; ++y)
        for (std::int32_t x = 0; x < 97; ++x)
          scene.listed.push_back({{100, 65535, 3000}, x, y, job.largest_radius, lens_full_weight, 1, 1});
      for (const std::uint32_t value : run_scene(scene)) ASSERT_NEAR(value, 40000, 2) << radius;
    }
}

TEST(Splat, FocusKeepsTheColours) {
  const SplatJob job = job_of(50, 40, 4, 2, 20);
  LensScene scene = random_scene(job, 0, 3);
  for (std::size_t i = 0; i < scene.pixels(); ++i) {
    scene.radii[i] = static_cast<std::uint32_t>(i % (lens_focus_radius + 1));
    scene.weights[i] = lens_full_weight;
  }
  EXPECT_EQ(run_scene(scene), scene.colours);
}

TEST(Splat, TheSourceShowsWhereNothingArrives) {
  const SplatJob job = job_of(64, 20, 3, 2, 5);
  LensScene scene = random_scene(job, 0, 4);
  std::fill(scene.weights.begin(), scene.weights.end(), std::uint16_t{0});
  EXPECT_EQ(run_scene(scene), scene.source) << "no sample at all";
  scene.weights[10 * 64 + 30] = 1;
  scene.radii[10 * 64 + 30] = 5 * 256;
  const std::vector<std::uint32_t> found = run_scene(scene);
  const auto pixel = [&](const std::vector<std::uint32_t>& picture, std::size_t x, std::size_t y) {
    return std::vector<std::uint32_t>(picture.begin() + static_cast<std::ptrdiff_t>((y * 64 + x) * 3),
                                      picture.begin() + static_cast<std::ptrdiff_t>((y * 64 + x) * 3 + 3));
  };
  EXPECT_EQ(pixel(found, 33, 10), pixel(scene.colours, 30, 10)) << "one light sample covers it alone";
  EXPECT_EQ(pixel(found, 37, 10), pixel(scene.source, 37, 10));
  EXPECT_EQ(pixel(found, 30, 17), pixel(scene.source, 30, 17));
}

TEST(Splat, NearerGroupsHideFartherOnes) {
  const SplatJob job = job_of(9, 9, 1, 3, 1);
  LensScene scene = random_scene(job, 0, 5);
  std::fill(scene.radii.begin(), scene.radii.end(), 0U);
  std::fill(scene.groups.begin(), scene.groups.end(), std::uint8_t{1});
  std::fill(scene.colours.begin(), scene.colours.end(), 1000U);
  std::fill(scene.weights.begin(), scene.weights.end(), static_cast<std::uint16_t>(lens_full_weight));
  scene.listed = {{{60000}, 4, 4, 0, lens_full_weight / 4, 1, 0}, {{50000}, 4, 4, 0, lens_full_weight, 1, 2}};
  const std::vector<std::uint32_t> found = run_scene(scene);
  EXPECT_EQ(found[4 * 9 + 4], 60000U / 4 + 750U);
  EXPECT_EQ(found[4 * 9 + 5], 1000U);
}

TEST(Splat, ReadsNoMoreOfTheListThanThereIs) {
  const SplatJob job = job_of(61, 45, 3, 2, 12);
  const LensScene scene = random_scene(job, 300, 6);
  EXPECT_EQ(run_scene(scene, device_under_test(), 1000), run_scene(scene)) << "a count above the capacity";
  LensScene without = scene;
  without.listed.clear();
  LensScene reversed = scene;
  std::reverse(reversed.listed.begin(), reversed.listed.end());
  EXPECT_EQ(run_scene(reversed), run_scene(scene)) << "the order of the list";
  EXPECT_NE(run_scene(without), run_scene(scene));
  expect_near(run_scene(without), expected_composite(without), job);
}

}  // namespace
}  // namespace satin::test
