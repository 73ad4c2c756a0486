// Steps of 8-bit depth vanish on smooth surfaces, and edges stay in place.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

constexpr int half_pixel = 128;

LensFocus strong(double strength) {
  LensFocus focus;
  focus.focus = 0.5;
  focus.strength = strength;
  focus.max_radius = 512;
  return focus;
}

int largest_step(const RadiiResult& result, std::int64_t width, std::int64_t height) {
  int largest = 0;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      if (x > 0) largest = std::max(largest, std::abs(result.at(x, y) - result.at(x - 1, y)));
      if (y > 0) largest = std::max(largest, std::abs(result.at(x, y) - result.at(x, y - 1)));
    }
  return largest;
}

TEST(SmoothSteps, SlopesHaveNoStepOfHalfAPixel) {
  for (const double across : {0.3, 0.11, 0.02})
    for (const double down : {0.0, 0.07, 0.25}) {
      const auto code = [&](std::int64_t x, std::int64_t y) {
        return 20 + across * static_cast<double>(x) + down * static_cast<double>(y);
      };
      const Image depth = plane_of(300, 200, Type::u8, code);
      const double strength = 255;  // one pixel of radius for each code
      const RadiiResult result = radii_of(dark_picture(300, 200), depth, strong(strength));
      // Next to the border windows are small, and the outermost rows keep their steps
      for (std::int64_t y = 2; y < 198; ++y)
        for (std::int64_t x = 3; x < 298; ++x) {
          ASSERT_LT(std::abs(result.at(x, y) - result.at(x - 1, y)), half_pixel) << x << ", " << y;
          const double exact = 256 * strength * (code(x, y) / 255 - 0.5);
          ASSERT_NEAR(result.at(x, y), exact, 256 * strength / 255 / 2 + 1);
        }
    }
}

TEST(SmoothSteps, EdgesStayInPlace) {
  const auto code = [](std::int64_t x, std::int64_t y) {
    const bool near = std::hypot(x - 70, y - 50) < 30;
    return near ? 180.0 : 60 + 0.1 * static_cast<double>(x);
  };
  const Image depth = plane_of(140, 100, Type::u8, code);
  const RadiiResult result = radii_of(dark_picture(140, 100), depth, strong(255));
  for (std::int64_t y = 0; y < 100; ++y)
    for (std::int64_t x = 0; x < 140; ++x) {
      const double stored = static_cast<double>(depth.view().value<std::uint8_t>(x, y));
      ASSERT_NEAR(result.at(x, y), 256 * (stored - 127.5), 256 * 0.75) << x << ", " << y;
    }
}

TEST(SmoothSteps, CodesThatDifferByMoreThanOneKeepTheirValue) {
  Random random(12);
  const Image depth =
      plane_of(70, 50, Type::u8, [&](std::int64_t, std::int64_t) { return 3.0 * random.between(0, 85); });
  const RadiiResult result = radii_of(dark_picture(70, 50), depth, strong(255));
  for (std::int64_t y = 0; y < 50; ++y)
    for (std::int64_t x = 0; x < 70; ++x)
      ASSERT_EQ(result.at(x, y), 256 * depth.view().value<std::uint8_t>(x, y) - 256 * 255 / 2);
}

TEST(SmoothSteps, AConstantStaysConstant) {
  for (const double code : {0.0, 1.0, 127.0, 254.0, 255.0}) {
    const Image depth = plane_of(90, 70, Type::u8, [&](std::int64_t, std::int64_t) { return code; });
    const RadiiResult result = radii_of(dark_picture(90, 70), depth, strong(255));
    EXPECT_EQ(result.at(45, 35), 256 * code - 256 * 127.5);
    EXPECT_EQ(largest_step(result, 90, 70), 0);
  }
}

TEST(SmoothSteps, InvisibleStepsAndOtherTypesKeepTheirValue) {
  const auto code = [](std::int64_t x, std::int64_t) { return std::floor(0.05 * static_cast<double>(x)); };
  const Image depth = plane_of(200, 60, Type::u8, code);
  // 15.9 pixels over 255 codes are steps of 15.96 / 256 pixel
  const RadiiResult weak = radii_of(dark_picture(200, 60), depth, strong(15.9));
  const Image wide =
      plane_of(200, 60, Type::u16, [&](std::int64_t x, std::int64_t y) { return 257 * code(x, y); });
  const RadiiResult sixteen = radii_of(dark_picture(200, 60), wide, strong(255));
  for (std::int64_t x = 0; x < 200; ++x) {
    EXPECT_EQ(weak.at(x, 30), std::floor(256 * 15.9 * (code(x, 0) / 255 - 0.5) + 0.5)) << x;
    EXPECT_EQ(sixteen.at(x, 30), 256 * code(x, 0) - 256 * 127.5) << x;
  }
}

TEST(SmoothSteps, ImagesOfAnySizeAreEqualOnBothBackends) {
  // radii_of() compares the radii of a GPU with those of the CPU
  for (const std::int64_t width : {1, 2, 33, 95, 96, 97, 193})
    for (const std::int64_t height : {1, 3, 63, 64, 65, 130}) {
      Random random(static_cast<std::uint64_t>(width * 1000 + height));
      const Image depth = plane_of(width, height, Type::u8, [&](auto x, auto y) {
        return random.one_in(900) ? 7.0 : static_cast<double>((x / 9 + y / 7 + (x > 120 ? 40 : 0)) % 256);
      });
      LensFocus focus = strong(2000);
      for (const bool unknown : {false, true}) {
        if (unknown) focus.unknown = 7;
        EXPECT_FALSE(radii_of(dark_picture(width, height), depth, focus).radii.empty())
            << width << " x " << height;
      }
    }
}

TEST(SmoothSteps, UnknownCodesAreNotAveraged) {
  LensFocus focus = strong(255);
  focus.unknown = 99;
  const auto hole = [](std::int64_t x, std::int64_t y) {
    return std::abs(x - 30) < 4 && std::abs(y - 30) < 4;
  };
  const Image depth =
      plane_of(60, 60, Type::u8, [&](std::int64_t x, std::int64_t y) { return hole(x, y) ? 99.0 : 100.0; });
  const RadiiResult result = radii_of(dark_picture(60, 60), depth, focus);
  for (std::int64_t y = 0; y < 60; ++y)
    for (std::int64_t x = 0; x < 60; ++x) ASSERT_EQ(result.at(x, y), 256 * (100 - 127.5)) << x << ", " << y;
}

}  // namespace
}  // namespace satin::test
