// Radius maps in linear light, of the formats and around the radii at which a GPU changes the kernel.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

/// Formats whose tables a GPU keeps in shared memory.
constexpr std::array formats = {Format{Type::u8, 1},  Format{Type::u8, 2, Alpha::straight},
                                Format{Type::u8, 3},  Format{Type::u8, 4, Alpha::straight},
                                Format{Type::u16, 1}, Format{Type::u16, 3}};

Shape shape_of(const Format& format, int width, int height) {
  return {width, height, format.channels, format.type, format.alpha};
}

Blur blur_by(const Image& map, double low, double high, Border border = Border::shrink) {
  Blur blur{.border = border, .space = Space::linear};
  blur.radius_map = map.view();
  blur.radius_min = low;
  blur.radius_max = high;
  return blur;
}

// Pictures of several tiles, whose width is no multiple of a warp, with random alpha.
TEST(RadiusMap, OfSeveralTiles) {
  constexpr std::array<std::array<double, 2>, 6> ends = {
      {{0, 24}, {24, 24}, {25.25, 0}, {2, 7}, {100.5, 3}, {200.25, 0}}};
  Random random(0x3A9);
  for (const Format& format : formats)
    for (const Border border : every_border)
      for (const auto& [low, high] : {ends[0], random.pick(ends)}) {
        if (slow_build() && !random.one_in(8)) continue;
        BlurCase blur_case;
        blur_case.shape = shape_of(format, random.between(257, 301), random.between(33, 45));
        blur_case.blur.space = Space::linear;
        blur_case.blur.border = border;
        blur_case.blur.border_value = 0.75;
        blur_case.blur.radius_min = low;
        blur_case.blur.radius_max = high;
        blur_case.map_type = random.pick(std::array{Type::u8, Type::u16, Type::f32});
        blur_case.seed = random.next();
        check_against_oracle(blur_case);
        if (HasFatalFailure()) return;
      }
}

// White has the largest sums: windows of up to 63 x 63 pixels of 24 bits, and of 1023 x 1023 of 16 bits.
TEST(RadiusMap, WhiteStaysWhite) {
  constexpr std::array largest = {24.0, 25.0, 25.25, 26.0, 27.0,  27.25,  28.0, 31.0,
                                  31.5, 32.0, 63.0,  64.0, 124.5, 510.75, 511.0};
  for (const Format& format : formats)
    for (const double radius : largest)
      for (const Border border : {Border::shrink, Border::clamp}) {
        const bool large = radius > 64;
        if (large && (format.type != Type::u8 || border == Border::clamp)) continue;
        const int side = large ? 1030 : 150;
        const Image white = constant_picture(shape_of(format, side, side), 1);
        const Image map = random_map(side, side, Type::u8, 7);
        for (const double low : {0.0, radius}) {
          if (low == 0 && (large || slow_build())) continue;
          EXPECT_EQ(difference(blur(device_under_test(), white, blur_by(map, low, radius, border)), white),
                    "")
              << format.channels << " channels, radii " << low << " to " << radius;
        }
      }
}

TEST(RadiusMap, RadiusZeroKeepsThePicture) {
  const Image map = constant_picture({333, 50, 1, Type::u8}, 0);
  for (const Format& format : formats)
    for (const double high : {24.0, 200.0}) {
      const Image picture = random_picture(shape_of(format, 333, 50), 5);
      EXPECT_EQ(difference(blur(device_under_test(), picture, blur_by(map, 0, high)), picture), "")
          << format.channels << " channels, radii to " << high;
    }
}

// A pixel keeps its colours if all alphas of its window are 0.
TEST(RadiusMap, TransparentPixelsKeepTheirColours) {
  const Image map = random_map(333, 50, Type::u8, 6);
  Image picture = random_picture(shape_of({Type::u8, 4, Alpha::straight}, 333, 50), 5);
  for (std::int64_t y = 0; y < 50; ++y)
    for (std::int64_t x = 0; x < 333; ++x) picture.view().value<std::uint8_t>(x, y, 3) = 0;
  for (const double high : {24.0, 200.0})
    EXPECT_EQ(difference(blur(device_under_test(), picture, blur_by(map, 0, high)), picture), "");
}

TEST(RadiusMap, OpaqueColoursAreThoseWithoutAlpha) {
  const Image map = random_map(333, 90, Type::u8, 8);
  const Image colours = random_picture(shape_of({Type::u8, 3}, 333, 90), 9);
  Image opaque = constant_picture(shape_of({Type::u8, 4, Alpha::straight}, 333, 90), 1);
  for (std::int64_t y = 0; y < 90; ++y)
    for (std::int64_t x = 0; x < 333; ++x)
      for (int c = 0; c < 3; ++c)
        opaque.view().value<std::uint8_t>(x, y, c) = colours.view().value<std::uint8_t>(x, y, c);
  for (const double high : {24.0, 40.0}) {
    const Image without = blur(device_under_test(), colours, blur_by(map, 0, high));
    const Image with = blur(device_under_test(), opaque, blur_by(map, 0, high));
    int differences = 0;
    for (std::int64_t y = 0; y < 90; ++y)
      for (std::int64_t x = 0; x < 333; ++x) {
        for (int c = 0; c < 3; ++c)
          differences +=
              with.view().value<std::uint8_t>(x, y, c) != without.view().value<std::uint8_t>(x, y, c);
        differences += with.view().value<std::uint8_t>(x, y, 3) != 255;
      }
    EXPECT_EQ(differences, 0) << "radii to " << high;
  }
}

}  // namespace
}  // namespace satin::test
