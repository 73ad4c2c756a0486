// Rows of depth and of the lens on every SIMD target beside the rule of one pixel.

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/lens/depth_rows_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lens/cpu/depth_rows-inl.h"
#include "lens/cpu/lens_rows-inl.h"
#include "lens/cpu/soft_rows-inl.h"
#include "lens/maths/smooth_steps.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

namespace rows = cpu::HWY_NAMESPACE;

std::vector<DepthRule> depth_rules() {
  DepthRule disparity{.gain = 1.0 / 255, .offset = 0.01, .strength = 9000, .largest = 3000.7};
  DepthRule unknown = disparity;
  unknown.has_unknown = true;
  unknown.unknown = 7;
  DepthRule distances{.distances = true, .gain = 0.5, .offset = -3, .strength = 4000, .largest = 131072};
  return {disparity, unknown, distances};
}

template <class Stored>
std::vector<Stored> depths(std::int64_t width, std::uint64_t seed) {
  Random random(seed);
  std::vector<Stored> values;
  for (std::int64_t x = 0; x < width; ++x) values.push_back(static_cast<Stored>(random.below(256)));
  if constexpr (std::is_same_v<Stored, float>)
    for (std::size_t x = 0; x < values.size(); x += 5)
      values[x] =
          x % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : -std::numeric_limits<float>::infinity();
  return values;
}

template <class Stored>
void check_circles() {
  int known = 0;
  int unknown = 0;
  for (const DepthRule& rule : depth_rules())
    for (const std::int64_t width : {1, 2, 7, 8, 33, 260}) {
      const auto stored = depths<Stored>(width, static_cast<std::uint64_t>(width));
      LensState state;
      set_focus(state, 0.4, rule);
      std::vector<SignedRadius256> radii(stored.size(), 12345678);
      rows::FindCircles(stored.data(), width, rule, state, radii.data());
      for (std::size_t x = 0; x < stored.size(); ++x) {
        ASSERT_EQ(radii[x], circle_of_confusion(static_cast<double>(stored[x]), rule, state)) << x;
        (radii[x] == unknown_radius ? unknown : known) += 1;
      }
    }
  EXPECT_GT(known, 100);
  EXPECT_GT(unknown, 2);
}

void CheckCirclesAreThoseOfThePixels() {
  check_circles<std::uint8_t>();
  check_circles<std::uint16_t>();
  check_circles<float>();
}

void CheckPlanarRadiiAreThoseOfThePixels() {
  for (const double angle : {0.0, 0.7, 2.5, 4.0}) {
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    const PlanarFocus focus{cosine, sine, 30 * cosine + 20 * sine, 4.5, 137.77, 2000.4};
    int sides[3] = {};
    for (const std::int64_t width : {1, 7, 8, 61})
      for (std::int64_t y = 0; y < 40; ++y) {
        std::vector<SignedRadius256> radii(static_cast<std::size_t>(width), 12345678);
        rows::FindPlanarRadii(y, width, focus, radii.data());
        for (std::int64_t x = 0; x < width; ++x) {
          const SignedRadius256 radius = radii[static_cast<std::size_t>(x)];
          ASSERT_EQ(radius, planar_radius(x, y, focus)) << x << ", " << y;
          ++sides[radius < 0 ? 0 : radius == 0 ? 1 : 2];
        }
      }
    for (const int count : sides) EXPECT_GT(count, 0) << angle;
  }
}

/// Slopes of at most one code a pixel, a cliff, and here and there what is unknown.
struct Codes {
  std::int64_t width;
  std::int64_t height;
  std::vector<std::uint8_t> codes;

  Codes(std::int64_t of_width, std::int64_t of_height, bool holes) : width(of_width), height(of_height) {
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t slope = x / 9 + y / 13 + (2 * x > width + y ? 40 : 0);
        codes.push_back(static_cast<std::uint8_t>(holes && (x * 7 + y * 31) % 97 == 0 ? 255 : slope % 250));
      }
  }
  [[nodiscard]] int at(std::int64_t x, std::int64_t y) const { return row(y)[x]; }
  [[nodiscard]] const std::uint8_t* row(std::int64_t y) const { return codes.data() + y * width; }
};

