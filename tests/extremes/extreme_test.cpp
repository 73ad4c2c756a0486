// erode() and dilate() against brute force, their properties, and what they refuse.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "satin/filter.h"
#include "satin/filters/morphology.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/loose_image.h"
#include "tests/oracles/oracle_rank.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::array sizes = {Size{1, 1},   Size{1, 2},   Size{2, 1},    Size{1, 37},
                              Size{41, 1},  Size{2, 2},   Size{3, 2},    Size{31, 31},
                              Size{32, 33}, Size{33, 32}, Size{17, 70},  Size{70, 17},
                              Size{64, 35}, Size{129, 5}, Size{1025, 2}, Size{35, 100}};

/// Both along x and along y; the last is larger than every picture.
constexpr std::array radii = {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 40, 100, 1100};

struct ExtremeCase {
  Shape shape;
  bool largest = false;
  int radius_x = 0;
  int radius_y = 0;
  Border border = Border::shrink;
  double border_value = 0;
  std::optional<Type> mask_type{};
  std::uint64_t seed = 1;
};

std::string describe(const ExtremeCase& test) {
  return describe(test.shape) + ", alpha " + std::to_string(static_cast<int>(test.shape.alpha)) +
         (test.largest ? ", dilate " : ", erode ") + std::to_string(test.radius_x) + "," +
         std::to_string(test.radius_y) + ", border " + std::to_string(static_cast<int>(test.border)) + " " +
         std::to_string(test.border_value) + (test.mask_type ? ", mask " : "") +
         (test.mask_type ? name_of(*test.mask_type) : "") + ", seed " + std::to_string(test.seed);
}

Image run(const ExtremeCase& test, const Image& picture, const ImageView& mask) {
  const Device& device = device_under_test();
  const Radius radius = pixels(test.radius_x, test.radius_y);
  Plan prepared = test.largest
                      ? plan(device, picture.shape(), Dilate{radius, test.border, test.border_value, mask})
                      : plan(device, picture.shape(), Erode{radius, test.border, test.border_value, mask});
  const std::array inputs = {picture.view(), mask};
  return run_plan(device, prepared, inputs);
}

/// Noise, or rare pixels that are about two in a window, before a background that never wins.
Image picture_of(const ExtremeCase& test) {
  if (test.seed % 4 == 0) return random_picture(test.shape, test.seed);
  const auto pixels_of = [](int radius, std::int64_t size) {
    return std::min<std::int64_t>(2 * radius + 1, size);
  };
  const std::int64_t window =
      pixels_of(test.radius_x, test.shape.width) * pixels_of(test.radius_y, test.shape.height);
  return sparse_picture(test.shape, test.largest ? 0 : 1, static_cast<std::uint64_t>(window / 2 + 1),
                        test.seed);
}

/// `samples` pixels are compared, or all of them if it is 0.
void check_against_oracle(const ExtremeCase& test, int samples = 0) {
  SCOPED_TRACE(describe(test));
  const Image picture = picture_of(test);
  Image mask;
  if (test.mask_type) mask = random_map(test.shape.width, test.shape.height, *test.mask_type, test.seed + 1);
  const Image result = run(test, picture, mask.view());
  const OracleRank oracle{picture.view(), mask.view(), test.largest ? 100.0 : 0.0, test.radius_x,
                          test.radius_y,  test.border, test.border_value};
  if (samples != 0)
    ASSERT_EQ(sampled_difference(oracle, result, samples, test.seed), "");
  else
    ASSERT_EQ(difference(result, oracle_rank(oracle)), "");
}

class ExtremeOracle : public testing::TestWithParam<Format> {};

TEST_P(ExtremeOracle, EveryBorderAndRadius) {
  const Format format = GetParam();
  Random random(0xE0 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : every_border)
    for (const int radius : radii) {
      const auto& size = random.pick(sizes);
      ExtremeCase test{
          {size[0], size[1], format.channels, format.type, format.alpha}, random.one_in(2), radius};
      test.radius_y = random.one_in(2) ? radius : random.pick(radii);
      if (random.one_in(2)) std::swap(test.radius_x, test.radius_y);
      test.border = border;
      test.border_value = static_cast<double>(random.below(5)) / 4;
      if (random.one_in(4)) test.mask_type = random.one_in(2) ? Type::u8 : Type::u16;
      test.seed = random.next();
      if (slow_build() && !random.one_in(6)) continue;
      check_against_oracle(test);
      if (HasFatalFailure()) return;
    }
}

