// Unmixing of silhouettes: colours are held to those around, and lamps continue behind nearer surfaces.

#include "lens/maths/visible_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/lens/layers_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

TEST(Silhouette, UnmixedColoursAreHeldToThoseAround) {
  const int width = 120;
  const int height = 90;
  const Image picture = random_picture({width, height, 3, Type::u8}, 2);
  const Layers plain =
      layers_of(device_under_test(), picture, std::vector<std::int32_t>(width * height), 5);  // no silhouette
  const Layers layers = layers_of(device_under_test(), picture, random_radii(width, height, 3), 5);
  const auto expect_held = [&](int x, int y, const std::uint32_t* colour) {
    for (std::size_t c = 0; c < 3; ++c) {
      std::uint32_t low = ~0U;
      std::uint32_t high = 0;
      for (int v = std::max(0, y - 2); v <= std::min(height - 1, y + 2); ++v)
        for (int u = std::max(0, x - 2); u <= std::min(width - 1, x + 2); ++u) {
          low = std::min(low, plain.colours[3 * plain.at(u, v) + c]);
          high = std::max(high, plain.colours[3 * plain.at(u, v) + c]);
        }
      EXPECT_TRUE(colour[c] >= low && colour[c] <= high) << x << ", " << y;
    }
  };
  int edges = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (layers.edges[layers.at(x, y)] == 0) continue;
      ++edges;
      expect_held(x, y, &layers.colours[3 * layers.at(x, y)]);
    }
  for (const LensSample& sample : layers.separate) expect_held(sample.x, sample.y, sample.colour);
  EXPECT_GT(edges, 300);
  EXPECT_GT(layers.separate.size(), 100U);
}

constexpr int side = 64;
constexpr int edge = 32;  ///< first column of the farther half

float light_at(const Layers& layers, int x, int y) {
  return lens_light(layers.colours[3 * layers.at(x, y)], layers.unit);
}

std::vector<std::int32_t> near_half(std::int32_t near = 10 * 256, std::int32_t far = 0) {
  std::vector<std::int32_t> radii(side * side, far);
  for (std::size_t i = 0; i < radii.size(); ++i)
    if (i % side < edge) radii[i] = near;
  return radii;
}

/// The nearer half, the farther half, and one pixel of another light.
Image halves(float near, float far, int x, int y, float light) {
  Image picture({side, side, 3, Type::f32});
  for (int v = 0; v < side; ++v)
    for (int u = 0; u < side; ++u)
      for (int c = 0; c < 3; ++c)
        picture.view().row<float>(v)[3 * u + c] = u == x && v == y ? light : u < edge ? near : far;
  return picture;
}

TEST(Silhouette, PixelsOfSoftDepthThatLookLikeTheOtherSideDoNotKeepItsColour) {
  const Image picture = halves(0.9F, 0.2F, edge, 30, 0.95F);
  const auto far_light = [&](bool soft) {
    const Layers layers = layers_of(device_under_test(), picture, near_half(), 5, 0, soft);
    return lens_light(layers.colours[3 * layers.at(edge, 30)], layers.unit);
  };
  EXPECT_GT(far_light(false), 0.21F);
  EXPECT_NEAR(far_light(true), 0.2F, 1e-4F);
}

TEST(Silhouette, ALampBesideWhatIsNearerLiesBehindIt) {
  const Layers layers =
      layers_of(device_under_test(), halves(0.1F, 0.05F, edge - 1, 30, 20), near_half(), 5, 0);
  EXPECT_LT(lens_light(layers.colours[3 * layers.at(edge - 1, 30)], layers.unit), 0.2F);
  const Layers bright =
      layers_of(device_under_test(), halves(2.0F, 0.05F, edge - 1, 30, 20), near_half(), 5, 0);
  EXPECT_GT(lens_light(bright.colours[3 * bright.at(edge - 1, 30)], bright.unit), 3);
}

