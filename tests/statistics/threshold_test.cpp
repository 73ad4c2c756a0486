// threshold() against the formulas, evaluated pixel by pixel over every window.

#include "satin/filters/threshold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "statistics/maths/local_statistics.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_local.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/window_table.h"

namespace satin::test {
namespace {

Real half_of(Type type) { return type == Type::u8 ? 128 : type == Type::u16 ? 32768 : 0.5L; }

Real level_of(const Threshold& threshold, const Local& at, Type type, Real largest_deviation, Real smallest) {
  const Real m = at.mean;
  const Real s = at.deviation;
  const auto k = [&](Real by_default) { return threshold.k ? static_cast<Real>(*threshold.k) : by_default; };
  switch (threshold.method) {
    case Binarisation::niblack:
      return m + k(-0.2L) * s;
    case Binarisation::sauvola:
      return m * (1 + k(0.2L) * (s / (threshold.range ? *threshold.range : half_of(type)) - 1));
    case Binarisation::bradley:
      return m * (1 - k(0.15L));
    case Binarisation::wolf:
      return m + k(0.5L) * (s / largest_deviation - 1) * (m - smallest);
    case Binarisation::nick:
      return m + k(-0.1L) * std::sqrt(s * s + m * m);
    default:
      ADD_FAILURE();
      return 0;
  }
}

/// Expects the result of the formula, except for values within the precision of their threshold.
void check_local(const Shape& shape, const Threshold& threshold, std::uint64_t seed) {
  SCOPED_TRACE(describe(shape) + ", method " + std::to_string(static_cast<int>(threshold.method)) +
               ", window " + std::to_string(threshold.window) + ", border " +
               std::to_string(static_cast<int>(threshold.border)) + ", seed " + std::to_string(seed));
  const Image picture = random_picture(shape, seed);
  const Device& device = device_under_test();
  Plan plan = satin::plan(device, shape, threshold);
  const ImageView inputs[] = {picture.view()};
  const Image found = run_plan(device, plan, inputs);

  const Plane plane = luminance_of(picture);
  const std::vector<Local> locals = all_local(plane, threshold.window, threshold.border);
  Real largest_deviation = 0;
  Real smallest = plane.values[0];
  Real scale = 1e-30L;
  for (std::size_t i = 0; i < locals.size(); ++i) {
    largest_deviation = std::max(largest_deviation, locals[i].deviation);
    smallest = std::min(smallest, static_cast<Real>(plane.values[i]));
    scale = std::max(scale, std::fabs(static_cast<Real>(plane.values[i])));
  }
  // Doubles; floats are rounded to at least 19 bits in these windows.
  const Real tolerance = scale * (shape.type == Type::f32 ? 4e-6L : 1e-12L);
  std::int64_t ties = 0;
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      const Real level = level_of(threshold, locals[i], shape.type, largest_deviation, smallest);
      const Real value = plane.values[i];
      const int result = found.view().value<std::uint8_t>(x, y);
      ASSERT_TRUE(result == 0 || result == 255) << x << ", " << y << ": " << result;
      if (!(std::fabs(value - level) > tolerance)) {
        ++ties;
        continue;
      }
      ASSERT_EQ(result == 255, (value > level) != threshold.invert)
          << x << ", " << y << ": value " << static_cast<double>(value) << ", T "
          << static_cast<double>(level);
    }
  if (threshold.window > 1 && plane.values.size() > 40) {
    EXPECT_LT(ties, shape.width * shape.height / 2);
  }
}

constexpr Binarisation local_methods[] = {Binarisation::bradley, Binarisation::niblack, Binarisation::sauvola,
                                          Binarisation::wolf, Binarisation::nick};

TEST(Threshold, IsTheFormulaForEveryMethodTypeAndNumberOfChannels) {
  std::uint64_t seed = 1;
  for (const Binarisation method : local_methods)
    for (const Type type : {Type::u8, Type::u16, Type::f32})
      for (const int channels : {1, 2, 3, 4})
        check_local({37, 23, channels, type, channels % 2 == 0 ? Alpha::straight : Alpha::none},
                    {.method = method, .window = 7, .invert = channels % 2 == 0}, ++seed);
}

TEST(Threshold, IsTheFormulaForEveryWindowAndBorder) {
  std::uint64_t seed = 100;
  for (const Border border : {Border::shrink, Border::clamp, Border::reflect, Border::mirror, Border::wrap})
    for (const int window : {1, 3, 15, 31, 63, 201})
      for (const Type type : {Type::u8, Type::u16, Type::f32}) {
        if (slow_build() && window > 31) continue;
        check_local({41, 29, 1, type}, {.method = Binarisation::sauvola, .window = window, .border = border},
                    ++seed);
      }
}

/// Windows that are too wide for the shared memory of a GPU.
TEST(Threshold, IsTheFormulaForVeryWideWindowsAndEveryBorder) {
  if (slow_build()) GTEST_SKIP();
  std::uint64_t seed = 150;
  for (const Border border : {Border::shrink, Border::clamp, Border::reflect, Border::mirror, Border::wrap})
    for (const Type type : {Type::u8, Type::f32})
      check_local({3, 2, 1, type}, {.method = Binarisation::wolf, .window = 3301, .border = border}, ++seed);
}

TEST(Threshold, IsTheFormulaForOddShapes) {
  std::uint64_t seed = 200;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 50}, {50, 1}, {2, 3}, {300, 5}, {5, 300}})
    for (const Binarisation method : local_methods)
      check_local({width, height, 1, Type::u8}, {.method = method, .window = 9}, ++seed);
}

