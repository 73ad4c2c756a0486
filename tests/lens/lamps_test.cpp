// Lamps: dof() draws bright points that are out of focus by the aperture, with its exact shape.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

#include "satin/filters/dof.h"
#include "tests/lens/lamp_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

Image point(std::int64_t size, Type type) { return point_at(size, type, size / 2, size / 2); }

/// Whether a point, in radii from the centre, is in the disc.
bool in_disc(double x, double y) { return x * x + y * y <= 1; }

/// As in_disc(), for a regular polygon of the disc's variance that stands on a side, turned clockwise.
auto polygon(int blades, double degrees) {
  const double part = 2 * std::numbers::pi / blades;
  // The variance along an axis of a polygon whose corners are at distance R is R^2 (2 + cos part) / 12.
  const double corner = std::sqrt(3 / (2 + std::cos(part)));
  const double turn = degrees * std::numbers::pi / 180;
  return [=](double x, double y) {
    for (int i = 0; i < blades; ++i) {
      const double normal = std::numbers::pi / 2 + turn + part * i;
      if (x * std::cos(normal) + y * std::sin(normal) > corner * std::cos(part / 2)) return false;
    }
    return true;
  };
}

/// Share of a pixel that the shape covers.
template <class Inside>
double covered(const Inside& inside, double radius, double dx, double dy) {
  constexpr int samples = 8;
  if (std::max(std::abs(dx), std::abs(dy)) > 1.5 * radius + 1) return 0;
  int hits = 0;
  for (int i = 0; i < samples; ++i)
    for (int j = 0; j < samples; ++j)
      hits +=
          inside((dx + (i + .5) / samples - .5) / radius, (dy + (j + .5) / samples - .5) / radius) ? 1 : 0;
  return static_cast<double>(hits) / (samples * samples);
}

/// Light in wrong pixels, and all light.
template <class Inside>
std::pair<double, double> misplaced(const Image& result, double radius, const Inside& inside) {
  const std::int64_t size = result.shape().width;
  std::vector<double> expected;
  for (std::int64_t y = 0; y < size; ++y)
    for (std::int64_t x = 0; x < size; ++x)
      expected.push_back(
          covered(inside, radius, static_cast<double>(x - size / 2), static_cast<double>(y - size / 2)));
  const double area = std::accumulate(expected.begin(), expected.end(), 0.0);
  double outside = 0;
  double sum = 0;
  for (std::int64_t y = 0; y < size; ++y)
    for (std::int64_t x = 0; x < size; ++x) {
      const auto found = static_cast<double>(result.view().value<float>(x, y));
      outside += std::max(0.0, found - expected[static_cast<std::size_t>(y * size + x)] / area);
      sum += found;
    }
  return {outside, sum};
}

TEST(Lamps, APointBecomesTheTrueDisc) {
  for (const double radius : {4.0, 8.0, 13.3, 24.0, 64.0}) {
    const Image result = out_of_focus(point(size_for(radius), Type::f32), radius, {});
    const auto [outside, light] = misplaced(result, radius, in_disc);
    EXPECT_LE(outside, 0.005) << radius;
    EXPECT_NEAR(light, 1, 4e-4) << radius;
  }
}

TEST(Lamps, APointBecomesTheTruePolygon) {
  for (const auto& [bokeh, blades, angle] : {std::tuple{Bokeh::hexagon, 6, 0.0},
                                             {Bokeh::square, 4, 0.0},
                                             {Bokeh::polygon, 3, 0.0},
                                             {Bokeh::polygon, 5, 17.0},
                                             {Bokeh::polygon, 9, 100.0},
                                             {Bokeh::square, 4, 45.0}})
    for (const double radius : {8.0, 24.0}) {
      LensStyle style;
      style.bokeh = bokeh;
      if (bokeh == Bokeh::polygon) style.blades = blades;
      style.blade_angle = angle;
      const Image result = out_of_focus(point(size_for(radius), Type::f32), radius, style);
      const auto [outside, light] = misplaced(result, radius, polygon(blades, angle));
      EXPECT_LE(outside, 0.01) << blades << " blades, radius " << radius;
      EXPECT_NEAR(light, 1, 2e-3) << "the staircases of the black pixels have another shape";
    }
}

