// Ramps and silhouettes of depth: rows of every SIMD target beside the rule of one pixel.

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/lens/depth_ramp_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstdint>
#include <vector>

#include "lens/cpu/lens_rows-inl.h"
#include "lens/maths/depth_ramp.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

namespace rows = cpu::HWY_NAMESPACE;

struct Planes {
  std::vector<std::int32_t> radii, sharpened;
  std::vector<std::uint8_t> edges;
  LensPlanes view;

  Planes(int width, int height, std::uint64_t seed) {
    const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    radii.resize(pixels);
    sharpened.assign(pixels, -1);
    edges.assign(pixels, 0xCD);
    view.width = width;
    view.height = height;
    view.radii = radii.data();
    view.sharpened = sharpened.data();
    view.edges = edges.data();
    Random random(seed);
    const auto slope = static_cast<std::int32_t>(random.below(2 * ramp_step + 3));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const bool near = (x - width / 2) * (x - width / 2) + (y - height / 2) * (y - height / 2) < 60;
        radii[static_cast<std::size_t>(view.place(x, y))] =
            (near ? 5000 : -2000) + slope * (x - y) + static_cast<std::int32_t>(random.below(120));
      }
  }
};

template <class Row, class Pixel>
void check_rows(const Planes& by_pixel, const Planes& by_row, const Row& row, const Pixel& pixel) {
  for (int y = 0; y < by_row.view.height; ++y) {
    row(by_row.view, y);
    for (int x = 0; x < by_row.view.width; ++x) pixel(x, y);
  }
  EXPECT_EQ(by_row.sharpened, by_pixel.sharpened);
  EXPECT_EQ(by_row.edges, by_pixel.edges);
}

void CheckRowsAreWhatThePixelsAreOnEverySimdTarget() {
  int edges = 0;
  int moved = 0;
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 9}, {9, 2}, {3, 3}, {18, 7}, {67, 41}})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", seed " + std::to_string(seed));
      const Planes by_pixel(width, height, seed);
      const Planes by_row(width, height, seed);
      check_rows(by_pixel, by_row, rows::SharpenRow, SharpenRamp{by_pixel.view});
      check_rows(by_pixel, by_row, rows::SilhouetteRow, FindSilhouette{by_pixel.view});
      for (const std::uint8_t edge : by_row.edges) edges += edge;
      for (std::size_t i = 0; i < by_row.radii.size(); ++i) moved += by_row.radii[i] != by_row.sharpened[i];
    }
  EXPECT_GT(edges, 100);
  EXPECT_GT(moved, 20);
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

HWY_EXPORT(CheckRowsAreWhatThePixelsAreOnEverySimdTarget);

TEST(DepthRamp, RowsAreWhatThePixelsAreOnEverySimdTarget) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckRowsAreWhatThePixelsAreOnEverySimdTarget)(); });
}

}  // namespace
}  // namespace satin::test
#endif