TEST(Threshold, TakesGivenParameters) {
  check_local({33, 31, 1, Type::u8}, {.method = Binarisation::niblack, .window = 11, .k = 0.7}, 301);
  check_local({33, 31, 1, Type::u8},
              {.method = Binarisation::sauvola, .window = 11, .k = 0.34, .range = 64.0}, 302);
  check_local({33, 31, 3, Type::f32}, {.method = Binarisation::sauvola, .window = 5, .range = 3.0}, 303);
}

/// Few values in patches, so that many pixels equal their threshold.
Image patches(std::int64_t width, std::int64_t height, Type type, std::uint64_t seed) {
  Image picture({width, height, 1, type});
  Random random(seed);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const auto patch = static_cast<double>((x / 60 + y / 25) % 5) / 4;
      const double noise = x % 300 < 150 ? 0 : static_cast<double>(random.below(3)) / 51;
      set_fraction(picture.view(), x, y, 0, std::min(1.0, patch * 0.95 + noise));
    }
  return picture;
}

/// Equal everywhere, ties included: sums are exact integers and every step after them is an IEEE double.
TEST(Threshold, EqualsTheFormulaInDoublesEverywhere) {
  for (const auto& [width, height, window, type] : {std::tuple{1301, 90, 31, Type::u8},
                                                    {1301, 90, 5, Type::u8},
                                                    {700, 300, 257, Type::u8},
                                                    {700, 300, 259, Type::u8},
                                                    {1301, 90, 31, Type::u16},
                                                    {700, 300, 259, Type::u16}}) {
    const Image picture = patches(width, height, type, 77);
    const Plane plane = luminance_of(picture);
    const double range = type == Type::u8 ? 128 : 32768;
    const std::vector<LocalStatistics> locals = statistics_of(plane, window);
    PictureExtremes extremes{0, *std::min_element(plane.values.begin(), plane.values.end())};
    for (const LocalStatistics& local : locals)
      extremes.largest_deviation = std::max(extremes.largest_deviation, local.deviation);
    const auto level = [&](Binarisation method, double m, double s) {
      switch (method) {
        case Binarisation::bradley:
          return m * (1.0 - 0.15);
        case Binarisation::niblack:
          return m + -0.2 * s;
        case Binarisation::sauvola:
          return m * (1.0 + 0.2 * (s / range - 1.0));
        case Binarisation::wolf:
          return m + 0.5 * (s / extremes.largest_deviation - 1.0) * (m - extremes.smallest_value);
        default:
          return m + -0.1 * std::sqrt(s * s + m * m);
      }
    };
    for (const Binarisation method : local_methods) {
      const Image found = threshold(device_under_test(), picture, {.method = method, .window = window});
      for (std::size_t i = 0; i < locals.size(); ++i)
        ASSERT_EQ(static_cast<int>(found.data()[i]),
                  plane.values[i] > level(method, locals[i].mean, locals[i].deviation) ? 255 : 0)
            << "method " << static_cast<int>(method) << ", window " << window << ", " << name_of(type)
            << ", pixel " << i;
    }
  }
}

/// 2^26 + noise at 16 bits: sums of squares that lose their low bits make the deviation wrong.
TEST(Threshold, KeepsSmallDeviationsOnBrightPictures) {
  Shape shape{120, 90, 1, Type::u16};
  Image picture(shape);
  Random random(7);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      picture.view().value<std::uint16_t>(x, y) = static_cast<std::uint16_t>(65533 + random.below(3));
  const Threshold parameters{.method = Binarisation::niblack, .window = 89, .k = 0.5};
  const Device& device = device_under_test();
  Plan plan = satin::plan(device, shape, parameters);
  const ImageView inputs[] = {picture.view()};
  const Image found = run_plan(device, plan, inputs);
  const Plane plane = luminance_of(picture);
  const std::vector<Local> locals = all_local(plane, parameters.window, parameters.border);
  for (std::size_t i = 0; i < locals.size(); ++i) {
    const Real level = locals[i].mean + 0.5L * locals[i].deviation;
    if (std::fabs(plane.values[i] - level) < 1e-7L) continue;
    ASSERT_EQ(static_cast<int>(found.data()[i]), plane.values[i] > level ? 255 : 0) << i;
  }
}