// Rows so wide, or windows so high, that they do not stay in a cache.
TEST_P(ExtremeOracle, LargePictures) {
  const Format format = GetParam();
  const auto pixel = static_cast<int>(size_of(format.type)) * format.channels;
  Random random(0xE1 + static_cast<std::uint64_t>(format.channels));
  constexpr std::array borders = {Border::shrink, Border::wrap, Border::constant};
  for (const auto& [height, radius_y] : {std::pair{90, 44}, {90, 300}, {150, 30}, {1201, 200}, {40, 2}}) {
    if (slow_build() && (height > 100 || format.channels != 3)) continue;
    const int width = 1'000'000 / pixel / std::min(height, 2 * radius_y + 1) + random.between(1, 70);
    ExtremeCase test{{width, height, format.channels, format.type, format.alpha}, random.one_in(2)};
    test.radius_x = random.pick(std::array{0, 1, 7, 16, 1000});
    test.radius_y = radius_y;
    test.border = random.pick(borders);
    test.border_value = 0.5;
    if (random.one_in(3)) test.mask_type = Type::u8;
    test.seed = random.next();
    check_against_oracle(test, 25);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ExtremeOracle, testing::ValuesIn(every_format()), name_of_format);

TEST(Extreme, RowsOfEveryLengthAndRadius) {
  std::uint64_t seed = 700;
  for (int width = 1; width <= 40; width += slow_build() ? 13 : 1)
    for (const int radius : {1, 2, 3, 5, 6, 10, 21, 22})
      for (const bool across : {true, false}) {
        const Shape shape{across ? width : 3, across ? 3 : width, 3, Type::u8};
        check_against_oracle({shape,
                              seed % 2 == 0,
                              across ? radius : 1,
                              across ? 1 : radius,
                              seed % 3 == 0 ? Border::wrap : Border::shrink,
                              0,
                              {},
                              ++seed});
        if (HasFatalFailure()) return;
      }
}

TEST(Extreme, RowsLongerThanAnyTile) {
  for (const Border border : {Border::shrink, Border::wrap})
    for (const int radius : {3, 20'000, 60'000, 69'999})
      for (const Format& format : {Format{Type::u8, 1}, {Type::u16, 3}, {Type::f32, 4}}) {
        if (slow_build()) continue;
        ExtremeCase test{{70'001, 3, format.channels, format.type}, true, radius, 1, border};
        check_against_oracle(test, 12);
        if (HasFatalFailure()) return;
      }
}

TEST(Extreme, ColumnsLongerThanAnyTile) {
  for (const Border border : {Border::shrink, Border::wrap})
    for (const int radius : {47, 48, 49, 64, 65, 95, 96, 20'000, 69'999}) {
      if (slow_build()) continue;
      ExtremeCase test{{3, 70'001, 3, Type::u8}, radius % 2 == 0, 1, radius, border};
      check_against_oracle(test, 12);
      if (HasFatalFailure()) return;
    }
}

TEST(Extreme, PercentagesAreRounded) {
  const Image picture = random_picture({40, 20, 3, Type::u8}, 11);
  const Device& device = device_under_test();
  const auto percent = [](double x, double y) { return Radius({x, true}, {y, true}); };
  const auto expect_same = [&](const Radius& a, const Radius& b) {
    EXPECT_EQ(difference(erode(device, picture, {.radius = a}), erode(device, picture, {.radius = b})), "");
  };
  expect_same(percent(5, 2.5), pixels(2, 1));
  expect_same(percent(6.25, 6.2), pixels(3, 2));  // 2.5 and 2.48
  expect_same(percent(0, 300), pixels(0, 120));
}

/// Calls body(value, value of the other picture) for every element.
template <class T, class Body>
void compare(const ImageView& a, const ImageView& b, const Body& body) {
  for (std::int64_t y = 0; y < a.shape.height; ++y)
    for (std::int64_t x = 0; x < a.shape.width; ++x)
      for (int c = 0; c < a.shape.channels; ++c) body(a.value<T>(x, y, c), b.value<T>(x, y, c));
}

TEST(Extreme, ErosionIsBelowThePictureAndDilationAboveIt) {
  const Device& device = device_under_test();
  for (const Border border : {Border::shrink, Border::wrap}) {
    const Image picture = random_picture({67, 45, 3, Type::u16}, 21);
    const Image low = erode(device, picture, {.radius = pixels(5, 2), .border = border});
    const Image high = dilate(device, picture, {.radius = pixels(5, 2), .border = border});
    compare<std::uint16_t>(low.view(), picture.view(), [](auto a, auto b) { ASSERT_LE(a, b); });
    compare<std::uint16_t>(picture.view(), high.view(), [](auto a, auto b) { ASSERT_LE(a, b); });
    EXPECT_NE(difference(low, picture), "");
    EXPECT_NE(difference(high, picture), "");
  }
}

TEST(Extreme, ErosionOfTheComplementIsTheComplementOfDilation) {
  const Device& device = device_under_test();
  const auto complement = [](const Image& image) {
    Image result = image.clone();
    std::transform(result.data(), result.data() + byte_size(result.shape()), result.data(),
                   [](std::byte byte) { return ~byte; });
    return result;
  };
  for (const Type type : {Type::u8, Type::u16})
    for (const Border border : {Border::shrink, Border::wrap})
      for (const int radius : {1, 9, 60}) {
        const Image picture = random_picture({50, 33, 4, type}, 22);
        EXPECT_EQ(difference(complement(erode(device, complement(picture), {radius, border})),
                             dilate(device, picture, {radius, border})),
                  "");
      }
}

TEST(Extreme, OpeningsAreIdempotent) {
  const Device& device = device_under_test();
  const Image picture = random_picture({90, 61, 1, Type::u8}, 23);
  const auto opened = [&](const Image& image) {
    return dilate(device, erode(device, image, {.radius = 4}), {.radius = 4});
  };
  const Image once = opened(picture);
  EXPECT_EQ(difference(opened(once), once), "");
}

TEST(Extreme, AnImpulseBecomesTheWindow) {
  Image picture = constant_picture({41, 37, 1, Type::u8}, 0);
  picture.view().value<std::uint8_t>(20, 18) = 201;
  const Image result = dilate(device_under_test(), picture, {.radius = pixels(7, 4)});
  for (int y = 0; y < 37; ++y)
    for (int x = 0; x < 41; ++x)
      ASSERT_EQ(result.view().value<std::uint8_t>(x, y),
                std::abs(x - 20) <= 7 && std::abs(y - 18) <= 4 ? 201 : 0);
}

TEST(Extreme, NegativeZeroIsBelowZero) {
  Image picture = constant_picture({5, 1, 1, Type::f32}, 0);
  picture.view().value<float>(2, 0) = -0.0F;
  const Device& device = device_under_test();
  const auto low = [](const Image& image, int x) { return std::signbit(image.view().value<float>(x, 0)); };
  const Image eroded = erode(device, picture);
  const Image dilated = dilate(device, picture);
  for (int x = 0; x < 5; ++x) {
    EXPECT_EQ(low(eroded, x), x >= 1 && x <= 3) << x;
    EXPECT_FALSE(low(dilated, x)) << x;
  }
}

// White under alpha 0 must not come out at the edge of a red object.
TEST(Extreme, HiddenColoursDoNotShow) {
  Image picture = constant_picture({20, 20, 4, Type::u8, Alpha::straight}, 1);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 20; ++x) {
      const bool object = x >= 8 && x < 12 && y >= 8 && y < 12;
      if (object)
        picture.view().value<std::uint8_t>(x, y, 1) = picture.view().value<std::uint8_t>(x, y, 2) = 0;
      if (!object) picture.view().value<std::uint8_t>(x, y, 3) = 0;
    }
  const Image result = dilate(device_under_test(), picture, {.radius = 3});
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 20; ++x) {
      const bool seen = x >= 5 && x < 15 && y >= 5 && y < 15;
      ASSERT_EQ(result.view().value<std::uint8_t>(x, y, 3), seen ? 255 : 0);
      ASSERT_EQ(result.view().value<std::uint8_t>(x, y, 1), seen ? 0 : 255) << x << ", " << y;
    }
}

TEST(Extreme, LooseRowsAndFlippedPictures) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int radius : {2, 40}) {
      const Image picture = random_picture({61, 47, 3, type}, 31);
      Plan prepared = plan(device_under_test(), picture.shape(), Dilate{.radius = radius});
      expect_same_of_every_layout(prepared, picture);
    }
}

TEST(ExtremeRefused, RadiiThatAreNotWhole) {
  const Image picture = random_picture({12, 9, 3, Type::u8}, 1);
  const Device& device = device_under_test();
  const auto refused = [&](const std::string& piece, const Erode& parameters) {
    expect_error(ErrorKind::usage, piece, [&] { return erode(device, picture, parameters); });
  };
  refused("radius 2.5 pixels: whole", {.radius = 2.5});
  refused("radius 0.25 pixels: whole", {.radius = Radius({1, false}, {0.25, false})});
  refused("from 0 to 1048576", {.radius = -1});
  refused("from 0 to 1048576", {.radius = 1'048'577});
  refused("radius nan", {.radius = std::numeric_limits<double>::quiet_NaN()});
  refused("border-value 1.5", {.border = Border::constant, .border_value = 1.5});
  Parameters parameters(find_filter("dilate"));
  for (const char* text : {"2.5", "1,5", "1x0.5", "-1", "2px", "2x", "1e9"})
    expect_error(ErrorKind::usage, "radius", [&] {
      parameters.set("radius", text);
      return 0;
    });
  parameters.set("radius", "2.5%x3");
  EXPECT_EQ(parameters.get("radius"), "2.5%x3");
}

TEST(ExtremeRefused, PicturesAndMasks) {
  const Device& device = device_under_test();
  const Image picture = random_picture({12, 9, 3, Type::u8}, 1);
  const Image wide = random_map(13, 9, Type::u8, 3);
  const Image floats = random_map(12, 9, Type::f32, 3);
  expect_error(ErrorKind::usage, "13 x 9", [&] { return dilate(device, picture, {.mask = wide.view()}); });
  expect_error(ErrorKind::usage, "f32", [&] { return dilate(device, picture, {.mask = floats.view()}); });
  expect_error(ErrorKind::usage, "u32", [&] { return plan(device, Shape{5, 5, 1, Type::u32}, Erode{}); });
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Image bad = random_picture({33, 20, 3, Type::f32}, 7);
    bad.view().value<float>(32, 19, 2) = value;
    expect_error(ErrorKind::input, "NaN or infinite", [&] { return erode(device, bad); });
  }
}

/// Gives fully transparent pixels of the result the picture's colours.
void keep_hidden_colours(const Image& picture, Image& result) {
  const Shape& shape = result.shape();
  if (shape.alpha == Alpha::none) return;
  const auto copy = [&]<class Value>(Value) {
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        if (result.view().value<Value>(x, y, shape.channels - 1) <= 0)
          std::copy_n(picture.view().row<Value>(y) + x * shape.channels, shape.channels - 1,
                      result.view().row<Value>(y) + x * shape.channels);
  };
  if (shape.type == Type::u8) copy(std::uint8_t{});
  if (shape.type == Type::u16) copy(std::uint16_t{});
  if (shape.type == Type::f32) copy(float{});
}

template <class Both, class First, class Second>
void check_both(const Shape& shape, Border border, double border_value, std::uint64_t seed) {
  SCOPED_TRACE(describe(shape) + ", border " + std::to_string(static_cast<int>(border)));
  const Device& device = device_under_test();
  const Image picture = random_picture(shape, seed);
  const Image mask = random_map(shape.width, shape.height, Type::u8, seed + 1);
  const Radius radius = pixels(3, 2);
  const auto run = [&](const Image& source, const auto& parameters) {
    Plan prepared = plan(device, source.shape(), parameters);
    const std::array inputs = {source.view(), parameters.mask};
    return run_plan(device, prepared, inputs);
  };
  const Image between = run(picture, First{radius, border, border_value});
  Image expected = run(between, Second{radius, border, border_value});
  keep_hidden_colours(picture, expected);
  const Image result = run(picture, Both{radius, border, border_value});
  EXPECT_EQ(std::memcmp(result.data(), expected.data(), byte_size(shape)), 0);
  const Image blended = run(picture, Both{radius, border, border_value, mask.view()});
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const int weight = mask.view().value<std::uint8_t>(x, y);
      const std::size_t pixel = static_cast<std::size_t>(shape.channels) * size_of(shape.type);
      const Image& kept = weight == 0 ? picture : expected;
      if (weight == 0 || weight == 255) {
        EXPECT_EQ(std::memcmp(blended.view().at(x, y), kept.view().at(x, y), pixel), 0);
      }
      if (shape.type != Type::u8 || shape.alpha != Alpha::none) continue;
      for (int c = 0; c < shape.channels; ++c) {
        const int own = picture.view().value<std::uint8_t>(x, y, c);
        const int filtered = expected.view().value<std::uint8_t>(x, y, c);
        EXPECT_EQ(blended.view().value<std::uint8_t>(x, y, c),
                  (2 * (own * (255 - weight) + filtered * weight) + 255) / 510);
      }
    }
}

TEST(Extreme, OpeningAndClosingAreBothExtremes) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 3, 4})
      for (const Border border : {Border::shrink, Border::wrap, Border::constant}) {
        const Shape shape{45, 38, channels, type, channels == 4 ? Alpha::straight : Alpha::none};
        check_both<Opening, Erode, Dilate>(shape, border, 0.5, 10);
        check_both<Closing, Dilate, Erode>(shape, border, 0.5, 20);
      }
}

// Nothing is scaled, so that nothing vanishes beside a huge value.
TEST(Extreme, TinyValuesBesideHugeOnesStay) {
  Image picture = constant_picture({4, 4, 1, Type::f32}, 1e6);
  picture.view().value<float>(0, 0) = 1e-30F;
  Plan prepared = plan(device_under_test(), picture.shape(), Erode{});
  Image output = poisoned(picture.shape());
  prepared.run(picture.view(), output.view());
  EXPECT_TRUE(prepared.check().empty());
  EXPECT_EQ(output.view().value<float>(1, 1), 1e-30F);
}

}  // namespace
}  // namespace satin::test
