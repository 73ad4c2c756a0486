// median() against brute force, its properties, and what it refuses.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "satin/filter.h"
#include "satin/filters/median.h"
#include "satin/filters/morphology.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/loose_image.h"
#include "tests/oracles/oracle_rank.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::array sizes = {Size{1, 1},   Size{1, 2},   Size{2, 1},   Size{1, 37},
                              Size{41, 1},  Size{3, 2},   Size{31, 31}, Size{33, 32},
                              Size{17, 70}, Size{70, 17}, Size{300, 3}, Size{64, 35}};

constexpr std::array radii = {0, 1, 2, 3, 4, 5, 6, 9, 20, 40};
constexpr std::array percents = {0.0, 0.01, 2.0, 25.0, 50.0, 50.0001, 66.6667, 98.0, 100.0};

struct MedianCase {
  Shape shape;
  Median parameters{};
  std::optional<Type> map_type{};
  std::optional<Type> mask_type{};
  std::uint64_t seed = 1;
};

std::string describe(const MedianCase& test) {
  const Median& median = test.parameters;
  return describe(test.shape) + ", alpha " + std::to_string(static_cast<int>(test.shape.alpha)) +
         ", radius " + print_radius(median.radius) + ", percent " + std::to_string(median.percent) +
         ", border " + std::to_string(static_cast<int>(median.border)) + " " +
         std::to_string(median.border_value) + (test.map_type ? ", map " : "") +
         (test.map_type ? name_of(*test.map_type) : "") + (test.mask_type ? ", mask " : "") +
         (test.mask_type ? name_of(*test.mask_type) : "") +
         (median.mask_mode == MaskMode::exclude ? ", exclude" : "") + ", threshold " +
         std::to_string(median.threshold) + ", seed " + std::to_string(test.seed);
}

/// Noise, or a flat picture in which every second or every 40th pixel is noise.
Image picture_of(const MedianCase& test) {
  if (test.seed % 3 == 0) return random_picture(test.shape, test.seed);
  return sparse_picture(test.shape, 0.5, test.seed % 3 == 1 ? 2 : 40, test.seed);
}

void check_against_oracle(MedianCase test) {
  SCOPED_TRACE(describe(test));
  const Image picture = picture_of(test);
  const auto map_of = [&](const std::optional<Type>& type, std::uint64_t seed) {
    return type ? random_map(test.shape.width, test.shape.height, *type, seed) : Image();
  };
  const Image map = map_of(test.map_type, test.seed + 1);
  const Image mask = map_of(test.mask_type, test.seed + 2);
  Median& median = test.parameters;
  median.radius_map = map.view();
  median.mask = mask.view();
  Plan prepared = plan(device_under_test(), picture.shape(), median);
  const std::array inputs = {picture.view(), map.view(), mask.view()};
  const Image result = run_plan(device_under_test(), prepared, inputs);

  OracleRank oracle{picture.view(), mask.view(), median.percent};
  oracle.radius_x = static_cast<int>(median.radius.x.value);
  oracle.radius_y = static_cast<int>(median.radius.y.value);
  oracle.border = median.border;
  oracle.border_value = median.border_value;
  oracle.radius_map = map.view();
  oracle.radius_min = median.radius_min;
  oracle.radius_max = median.radius_max.value_or(0);
  oracle.excludes = median.mask_mode == MaskMode::exclude;
  oracle.threshold = median.threshold;
  const bool large = test.shape.width * test.shape.height > 5'000;
  if (large)
    ASSERT_EQ(sampled_difference(oracle, result, 25, test.seed), "");
  else
    ASSERT_EQ(difference(result, oracle_rank(oracle)), "");
}

MedianCase random_case(Random& random, const Format& format, Border border, int radius) {
  const auto& size = random.pick(sizes);
  MedianCase test{{size[0], size[1], format.channels, format.type, format.alpha}};
  Median& median = test.parameters;
  median.radius = pixels(radius, random.one_in(2) ? radius : random.pick(radii));
  median.percent = random.one_in(2) ? 50 : random.pick(percents);
  median.border = border;
  median.border_value = static_cast<double>(random.below(5)) / 4;
  if (random.one_in(4)) median.threshold = random.one_in(2) ? 0.25 : 0.001;
  if (random.one_in(3)) test.mask_type = random.one_in(2) ? Type::u8 : Type::u16;
  if (test.mask_type && random.one_in(2)) median.mask_mode = MaskMode::exclude;
  test.seed = random.next();
  return test;
}

class MedianOracle : public testing::TestWithParam<Format> {};

TEST_P(MedianOracle, EveryBorderAndRadius) {
  const Format format = GetParam();
  Random random(0x3D0 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : every_border)
    for (const int radius : radii) {
      if (slow_build() && !random.one_in(6)) continue;
      check_against_oracle(random_case(random, format, border, radius));
      if (HasFatalFailure()) return;
    }
}