std::vector<std::uint32_t> steps_of(const Codes& codes, int unknown) {
  std::vector<std::uint32_t> steps;
  for (std::int64_t y = 0; y < codes.height; ++y)
    for (std::int64_t x = 0; x < codes.width; ++x)
      steps.push_back(step_value(x, y, codes.width, codes.height, unknown,
                                 [&](std::int64_t u, std::int64_t v) { return codes.at(u, v); }));
  return steps;
}

std::vector<std::uint32_t> table_of(const std::vector<std::uint32_t>& values, std::int64_t width) {
  std::vector<std::uint32_t> table = values;
  const auto row = static_cast<std::size_t>(width);
  for (std::size_t i = 0; i < table.size(); ++i)
    if (i % row != 0) table[i] += table[i - 1];
  for (std::size_t i = row; i < table.size(); ++i) table[i] += table[i - row];
  return table;
}

void check_smoothing(std::int64_t width, std::int64_t height, int unknown) {
  SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", unknown " +
               std::to_string(unknown));
  const Codes codes(width, height, unknown >= 0);
  const std::vector<std::uint32_t> steps = steps_of(codes, unknown);
  const std::vector<std::uint32_t> sums = table_of(steps, width);
  const TableView<std::uint32_t> table{sums.data(), width, width, height};
  std::vector<std::uint32_t> found_steps(static_cast<std::size_t>(width));
  std::vector<std::uint16_t> smoothed(static_cast<std::size_t>(width));
  for (std::int64_t y = 0; y < height; ++y) {
    rows::FindSteps(
        {codes.row(y == 0 ? 0 : y - 1), codes.row(y), codes.row(y + 1 == height ? y : y + 1), width, unknown},
        found_steps.data());
    rows::SmoothCodes(codes.row(y), y, unknown, table, smoothed.data());
    for (std::int64_t x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(x);
      ASSERT_EQ(found_steps[at], steps[static_cast<std::size_t>(y * width + x)]) << x << ", " << y;
      ASSERT_EQ(smoothed[at], smoothed_code(codes.at(x, y), x, y, unknown, table)) << x << ", " << y;
    }
  }
}

void CheckStepsAndSmoothedCodesAreThoseOfThePixels() {
  for (const int unknown : {-1, 255})
    for (const auto& [width, height] : {std::pair{1, 1}, {2, 3}, {17, 40}, {33, 34}, {130, 90}})
      check_smoothing(width, height, unknown);
}

/// White everywhere but for a step at the end: the largest sums that smooth windows have.
void CheckTheLargestSumsOfCodesAreDividedExactly() {
  for (const int code : {254, 255}) {
    const std::int64_t side = 80;
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(side * side), static_cast<std::uint8_t>(code));
    for (std::size_t i = 0; i < codes.size(); i += 3) codes[i] = 255;
    const std::vector<std::uint32_t> sums = table_of({codes.begin(), codes.end()}, side);
    const TableView<std::uint32_t> table{sums.data(), side, side, side};
    std::vector<std::uint16_t> smoothed(static_cast<std::size_t>(side));
    for (std::int64_t y = 0; y < side; ++y) {
      const std::uint8_t* row = codes.data() + y * side;
      rows::SmoothCodes(row, y, -1, table, smoothed.data());
      for (std::int64_t x = 0; x < side; ++x)
        ASSERT_EQ(smoothed[static_cast<std::size_t>(x)], smoothed_code(row[x], x, y, -1, table));
    }
  }
}