TEST(Lamps, APointThatIsNoLampBecomesAPolygon) {
  for (const auto& [blades, angle] : {std::pair{3, 0.0}, {5, 17.0}, {6, 10.0}, {9, 100.0}})
    for (const double radius : {12.0, 24.0, 40.0}) {
      LensStyle style;
      style.bokeh = Bokeh::polygon;
      style.blades = blades;
      style.blade_angle = angle;
      const std::int64_t size = size_for(radius);
      Image picture = constant_picture({size, size, 1, Type::f32}, 0);
      set_fraction(picture.view(), size / 2, size / 2, 0, 0.5);
      Image result = out_of_focus(picture, radius, style);
      for (std::int64_t y = 0; y < size; ++y)
        for (std::int64_t x = 0; x < size; ++x) result.view().value<float>(x, y) *= 2;
      const auto [outside, light] = misplaced(result, radius, polygon(blades, angle));
      EXPECT_LE(outside, radius < 32 ? 0.07 : 0.04) << blades << " blades, radius " << radius;
      EXPECT_NEAR(light, 1, 2e-3) << blades << " blades, radius " << radius;
    }
}

TEST(Lamps, TheOutlineHasNoSteps) {
  // The light of a row shows where its ends are.
  constexpr double radius = 64;
  const std::int64_t size = size_for(radius);
  const Image result = out_of_focus(point(size, Type::f32), radius, {});
  const double level = static_cast<double>(result.view().value<float>(size / 2, size / 2));
  for (std::int64_t dy = -66; dy <= 66; ++dy) {
    double light = 0;
    for (std::int64_t x = 0; x < size; ++x) {
      const auto value = static_cast<double>(result.view().value<float>(x, size / 2 + dy));
      const double distance = std::hypot(static_cast<double>(x - size / 2), static_cast<double>(dy));
      if (distance < radius - 1.1) {
        ASSERT_NEAR(value, level, 0.002 * level);
      }
      if (distance > radius + 1.1) {
        ASSERT_EQ(value, 0);
      }
      light += value;
    }
    double expected = 0;  // mean width of the disc over the height of the pixels
    for (int i = 0; i < 64; ++i) {
      const double y = static_cast<double>(dy) + (i + .5) / 64 - .5;
      expected += std::sqrt(std::max(0.0, radius * radius - y * y)) / 32;
    }
    EXPECT_NEAR(light / level, expected, 1.2) << dy;  // two ends of 0.6
  }
}

TEST(Lamps, LampsOf8BitsHaveTheSameShape) {
  for (const double radius : {8.0, 20.0}) {
    LensStyle style;
    style.highlights = 1;
    const std::int64_t size = size_for(radius);
    const Image result = out_of_focus(point(size, Type::u8), radius, style);
    for (std::int64_t y = 0; y < size; ++y)
      for (std::int64_t x = 0; x < size; ++x) {
        const double distance =
            std::hypot(static_cast<double>(x - size / 2), static_cast<double>(y - size / 2));
        const int code = result.view().value<std::uint8_t>(x, y);
        if (std::abs(distance - radius) > 1.2) {
          EXPECT_EQ(code > 0, distance < radius) << x << ", " << y;
        }
      }
  }
}

TEST(Lamps, ASqueezedDiscIsAnEllipseOfItsArea) {
  for (const double squeeze : {0.5, 1.5, 2.0}) {
    LensStyle style;
    style.squeeze = squeeze;
    const double root = std::sqrt(squeeze);
    const Image result = out_of_focus(point(151, Type::f32), 16, style);
    const auto [outside, light] =
        misplaced(result, 16, [&](double x, double y) { return in_disc(x * root, y / root); });
    EXPECT_LE(outside, 0.006) << squeeze;
    EXPECT_NEAR(light, 1, 4e-4);
  }
}

