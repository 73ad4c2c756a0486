// Grain that blurred areas get back.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "satin/error.h"
#include "satin/filters/dof.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/signed_radii.h"

namespace satin::test {
namespace {

constexpr std::int64_t width = 256;
constexpr std::int64_t height = 160;
constexpr std::int64_t edge = width / 2;  ///< columns from here on are out of focus

double uniform(Random& random) { return static_cast<double>(random.below(1000)) / 1000 - 0.5; }

/// Noise of deviation 1: of single pixels, or of pixels that share half of their neighbours' noise.
std::vector<double> noise_of(bool coarse, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> fine(static_cast<std::size_t>(width * height));
  for (double& value : fine)
    value = std::sqrt(3.0) * (uniform(random) + uniform(random) + uniform(random) + uniform(random));
  if (!coarse) return fine;
  std::vector<double> result = fine;
  for (std::int64_t y = 1; y + 1 < height; ++y)
    for (std::int64_t x = 1; x + 1 < width; ++x) {
      const auto at = [&](std::int64_t u, std::int64_t v) {
        return fine[static_cast<std::size_t>(v * width + u)];
      };
      result[static_cast<std::size_t>(y * width + x)] =
          (at(x, y) + 0.25 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1))) / std::sqrt(1.25);
    }
  return result;
}

/// Grain whose deviation, in shares of white, rises from the dark top to the bright bottom.
Image grainy_picture(Type type, int channels, bool coarse, bool alike, Order order = Order::rgb) {
  Shape shape{width, height, channels, type};
  shape.order = order;
  Image picture(shape);
  for (int c = 0; c < channels; ++c) {
    const int colour = order == Order::bgr ? 2 - c : c;
    const std::vector<double> noise = noise_of(coarse, alike ? 5 : 5 + static_cast<std::uint64_t>(colour));
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const double level = 0.25 + 0.5 * static_cast<double>(y) / height;
        set_fraction(picture.view(), x, y, c,
                     level + (0.006 + 0.012 * level) * noise[static_cast<std::size_t>(y * width + x)]);
      }
  }
  return picture;
}

double value_at(const Image& picture, std::int64_t x, std::int64_t y, int c) {
  const ImageView view = picture.view();
  if (view.shape.type == Type::u8) return view.value<std::uint8_t>(x, y, c) / 255.0;
  if (view.shape.type == Type::u16) return view.value<std::uint16_t>(x, y, c) / 65535.0;
  return static_cast<double>(view.value<float>(x, y, c));
}

struct Area {
  std::int64_t left, right, top, bottom;
};
constexpr Area sharp_dark{8, edge - 24, 8, 60};
constexpr Area sharp_bright{8, edge - 24, 100, 152};
constexpr Area blurred_dark{edge + 24, width - 8, 8, 60};
constexpr Area blurred_bright{edge + 24, width - 8, 100, 152};

/// Deviation of the difference to the neighbours at this distance.
double high_pass(const Image& picture, const Area& area, int c, std::int64_t away = 1) {
  double sum = 0;
  for (std::int64_t y = area.top; y < area.bottom; ++y)
    for (std::int64_t x = area.left; x < area.right; ++x) {
      const double around = value_at(picture, x - away, y, c) + value_at(picture, x + away, y, c) +
                            value_at(picture, x, y - away, c) + value_at(picture, x, y + away, c);
      sum += std::pow(value_at(picture, x, y, c) - around / 4, 2);
    }
  return std::sqrt(sum / static_cast<double>((area.right - area.left) * (area.bottom - area.top)));
}

Image blurred(const Image& picture, double grain, const Device& device = device_under_test()) {
  const Image depth = plane_of(width, height, Type::u8, [](auto x, auto) { return x < edge ? 255 : 0; });
  Dof dof;
  dof.depth = depth.view();
  dof.lens.focus = 1;
  dof.lens.strength = 9.0;
  dof.style.grain = grain;
  return satin::dof(device, picture, dof);
}

TEST(Grain, ComesBackByLevelAndSize) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const bool coarse : {false, true}) {
      const Image picture = grainy_picture(type, 3, coarse, false);
      const Image plain = blurred(picture, 0);
      const Image grainy = blurred(picture, 1);
      for (int c = 0; c < 3; ++c)
        for (const auto& [sharp, soft] :
             {std::pair{sharp_dark, blurred_dark}, std::pair{sharp_bright, blurred_bright}}) {
          const double expected = high_pass(picture, sharp, c);
          EXPECT_LT(high_pass(plain, soft, c), 0.25 * expected);
          EXPECT_NEAR(high_pass(grainy, soft, c) / expected, 1, 0.15) << name_of(type) << coarse << c;
          EXPECT_NEAR(high_pass(grainy, soft, c, 2) / high_pass(picture, sharp, c, 2), 1, 0.15) << coarse;
        }
      const Image half = blurred(picture, 0.5);
      EXPECT_NEAR(high_pass(half, blurred_bright, 1) / high_pass(picture, sharp_bright, 1), 0.5, 0.1);
    }
}

TEST(Grain, IsAlikeInChannelsWhereThePictureIs) {
  for (const bool alike : {false, true}) {
    const Image grainy = blurred(grainy_picture(Type::u16, 3, false, alike), 1);
    const Image plain = blurred(grainy_picture(Type::u16, 3, false, alike), 0);
    double both = 0, first = 0, second = 0;
    for (std::int64_t y = blurred_dark.top; y < blurred_dark.bottom; ++y)
      for (std::int64_t x = blurred_dark.left; x < blurred_dark.right; ++x) {
        const double a = value_at(grainy, x, y, 0) - value_at(plain, x, y, 0);
        const double b = value_at(grainy, x, y, 1) - value_at(plain, x, y, 1);
        both += a * b;
        first += a * a;
        second += b * b;
      }
    EXPECT_NEAR(both / std::sqrt(first * second), alike ? 1 : 0, 0.1);
  }
}