TEST_P(MedianOracle, RadiiByMaps) {
  const Format format = GetParam();
  Random random(0x3D1 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : every_border)
    for (const Type map_type : {Type::u8, Type::u16, Type::f32}) {
      MedianCase test = random_case(random, format, border, 1);
      test.map_type = map_type;
      test.parameters.radius_min = static_cast<double>(random.below(8)) / 4;
      test.parameters.radius_max = static_cast<double>(random.below(80)) / 4;
      if (slow_build() && !random.one_in(6)) continue;
      check_against_oracle(test);
      if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, MedianOracle, testing::ValuesIn(every_format()), name_of_format);

// Pictures that are cut into chunks, windows whose counts need 16 and 32 bits, and the largest radius.
TEST(MedianRanks, LargePicturesAndRadii) {
  Random random(0x3D2);
  const auto check = [&](const Shape& shape, int x, int y, Border border) {
    if (slow_build() && x * y > 1000) return;
    MedianCase test{shape};
    test.parameters.radius = pixels(x, y);
    test.parameters.border = border;
    test.seed = random.next();
    check_against_oracle(test);
  };
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    for (const int radius : {0, 1, 2, 3, 4, 5, 6, 7, 8})
      check({530, 270, 1, type}, radius, radius, Border::shrink);
    check({530, 270, 3, type}, 2, 2, Border::reflect);
    check({300, 240, 1, type}, 48, 48, Border::shrink);  // the last radius of histograms of larger keys
    check({300, 240, 1, type}, 49, 49, Border::shrink);
    check({400, 300, 1, type}, 127, 127, Border::shrink);
    check({300, 140, 1, type}, 128, 127, Border::clamp);
    check({300, 140, 1, type}, 3, 130, Border::wrap);
    check({90, 80, 1, type}, 512, 512, Border::mirror);
    check({90, 80, 1, type}, 200, 512, Border::constant);
    if (testing::Test::HasFatalFailure()) return;
  }
  check({2200, 1000, 1, Type::u8}, 12, 9, Border::mirror);  // chunks of 512 columns, with up to two threads
}

// A checkerboard of two values, surrounded by all values between them: from window to window the rank moves
// past most of the picture's values.
TEST(MedianRanks, ValuesFarApart) {
  Image picture({260, 240, 1, Type::u16});
  Random random(0x3D7);
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 260; ++x) {
      const bool inside = std::abs(x - 130) < 70 && std::abs(y - 120) < 70;
      const bool high = (x / 5 + y / 5) % 2 != 0;
      picture.view().row<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(
          inside ? (high ? 60'000 : 0) + random.below(9) : 100 + random.below(59'000));
    }
  Median median;
  median.radius = pixels(52, 52);
  Plan prepared = plan(device_under_test(), picture.shape(), median);
  const Image result = run_plan(device_under_test(), prepared, std::array<ImageView, 1>{picture.view()});
  OracleRank oracle{picture.view(), {}, median.percent};
  oracle.radius_x = oracle.radius_y = 52;
  ASSERT_EQ(sampled_difference(oracle, result, 2000, 1), "");
}

TEST(MedianRanks, EverySimdTarget) {
  on_every_target([] {
    Random random(0x3D3);
    for (const Type type : {Type::u8, Type::u16, Type::f32})
      for (const int radius : {1, 2, 3, 4, 5, 6, 30, 60})
        for (const double percent : {0.0, 20.0, 50.0, 100.0}) {
          if (slow_build() && !random.one_in(6)) continue;
          MedianCase test{{150, 35, random.one_in(2) ? 1 : 3, type}};
          test.parameters.radius = pixels(radius, radius);
          test.parameters.percent = percent;
          test.seed = random.next();
          check_against_oracle(test);
          if (testing::Test::HasFatalFailure()) return;
        }
  });
}

TEST(MedianRanks, TheEndsAreErosionAndDilation) {
  const Device& device = device_under_test();
  for (const Format& format : every_format())
    for (const int radius : {1, 2, 7}) {
      const Shape shape{61, 43, format.channels, format.type, format.alpha};
      const Image picture = random_picture(shape, 40);
      const Image mask = random_map(61, 43, Type::u8, 41);
      for (const Border border : {Border::shrink, Border::wrap, Border::constant}) {
        Median parameters{.radius = radius, .percent = 0, .border = border, .mask = mask.view()};
        EXPECT_EQ(difference(median(device, picture, parameters),
                             erode(device, picture, {radius, border, 0, mask.view()})),
                  "");
        parameters.percent = 100;
        EXPECT_EQ(difference(median(device, picture, parameters),
                             dilate(device, picture, {radius, border, 0, mask.view()})),
                  "");
      }
    }
}