/// Linear light.
double light_of(const Image& result) {
  const ImageView view = result.view();
  const auto decoded = [](double code) {
    return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
  };
  double sum = 0;
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    for (std::int64_t x = 0; x < view.shape.width; ++x) {
      if (view.shape.type == Type::f32) sum += static_cast<double>(view.value<float>(x, y));
      if (view.shape.type == Type::u16) sum += decoded(view.value<std::uint16_t>(x, y) / 65535.0);
      if (view.shape.type == Type::u8) sum += decoded(view.value<std::uint8_t>(x, y) / 255.0);
    }
  return sum;
}

TEST(Lamps, ACatsEyeAndOnionRingsKeepTheLight) {
  for (const auto& [cats_eye, onion] : {std::pair{1.0, 0.0}, {0.0, 1.0}, {0.6, 0.4}}) {
    LensStyle style;
    style.cats_eye = cats_eye;
    style.onion = onion;
    Image picture = constant_picture({201, 201, 1, Type::f32}, 0);
    picture.view().value<float>(60, 70) = 1;
    const Image result = out_of_focus(picture, 15, style);
    EXPECT_NEAR(light_of(result), 1, 2e-3);
    int lit = 0;
    double brightest = 0;
    double darkest = 1;
    for (std::int64_t y = 50; y <= 90; ++y)
      for (std::int64_t x = 40; x <= 80; ++x) {
        const auto value = static_cast<double>(result.view().value<float>(x, y));
        lit += value > 0 ? 1 : 0;
        brightest = std::max(brightest, value);
        if (std::hypot(static_cast<double>(x - 60), static_cast<double>(y - 70)) < 6)
          darkest = std::min(darkest, value);
      }
    const double disc_pixels = std::numbers::pi * 15 * 15;
    if (cats_eye == 1) {
      EXPECT_LT(lit, 0.92 * disc_pixels) << "cut";
    }
    if (cats_eye == 0) {
      EXPECT_GT(lit, disc_pixels);
    }
    const double contrast = onion == 1 ? 0.5 : onion == 0 ? 1 : 0.8;
    EXPECT_NEAR(darkest / brightest, contrast, 0.05);
  }
}

/// Light of columns `first` to `last` - 1, counted from the centre.
double light_between(const Image& result, double first, double last) {
  const std::int64_t size = result.shape().width;
  double sum = 0;
  for (std::int64_t y = 0; y < size; ++y)
    for (std::int64_t x = 0; x < size; ++x) {
      const auto from_middle = static_cast<double>(x - size / 2);
      if (from_middle >= first && from_middle < last)
        sum += static_cast<double>(result.view().value<float>(x, y));
    }
  return sum;
}

TEST(Lamps, APictureIsTheAperture) {
  const Image picture = point(141, Type::f32);
  const auto half = [](Type type) {
    Image aperture = constant_picture({40, 40, 1, type}, 0);
    for (std::int64_t y = 0; y < 40; ++y)
      for (std::int64_t x = 0; x < 20; ++x) set_fraction(aperture.view(), x, y, 0, 1);
    return aperture;
  };
  const Image result = out_of_focus(picture, 16, {}, half(Type::u8));
  EXPECT_NEAR(light_between(result, -200, 200), 1, 4e-3);
  EXPECT_NEAR(light_between(result, -8, 9), 1, 4e-3) << "half of the width is open";
  EXPECT_NEAR(light_between(result, -8, 0), 0.485, 0.02);
  EXPECT_EQ(difference(out_of_focus(picture, 16, {}, half(Type::u16)), result), "");
  EXPECT_EQ(difference(out_of_focus(picture, 16, {}, half(Type::f32)), result), "");
}