TEST(Grain, LeavesFocusAndSmoothPicturesAlone) {
  for (const Type type : {Type::u8, Type::f32}) {
    const Image picture = grainy_picture(type, 3, false, false);
    const Image grainy = blurred(picture, 1);
    const Image plain = blurred(picture, 0);
    EXPECT_NE(difference(grainy, plain), "");
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < edge - 16; ++x)
        for (int c = 0; c < 3; ++c) ASSERT_EQ(value_at(grainy, x, y, c), value_at(picture, x, y, c));
    const Image flat = constant_picture({width, height, 3, type}, 0.4);
    EXPECT_EQ(difference(blurred(flat, 1), flat), "");
  }
}

TEST(Grain, IsTheSameOnEveryDeviceAndInEveryOrder) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 3}) {
      const Image picture = grainy_picture(type, channels, false, false);
      EXPECT_EQ(difference(blurred(picture, 0.7), blurred(picture, 0.7, cpu_of_threads(3))), "");
    }
  const Image rgb = blurred(grainy_picture(Type::u8, 3, false, false), 1);
  const Image bgr = blurred(grainy_picture(Type::u8, 3, false, false, Order::bgr), 1);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        ASSERT_EQ(value_at(rgb, x, y, c), value_at(bgr, x, y, 2 - c)) << x << ' ' << y;
}

TEST(Grain, IsThatOfTheFocusWhereTheRestIsSmoother) {
  Image picture = grainy_picture(Type::u16, 3, false, false);
  const MutableImageView view = picture.view();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = edge; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        const double level = 0.25 + 0.5 * static_cast<double>(y) / height;
        set_fraction(view, x, y, c, level + (value_at(picture, x, y, c) - level) / 1.6);
      }
  const Image grainy = blurred(picture, 1);
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(high_pass(grainy, blurred_dark, c) / high_pass(picture, sharp_dark, c), 1, 0.15);
    EXPECT_NEAR(high_pass(grainy, blurred_bright, c) / high_pass(picture, sharp_bright, c), 1, 0.15);
  }
}

TEST(Grain, CoversWhatNearBlurSpillsOver) {
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    Image picture = grainy_picture(type, 1, false, false);
    const MutableImageView view = picture.view();
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < edge; ++x) set_fraction(view, x, y, 0, value_at(picture, x, y, 0) / 3);
    const Image depth = plane_of(width, height, Type::u8, [](auto x, auto) { return x < edge ? 255 : 0; });
    Dof dof;
    dof.depth = depth.view();
    dof.lens.focus = 0;
    dof.lens.strength = 24.0;
    if (type != Type::f32) dof.space = Space::encoded;
    const Image plain = satin::dof(device_under_test(), picture, dof);
    dof.style.grain = 1;
    const Image grainy = satin::dof(device_under_test(), picture, dof);
    EXPECT_EQ(difference(grainy, satin::dof(cpu_of_threads(3), picture, dof)), "");
    const Area spill{edge + 2, edge + 8, 8, 152};
    const double expected = high_pass(picture, {edge + 40, width - 8, 8, 152}, 0);
    EXPECT_LT(high_pass(plain, spill, 0), 0.75 * expected);
    EXPECT_NEAR(high_pass(grainy, spill, 0) / expected, 1, 0.25) << name_of(type);
  }
}

/// Left half sharp, right half blurred; in each the upper part is dark and the lower part bright, with noise
/// of these deviations in codes of 255.
Image two_levels(double dark_noise, double bright_noise) {
  const std::vector<double> noise = noise_of(false, 9);
  Image picture({width, height, 1, Type::u8});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const double deviation = y < sharp_dark.bottom ? dark_noise : bright_noise;
      const double level = y < sharp_dark.bottom ? 40 : 56;
      set_fraction(picture.view(), x, y, 0,
                   (level + deviation * noise[static_cast<std::size_t>(y * width + x)]) / 255);
    }
  return picture;
}

TEST(Grain, ComesBackByLevelWhereItIsLittle) {
  const Image picture = two_levels(0.8, 2.4);
  const Image grainy = blurred(picture, 1);
  const Area dark{blurred_dark.left, blurred_dark.right, 8, sharp_dark.bottom - 12};
  EXPECT_NEAR(high_pass(grainy, dark, 0) / high_pass(picture, sharp_dark, 0), 1, 0.2);
  EXPECT_NEAR(high_pass(grainy, blurred_bright, 0) / high_pass(picture, sharp_bright, 0), 1, 0.2);
}

TEST(Grain, FlatColoursStayFlatBesideNoise) {
  const Image picture = two_levels(0, 2.4);
  const Image grainy = blurred(picture, 1);
  EXPECT_GT(high_pass(grainy, blurred_bright, 0), 0.8 * high_pass(picture, sharp_bright, 0));
  for (std::int64_t y = 0; y < sharp_dark.bottom - 20; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      ASSERT_EQ(value_at(grainy, x, y, 0), 40.0 / 255) << x << ' ' << y;
}

TEST(Grain, SharesOutOfRangeAreRefused) {
  for (const double grain : {-0.1, 1.1})
    expect_error(ErrorKind::usage, "grain", [&] {
      return blurred(constant_picture({width, height, 1, Type::u8}, 0.4), grain);
    });
}

}  // namespace
}  // namespace satin::test