TEST(MedianRanks, EvenCountsHaveTheLowerOfTheMiddle) {
  Image picture = constant_picture({2, 1, 1, Type::u8}, 0);
  picture.view().value<std::uint8_t>(0, 0) = 200;
  picture.view().value<std::uint8_t>(1, 0) = 100;
  const auto at = [&](double percent) {
    return median(device_under_test(), picture, {.percent = percent}).view().value<std::uint8_t>(0, 0);
  };
  EXPECT_EQ(at(0), 100);
  EXPECT_EQ(at(50), 100);
  EXPECT_EQ(at(50.0001), 200);
  EXPECT_EQ(at(50.00004), 100);  // percentages are whole in 1/10000
}

TEST(MedianRanks, AThresholdReplacesOutliersAlone) {
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    Image picture = constant_picture({40, 30, 1, type}, 0.5);
    const Image noise = random_picture({40, 30, 1, type}, 5);
    const auto set = [&](int x, int y, double value) {
      if (type == Type::u8) picture.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(value * 255);
      if (type == Type::u16)
        picture.view().value<std::uint16_t>(x, y) = static_cast<std::uint16_t>(value * 65535);
      if (type == Type::f32) picture.view().value<float>(x, y) = static_cast<float>(value);
    };
    const Image flat = picture.clone();
    set(20, 10, 0.95);
    Image expected = flat.clone();
    EXPECT_EQ(difference(median(device_under_test(), picture, {.radius = 2, .threshold = 0.2}), expected),
              "");
    set(20, 10, 0.6);
    EXPECT_EQ(difference(median(device_under_test(), picture, {.radius = 2, .threshold = 0.2}), picture), "");
  }
}

// Pixels that a mask excludes are not read.
TEST(MedianRanks, ExcludedPixelsMayHoldAnything) {
  Image picture = random_picture({30, 20, 1, Type::f32}, 8);
  Image mask = constant_picture({30, 20, 1, Type::u8}, 1);
  for (int x = 0; x < 30; x += 3) {
    picture.view().value<float>(x, 7) = std::nanf("");
    mask.view().value<std::uint8_t>(x, 7) = 0;
  }
  const Median excluding{.radius = 2, .mask = mask.view(), .mask_mode = MaskMode::exclude};
  const Image result = median(device_under_test(), picture, excluding);
  EXPECT_EQ(
      difference(result,
                 oracle_rank({picture.view(), mask.view(), 50, 2, 2, Border::shrink, 0, {}, 0, 0, true})),
      "");
  expect_error(ErrorKind::input, "NaN or infinite",
               [&] { return median(device_under_test(), picture, {.radius = 2, .mask = mask.view()}); });
}

TEST(MedianRanks, LooseRowsAndFlippedPictures) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int radius : {1, 2, 3, 40}) {
      const Image picture = random_picture({61, 47, 3, type}, 31);
      Plan prepared = plan(device_under_test(), picture.shape(), Median{.radius = radius});
      expect_same_of_every_layout(prepared, picture);
    }
}

TEST(MedianRefused, ParametersAndShapes) {
  const Image picture = random_picture({12, 9, 3, Type::u8}, 1);
  const Image map = random_map(12, 9, Type::u8, 2);
  const Image wide = random_map(13, 9, Type::u8, 3);
  const Image long_map = random_map(26, 9, Type::u8, 3);
  const auto refused = [&](const std::string& piece, const Median& parameters) {
    expect_error(ErrorKind::usage, piece, [&] { return median(device_under_test(), picture, parameters); });
  };
  refused("radius 2.5 pixels: whole", {.radius = 2.5});
  refused("from 0 to 512", {.radius = -1});
  refused("from 0 to 512", {.radius = 513});
  refused("percent", {.percent = 100.5});
  refused("percent", {.percent = std::numeric_limits<double>::quiet_NaN()});
  refused("threshold", {.threshold = 1.5});
  refused("border-value", {.border = Border::constant, .border_value = 1.5});
  refused("radius-max needs a radius map", {.radius_max = 3});
  refused("needs radius-max", {.radius_map = map.view()});
  refused("radius-max 600", {.radius_max = 600, .radius_map = map.view()});
  refused("26 x 9", {.radius_max = 3, .radius_map = long_map.view()});
  refused("13 x 9", {.mask = wide.view()});
  refused("needs a mask", {.mask_mode = MaskMode::exclude});
  expect_error(ErrorKind::usage, "u32", [&] {
    return plan(device_under_test(), Shape{5, 5, 1, Type::u32}, Median{});
  });
  Image bad = random_picture({33, 20, 3, Type::f32}, 7);
  bad.view().value<float>(32, 19, 2) = std::nanf("");
  expect_error(ErrorKind::input, "NaN or infinite", [&] { return median(device_under_test(), bad); });
}

}  // namespace
}  // namespace satin::test