TEST(Silhouette, ALampCutByAThinBarLiesBehindIt) {
  // A blurred wall with a bright bar of one column, all of whose pixels are edges, and a lamp that it cuts.
  std::vector<std::int32_t> radii(side * side, -10 * 256);
  Image picture({side, side, 3, Type::f32});
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      if (x == edge) radii[static_cast<std::size_t>(y * side + x)] = 0;
      for (int c = 0; c < 3; ++c)
        picture.view().row<float>(y)[3 * x + c] = x == edge ? 1.1F : x == edge + 1 && y == 30 ? 20.0F : 0.05F;
    }
  const Layers layers = layers_of(device_under_test(), picture, radii, 5, 0);
  const auto near = std::ranges::find_if(
      layers.separate, [](const LensSample& sample) { return sample.x == edge + 1 && sample.y == 30; });
  EXPECT_GT(light_at(layers, edge + 1, 30), 19);
  if (near != layers.separate.end()) {
    EXPECT_LT(lens_light(near->colour[0], layers.unit), 2);
  }
}

TEST(Silhouette, ALampBehindIsNotHeldToWhatShowsOfIt) {
  // The picture has light above white elsewhere. The lamp shows in one pixel that mixes both sides.
  Image picture = halves(0.1F, 0.05F, edge, 30, 0.9F);
  picture.view().row<float>(2)[0] = 4;
  const Layers layers = layers_of(device_under_test(), picture, near_half(), 5, 0);
  EXPECT_GT(light_at(layers, edge, 30), 0.95F);
}

/// A sharp nearer half of 8 bits before a blurred darker one, with white pixels of row 30 from `first` on.
Layers clipped_lamp(int first, int last) {
  Image picture({side, side, 3, Type::u8});
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      for (int c = 0; c < 3; ++c)
        picture.view().value<std::uint8_t>(x, y, c) = y == 30 && x >= first && x < last ? 255
                                                      : x < edge                        ? 140
                                                                                        : 60;
  return layers_of(device_under_test(), picture, near_half(0, -10 * 256), 5, 0);
}

TEST(Silhouette, AClippedLampThatIsHalfBehindLiesBehind) {
  const Layers layers = clipped_lamp(edge - 1, edge + 1);
  EXPECT_NEAR(light_at(layers, edge - 1, 30), light_at(layers, edge - 3, 30), 1e-3);
  EXPECT_GT(light_at(layers, edge, 30), 0.9F);
  const auto near = std::ranges::find_if(
      layers.separate, [](const LensSample& sample) { return sample.x == edge && sample.y == 30; });
  ASSERT_NE(near, layers.separate.end());
  EXPECT_EQ(near->weight, lens_full_weight / 4) << "by depth alone";
}

TEST(Silhouette, AHighlightOfTheNearerSideStays) {
  EXPECT_GT(light_at(clipped_lamp(edge - 1, edge), edge - 1, 30), 0.9F) << "nothing behind is as bright";
  EXPECT_GT(light_at(clipped_lamp(edge - 4, edge + 1), edge - 1, 30), 0.9F) << "the nearer side is as bright";
}

TEST(Silhouette, WhatIsHiddenBesideALampIsTheLinearMeanAround) {
  const Layers layers =
      layers_of(device_under_test(), halves(0.1F, 0.05F, edge, 30, 19.05F), near_half(), 5, 0);
  const auto hidden = std::ranges::find_if(
      layers.hidden, [](const LensSample& sample) { return sample.x == edge - 1 && sample.y == 30; });
  ASSERT_NE(hidden, layers.hidden.end());
  float sum = 0;
  for (int y = 29; y <= 31; ++y) sum += lens_light(layers.colours[3 * layers.at(edge, y)], layers.unit);
  EXPECT_GT(sum / 3, 4);
  EXPECT_NEAR(lens_light(hidden->colour[0], layers.unit), sum / 3, 1e-3);
}

}  // namespace
}  // namespace satin::test