TEST(Lamps, APictureThatIsNotCentredLeavesLampsWhereTheyAre) {
  // Three unlike spots in a corner, near the largest radius
  Image aperture = constant_picture({50, 40, 1, Type::u8}, 0);
  for (std::int64_t y = 5; y < 15; ++y)
    for (std::int64_t x = 30; x < 50; ++x)
      if (x < 33 || x > 44 || y > 12) set_fraction(aperture.view(), x, y, 0, y < 8 ? 0.5 : 1);
  for (const double radius : {8.0, 63.0}) {
    const std::int64_t size = 321;
    const Image result = out_of_focus(point(size, Type::f32), radius, {}, aperture);
    double light = 0, right = 0, down = 0;
    for (std::int64_t y = 0; y < size; ++y)
      for (std::int64_t x = 0; x < size; ++x) {
        const auto value = static_cast<double>(result.view().value<float>(x, y));
        light += value;
        right += value * static_cast<double>(x - size / 2);
        down += value * static_cast<double>(y - size / 2);
      }
    EXPECT_NEAR(right / light, 0, 0.05) << radius;
    EXPECT_NEAR(down / light, 0, 0.05) << radius;
  }
}

TEST(Lamps, AnAperturePictureKeepsItsProportionsAndItsGreys) {
  Image slit = constant_picture({30, 90, 1, Type::u8}, 1);
  for (std::int64_t y = 45; y < 90; ++y)
    for (std::int64_t x = 0; x < 30; ++x) slit.view().value<std::uint8_t>(x, y) = 51;
  const Image result = out_of_focus(point(141, Type::f32), 24, {}, slit);
  EXPECT_NEAR(light_between(result, -8, 9), 1, 0.04) << "a third of the height";
  EXPECT_EQ(light_between(result, 10, 200), 0);
  const auto above = static_cast<double>(result.view().value<float>(70, 60));
  EXPECT_NEAR(static_cast<double>(result.view().value<float>(70, 80)) / above, 0.2, 0.01);
}

TEST(Lamps, WhereAnApertureIsBlackLampsStayAsTheyAre) {
  const Image picture = point(101, Type::f32);
  const Image black = constant_picture({10, 10, 1, Type::u8}, 0);
  EXPECT_NEAR(light_of(out_of_focus(picture, 16, {}, black)), 1, 1e-2);
}

TEST(Lamps, ClippedLampsOf8BitsAreFourTimesAsBrightUnlessTold) {
  const auto light = [](Type type, std::optional<double> highlights, float more = 0) {
    LensStyle style;
    style.highlights = highlights;
    Image picture = point(101, type);
    if (more > 0) picture.view().value<float>(20, 30) = more;
    return light_of(out_of_focus(picture, 8, style));
  };
  EXPECT_NEAR(light(Type::u8, {}) / light(Type::u8, 1), 4, 0.3);
  EXPECT_NEAR(light(Type::u8, 2) / light(Type::u8, 1), 2, 0.15);
  EXPECT_NEAR(light(Type::u16, {}), 1, 1e-2);
  EXPECT_NEAR(light(Type::u16, 6), 6, 6e-2);
  EXPECT_NEAR(light(Type::f32, {}), 1, 1e-3);
  EXPECT_NEAR(light(Type::f32, 4), 4, 4e-3) << "clipped at white";
  EXPECT_NEAR(light(Type::f32, 4, 3), 1 + 3, 4e-3) << "nothing is clipped";
}

TEST(Lamps, WhatIsNotAloneIsNoLamp) {
  Image picture = constant_picture({160, 160, 3, Type::u8}, 0.1);
  for (std::int64_t y = 0; y < 160; ++y)
    for (std::int64_t x = y < 70 ? 60 : 130; x < 160; ++x)
      for (int c = 0; c < 3; ++c) picture.view().value<std::uint8_t>(x, y, c) = 255;
  LensStyle off;
  off.highlights = 1;
  LensStyle strong;
  strong.highlights = 16;
  EXPECT_EQ(difference(out_of_focus(picture, 9, strong), out_of_focus(picture, 9, off)), "");
}