/// Returns the variance between the classes for every split of the distinct values, by the definition.
double otsu_by_definition(const std::vector<double>& values) {
  std::map<double, Real> counts;
  for (const double value : values) counts[value] += 1;
  Real best = -1;
  double best_level = 0;
  for (const auto& [level, unused] : counts) {
    Real weight[2] = {};
    Real sum[2] = {};
    for (const auto& [value, count] : counts) {
      weight[value > level] += count;
      sum[value > level] += count * static_cast<Real>(value);
    }
    if (weight[1] == 0) continue;
    const Real distance = sum[0] / weight[0] - sum[1] / weight[1];
    const Real variance = weight[0] * weight[1] * distance * distance;
    if (variance > best * (1 + 1e-15L)) {
      best = variance;
      best_level = level;
    }
  }
  return best_level;
}

TEST(Threshold, OtsuIsTheSplitWithTheLargestVarianceBetweenTheClasses) {
  for (const Type type : {Type::u8, Type::u16}) {
    for (const int channels : {1, 3}) {
      const Image picture = random_picture({53, 37, channels, type}, 5);
      const Plane plane = luminance_of(picture);
      const double level = otsu_by_definition(plane.values);
      const Image found = threshold(device_under_test(), picture, {.method = Binarisation::otsu});
      for (std::size_t i = 0; i < plane.values.size(); ++i)
        ASSERT_EQ(static_cast<int>(found.data()[i]), plane.values[i] > level ? 255 : 0) << i;
    }
  }
}

TEST(Threshold, OtsuSeparatesTwoClustersOfFloats) {
  Image picture({40, 10, 1, Type::f32});
  Random random(11);
  for (std::int64_t x = 0; x < 40; ++x)
    for (std::int64_t y = 0; y < 10; ++y)
      picture.view().value<float>(x, y) =
          (x < 13 ? -3.0F : 4.0F) + static_cast<float>(random.below(1000)) / 1000.0F;
  const Image found = threshold(device_under_test(), picture, {.method = Binarisation::otsu, .invert = true});
  for (std::int64_t x = 0; x < 40; ++x)
    for (std::int64_t y = 0; y < 10; ++y) ASSERT_EQ(found.view().value<std::uint8_t>(x, y), x < 13 ? 255 : 0);
}

TEST(Threshold, FixedComparesWithItsLevel) {
  const Image picture = random_picture({19, 17, 1, Type::u8}, 3);
  const Image found = threshold(device_under_test(), picture, {.method = Binarisation::fixed, .level = 0.4});
  for (std::int64_t i = 0; i < 19 * 17; ++i)
    ASSERT_EQ(static_cast<int>(found.data()[i]), static_cast<int>(picture.data()[i]) > 102 ? 255 : 0);
}

TEST(Threshold, FlatPicturesAreAsDocumented) {
  const auto first_of = [](Binarisation method, double fraction) {
    const Image flat = constant_picture({20, 20, 1, Type::u8}, fraction);
    return static_cast<int>(threshold(device_under_test(), flat, {.method = method}).data()[210]);
  };
  EXPECT_EQ(first_of(Binarisation::niblack, 0.2), 0);
  EXPECT_EQ(first_of(Binarisation::wolf, 0.2), 0);
  for (const Binarisation method : {Binarisation::sauvola, Binarisation::bradley, Binarisation::nick}) {
    EXPECT_EQ(first_of(method, 0.2), 255);
    EXPECT_EQ(first_of(method, 0), 0);
  }
  EXPECT_EQ(first_of(Binarisation::otsu, 0.2), 0);
}

TEST(Threshold, RefusesWhatItCannotDo) {
  const Device& device = device_under_test();
  const Shape shape{8, 8, 1, Type::u8};
  const auto with = [&](const Threshold& parameters) {
    return [=, &device] { return plan(device, shape, parameters); };
  };
  expect_error(ErrorKind::usage, "window 4", with({.window = 4}));
  expect_error(ErrorKind::usage, "window -1", with({.window = -1}));
  expect_error(ErrorKind::usage, "window 32769", with({.window = 32769}));
  expect_error(ErrorKind::usage, "constant", with({.border = Border::constant}));
  expect_error(ErrorKind::usage, "range 0", with({.range = 0.0}));
  expect_error(ErrorKind::usage, "k must", with({.k = std::nan("")}));
  expect_error(ErrorKind::usage, "u32", [&] { return plan(device, {8, 8, 1, Type::u32}, Threshold{}); });
  Image bad({3, 3, 1, Type::f32});
  for (int i = 0; i < 9; ++i) bad.view().value<float>(i % 3, i / 3) = i == 4 ? NAN : 1.0F;
  for (const Binarisation method : {Binarisation::sauvola, Binarisation::otsu, Binarisation::fixed})
    expect_error(ErrorKind::input, "NaN", [&] { return threshold(device, bad, {.method = method}); });
}

}  // namespace
}  // namespace satin::test