void CheckDepthsAreThoseOfThePixels() {
  for (const int count : {1, 2, 4, 5})
    for (const int width : {1, 3, 16, 45}) {
      DepthGroups groups;
      groups.count = count;
      for (int i = 0; i + 1 < count; ++i) groups.limits[i] = 700 - 450 * i;
      const auto size = 2 * static_cast<std::size_t>(width);
      Random random(static_cast<std::uint64_t>(width));
      std::vector<std::int32_t> sharpened;
      for (std::size_t i = 0; i < size; ++i)
        sharpened.push_back(static_cast<std::int32_t>(random.below(3000)) - 1500);
      sharpened[0] = 700;
      sharpened[1] = 699;
      std::vector<std::int32_t> radii(size, 77);
      std::vector<std::uint32_t> magnitudes(size, 77);
      std::vector<std::uint8_t> found(size, 77);
      std::vector<std::uint16_t> weights(size, 77);
      LensPlanes planes;
      planes.width = width;
      planes.height = 2;
      planes.sharpened = sharpened.data();
      planes.radii = radii.data();
      planes.magnitudes = magnitudes.data();
      planes.groups = found.data();
      planes.weights = weights.data();
      rows::StoreDepths(planes, 1, groups);
      for (std::size_t i = 0; i < size; ++i) {
        const bool stored = i >= size / 2;
        ASSERT_EQ(radii[i], stored ? sharpened[i] : 77);
        ASSERT_EQ(magnitudes[i], stored ? magnitude_of(sharpened[i]) : 77U);
        ASSERT_EQ(found[i], stored ? groups.group_of(sharpened[i]) : 77);
        ASSERT_EQ(weights[i], stored ? lens_full_weight : 77U);
      }
    }
}

/// Soft depth at random, and a picture: steps, slopes and single extremes. `stored` in 1/256 pixel.
struct SoftScene {
  std::int64_t width;
  std::int64_t height;
  std::vector<std::uint16_t> stored;
  std::vector<SignedRadius256> radii;
  std::vector<std::uint8_t> picture;
  DepthSpan span;

  SoftScene(std::int64_t of_width, std::int64_t of_height, std::uint64_t seed)
      : width(of_width), height(of_height) {
    Random random(seed);
    span.soft = 1;
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t place = std::clamp<std::int64_t>(5 * x - 2 * y, 0, 200);
        const std::int64_t far = x % 300 > 150 + y % 7 ? 2000 : 10 * place;
        const std::uint64_t noise = random.one_in(40) ? 1500 : random.below(30);
        stored.push_back(static_cast<std::uint16_t>(far + static_cast<std::int64_t>(noise)));
        radii.push_back(static_cast<SignedRadius256>(stored.back()) - 900);
        for (int c = 0; c < 3; ++c)
          picture.push_back(static_cast<std::uint8_t>((x % 300 > 148 ? 200 : 20) + random.below(9)));
      }
  }
  template <class T>
  [[nodiscard]] Rows<T> rows_of(T* values, std::int64_t channels = 1) const {
    Rows<T> result;
    result.data = reinterpret_cast<typename Rows<T>::Byte*>(values);
    result.distance = width * channels * static_cast<std::int64_t>(sizeof(T));
    return result;
  }
};

constexpr std::pair<int, int> soft_sizes[] = {{1, 1}, {2, 9}, {37, 20}, {520, 40}, {700, 30}, {2100, 9}};

/// Adds the radii that are not what they were.
void check_soft_rows(int width, int height, int& moved) {
  const SoftScene scene(width, height, static_cast<std::uint64_t>(width));
  std::vector<SignedRadius256> by_pixel(scene.radii.size(), 7);
  std::vector<SignedRadius256> by_row(scene.radii.size(), 8);
  const auto expect_alike = [&](const auto& step_of, const auto& row) {
    const auto pixels = step_of(by_pixel);
    const auto whole = step_of(by_row);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) pixels(x, y);
      row(whole, y);
    }
    ASSERT_EQ(by_pixel, by_row) << width << " x " << height;
    for (std::size_t i = 0; i < by_row.size(); ++i) moved += by_row[i] != scene.radii[i] ? 1 : 0;
  };
  const auto radii = scene.rows_of<const SignedRadius256>(scene.radii.data());
  expect_alike(
      [&](std::vector<SignedRadius256>& result) {
        return RejectThinExtremes{radii, width, height, &scene.span, scene.rows_of(result.data())};
      },
      [](const RejectThinExtremes& step, int y) { rows::RejectThinRow(step, y); });
  using Colours = PictureColours<std::uint8_t>;
  const Colours colours{scene.rows_of<const std::uint8_t>(scene.picture.data(), 3), 3, 3};
  expect_alike(
      [&](std::vector<SignedRadius256>& result) {
        return SnapToColours<Colours>{radii,   width,       height,
                                      colours, &scene.span, scene.rows_of(result.data())};
      },
      [](const SnapToColours<Colours>& step, int y) { rows::SnapRow(step, y); });
}