/// Light that the default of 8-bit pictures adds, over the light without.
double light_by_default(const Image& picture, double radius) {
  LensStyle off;
  off.highlights = 1;
  return light_of(out_of_focus(picture, radius, {})) / light_of(out_of_focus(picture, radius, off));
}

void set_white(Image& picture, std::int64_t left, std::int64_t top, std::int64_t width, std::int64_t height) {
  for (std::int64_t y = top; y < top + height; ++y)
    for (std::int64_t x = left; x < left + width; ++x) set_fraction(picture.view(), x, y, 0, 1);
}

TEST(Lamps, LightComesBackWithTheRadius) {
  EXPECT_NEAR(light_by_default(point(101, Type::u8), 4), 1, 0.05);
  EXPECT_NEAR(light_by_default(point(101, Type::u8), 6), 2.5, 0.2);
  EXPECT_NEAR(light_by_default(point(101, Type::u8), 8), 4, 0.3);
}

TEST(Lamps, AGapInFoliageIsAsBrightAsTheSky) {
  Image picture = constant_picture({240, 240, 1, Type::u8}, 0);
  for (std::int64_t y = 70; y < 110; y += 30)
    for (std::int64_t x = 60; x < 200; x += 35) set_white(picture, x, y, 3, 3);
  EXPECT_GT(light_by_default(picture, 12), 2.5) << "lamps in the dark";
  set_white(picture, 0, 0, 240, 45);
  LensStyle off;
  off.highlights = 1;
  EXPECT_EQ(difference(out_of_focus(picture, 12, {}), out_of_focus(picture, 12, off)), "");
}

TEST(Lamps, LitHairIsNoLamp) {
  Image picture = constant_picture({200, 200, 1, Type::u8}, 0);
  for (std::int64_t y = 20; y < 170; y += 14)
    for (std::int64_t x = 20 + y % 5; x < 180; x += 12) set_white(picture, x, y, 1, 10);
  LensStyle off;
  off.highlights = 1;
  const Image result = out_of_focus(picture, 10, {});
  const Image expected = out_of_focus(picture, 10, off);
  for (std::int64_t y = 50; y < 140; ++y)
    for (std::int64_t x = 50; x < 150; ++x)
      ASSERT_EQ(result.view().value<std::uint8_t>(x, y), expected.view().value<std::uint8_t>(x, y));
}

TEST(Lamps, MoreLampsThanThereIsRoomForAreNone) {
  Image picture = constant_picture({400, 400, 1, Type::u8}, 0);
  for (std::int64_t y = 0; y < 400; y += 3)
    for (std::int64_t x = 0; x < 400; x += 3) picture.view().value<std::uint8_t>(x, y) = 255;
  LensStyle off;
  off.highlights = 1;
  LensStyle strong;
  strong.highlights = 16;
  EXPECT_EQ(difference(out_of_focus(picture, 9, strong), out_of_focus(picture, 9, off)), "");
}

TEST(Lamps, StylesOutOfRangeAreRefused) {
  const auto refuse = [](const char* what, const std::function<void(LensStyle&)>& change) {
    LensStyle style;
    change(style);
    expect_error(ErrorKind::usage, what, [&] { (void)out_of_focus(point(41, Type::u8), 4, style); });
  };
  refuse("blades 2", [](LensStyle& style) { style.blades = 2; });
  refuse("polygon", [](LensStyle& style) {
    style.bokeh = Bokeh::square;
    style.blades = 7;
  });
  refuse("blade-angle", [](LensStyle& style) { style.blade_angle = 361; });
  refuse("blade-curvature", [](LensStyle& style) { style.blade_curvature = -0.1; });
  refuse("cats-eye", [](LensStyle& style) { style.cats_eye = 1.1; });
  refuse("onion", [](LensStyle& style) { style.onion = NAN; });
  refuse("squeeze", [](LensStyle& style) { style.squeeze = 0.4; });
  refuse("highlights", [](LensStyle& style) { style.highlights = 65; });
}

}  // namespace
}  // namespace satin::test