void CheckSoftRowsAreThoseOfThePixels() {
  int moved = 0;
  for (const auto& [width, height] : soft_sizes) check_soft_rows(width, height, moved);
  EXPECT_GT(moved, 1000);
}

void CheckRampsOfRowsAreThoseOfThePixels() {
  std::uint32_t silhouettes = 0;
  std::uint32_t ramps = 0;
  for (const DepthRule& rule : depth_rules())
    for (const auto& [width, height] : soft_sizes) {
      SoftScene scene(width, height, 3);
      DepthSpan by_row;
      LensState state;
      state.strength = rule.distances ? 3e5 : 1.0 / rule.gain;
      const DepthRows<std::uint16_t> depth{scene.rows_of<const std::uint16_t>(scene.stored.data()), 1, 0};
      CountRamps<std::uint16_t> pixels{rule, depth, width, height, &state, &scene.span};
      CountRamps<std::uint16_t> whole{rule, depth, width, height, &state, &by_row};
      for (int y = 0; y < (height + soft_stride - 1) / soft_stride; ++y) {
        for (int x = 0; x * span_run < width; ++x) pixels(x, y);
        rows::CountRampsRow(whole, y);
      }
      ASSERT_EQ(scene.span.silhouettes, by_row.silhouettes) << width << " x " << height;
      ASSERT_EQ(scene.span.ramps, by_row.ramps);
      silhouettes += by_row.silhouettes;
      ramps += by_row.ramps;
    }
  EXPECT_GT(ramps, 20U);
  EXPECT_GT(silhouettes, ramps + 100);
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

HWY_EXPORT(CheckCirclesAreThoseOfThePixels);
HWY_EXPORT(CheckPlanarRadiiAreThoseOfThePixels);
HWY_EXPORT(CheckStepsAndSmoothedCodesAreThoseOfThePixels);
HWY_EXPORT(CheckTheLargestSumsOfCodesAreDividedExactly);
HWY_EXPORT(CheckDepthsAreThoseOfThePixels);
HWY_EXPORT(CheckSoftRowsAreThoseOfThePixels);
HWY_EXPORT(CheckRampsOfRowsAreThoseOfThePixels);

TEST(DepthRows, CirclesAreThoseOfThePixels) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckCirclesAreThoseOfThePixels)(); });
}

TEST(DepthRows, PlanarRadiiAreThoseOfThePixels) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckPlanarRadiiAreThoseOfThePixels)(); });
}

TEST(DepthRows, StepsAndSmoothedCodesAreThoseOfThePixels) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckStepsAndSmoothedCodesAreThoseOfThePixels)(); });
}

TEST(DepthRows, TheLargestSumsOfCodesAreDividedExactly) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckTheLargestSumsOfCodesAreDividedExactly)(); });
}

TEST(DepthRows, SoftRowsAreThoseOfThePixels) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckSoftRowsAreThoseOfThePixels)(); });
}

TEST(DepthRows, RampsOfRowsAreThoseOfThePixels) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckRampsOfRowsAreThoseOfThePixels)(); });
}

TEST(LensRows, DepthsAreThoseOfThePixels) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckDepthsAreThoseOfThePixels)(); });
}

}  // namespace
}  // namespace satin::test
#endif
