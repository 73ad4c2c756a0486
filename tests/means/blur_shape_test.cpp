// Visible properties of a blur: its impulse response, ramps, symmetry.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "satin/filters/blur.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

TEST(BlurShape, ImpulseOfRadius8IsSeventeenWideAndLevel) {
  for (const Space space : {Space::linear, Space::encoded}) {
    Image picture = constant_picture({41, 41, 1, Type::u16}, 0);
    picture.view().value<std::uint16_t>(20, 20) = 65535;
    const Image result =
        blur(device_under_test(), picture, {.radius = 8, .border = Border::clamp, .space = space});
    const std::uint16_t level = result.view().value<std::uint16_t>(20, 20);
    EXPECT_GT(level, 0);
    if (space == Space::encoded) {
      EXPECT_EQ(level, 227);  // 65535 / 289 = 226.8
    }
    for (int y = 0; y < 41; ++y)
      for (int x = 0; x < 41; ++x) {
        const bool inside = std::abs(x - 20) <= 8 && std::abs(y - 20) <= 8;
        ASSERT_EQ(result.view().value<std::uint16_t>(x, y), inside ? level : 0) << x << ", " << y;
      }
  }
}

TEST(BlurShape, FractionalImpulseHasSoftEdges) {
  Image picture = constant_picture({9, 1, 1, Type::f32}, 0);
  picture.view().value<float>(4, 0) = 9.0F;
  const Radius along_x({1.25, false}, {0, false});
  const Image result = blur(device_under_test(), picture, {.radius = along_x, .border = Border::clamp});
  const double full = 9 / 3.5;
  const std::vector<double> expected = {0, 0, full / 4, full, full, full, full / 4, 0, 0};
  for (int x = 0; x < 9; ++x)
    EXPECT_FLOAT_EQ(result.view().value<float>(x, 0),
                    static_cast<float>(expected[static_cast<std::size_t>(x)]))
        << x;
}

// The mean of a straight ramp over any window inside the picture is the ramp's value.
TEST(BlurShape, RampStaysARampUnderAMap) {
  constexpr int width = 1200;
  Image picture({width, 3, 1, Type::u16});
  Image map({width, 3, 1, Type::u8});
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < width; ++x) {
      picture.view().value<std::uint16_t>(x, y) = static_cast<std::uint16_t>(50 * x);
      map.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(x * 255 / (width - 1));
    }
  Blur parameters{.border = Border::clamp, .space = Space::encoded};
  parameters.radius_max = 40.3;
  parameters.radius_map = map.view();
  const Image result = blur(device_under_test(), picture, parameters);
  for (int x = 42; x + 42 < width; ++x) ASSERT_EQ(result.view().value<std::uint16_t>(x, 1), 50 * x) << x;
}

// The width of a blurred edge follows an 8-bit map without steps: a map value more widens the box by
// radius-max / 255 and not by a whole pixel.
TEST(BlurShape, MapOfEightBitsMakesNoBands) {
  constexpr int size = 512;
  Image picture({65, size, 1, Type::f32});
  Image map({65, size, 1, Type::u8});
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < 65; ++x) {
      picture.view().value<float>(x, y) = x < 32 ? 0.0F : 1.0F;
      map.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(y / 2);
    }
  Blur parameters{.border = Border::clamp};
  parameters.radius_min = 4;
  parameters.radius_max = 16;
  parameters.radius_map = map.view();
  const Image result = blur(device_under_test(), picture, parameters);
  const auto at = [&](int x, int y) { return static_cast<double>(result.view().value<float>(x, y)); };
  const double widening = 12.0 / 255 + 1.0 / 256;  // change of the radius for one map value, plus its quantum
  for (int x = 32; x < 52; ++x)
    for (int y = 1; y < size; ++y) {
      const double radius = 4 + 12.0 * (y / 2) / 255;
      // right of the edge: 1/2 + (x - 31.5) / (2 r + 1); its slope in r bounds the change
      const double bound = 2 * (x - 31.5) / ((2 * radius) * (2 * radius)) * widening + 1e-6;
      ASSERT_LE(at(x, y), at(x, y - 1) + 1e-7) << "not monotone at " << x << ", " << y;
      ASSERT_LE(at(x, y - 1) - at(x, y), bound) << "a step at " << x << ", " << y;
    }
}

// Between passes alpha is rounded to 8 fraction bits. Colours under thin alpha must not exceed white, nor
// fall short of it by more than this rounding: half a unit in 256 alpha per pass.
TEST(BlurShape, WhiteUnderThinAlphaStaysWhite) {
  const auto white_of = [](const ImageView& view, std::int64_t x, std::int64_t y) {
    return view.shape.type == Type::u8 ? view.value<std::uint8_t>(x, y) / 255.0
                                       : view.value<std::uint16_t>(x, y) / 65535.0;
  };
  for (const Type type : {Type::u8, Type::u16})
    for (const Space space : {Space::linear, Space::encoded})
      for (const double radius : {3.3, 8.0, 14.7, 21.0}) {
        Image picture = constant_picture({64, 64, 2, type, Alpha::straight}, 1);
        Random random(31);
        for (int y = 0; y < 64; ++y)
          for (int x = 0; x < 64; ++x)
            set_fraction(picture.view(), x, y, 1,
                         random.one_in(40) ? static_cast<double>(random.below(256)) / 255 : 0);
        for (const Kernel kernel : {Kernel::tent, Kernel::gaussian}) {
          const Image result =
              blur(device_under_test(), picture, {.radius = radius, .kernel = kernel, .space = space});
          for (int y = 0; y < 64; ++y)
            for (int x = 0; x < 64; ++x)
              ASSERT_GE(white_of(result.view(), x, y), 1 - 2.0 / 128)
                  << x << ", " << y << ", radius " << radius;
        }
      }
}

/// Three boxes of equal radius differ by up to 6.0 % from sigma 5 on.
TEST(BlurShape, GaussiansOfWholeBoxesStayNearTheGaussian) {
  for (const double sigma : {5.0, 6.0, 7.3, 8.0, 10.0, 12.0, 16.0, 20.0}) {
    Image impulse = constant_picture({401, 1, 1, Type::f32}, 0);
    impulse.view().value<float>(200, 0) = 1;
    const Image result = blur(device_under_test(), impulse, {.sigma = sigma});
    const double peak = 1 / (sigma * std::sqrt(2 * std::acos(-1.0)));
    for (int x = 0; x < 401; ++x) {
      const double distance = (x - 200) / sigma;
      ASSERT_NEAR(result.view().value<float>(x, 0), peak * std::exp(-distance * distance / 2), 0.061 * peak)
          << "sigma " << sigma << ", x " << x;
    }
  }
}

TEST(BlurShape, SymmetricPicturesStaySymmetric) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const Border border : every_border)
      for (const Kernel kernel : {Kernel::box, Kernel::tent, Kernel::gaussian}) {
        const Image noise = random_picture({21, 21, 1, Type::u8}, 77);
        Image picture({21, 21, 1, type});
        for (int y = 0; y < 21; ++y)
          for (int x = 0; x < 21; ++x) {
            const int u = std::min(std::min(x, 20 - x), std::min(y, 20 - y));
            const int v = std::max(std::min(x, 20 - x), std::min(y, 20 - y));
            set_fraction(picture.view(), x, y, 0, noise.view().value<std::uint8_t>(u, v) / 255.0);
          }
        const Image result = blur(device_under_test(), picture,
                                  {.radius = 3.7, .kernel = kernel, .border = border, .border_value = 0.5});
        const ImageView straight = result.view();
        ImageView mirrored = straight;
        mirrored.data = straight.at(20, 0);
        mirrored.strides.pixel = -straight.strides.pixel;
        ImageView transposed = straight;
        std::swap(transposed.strides.pixel, transposed.strides.row);
        EXPECT_EQ(difference(mirrored, straight), "");
        EXPECT_EQ(difference(transposed, straight), "");
      }
}

}  // namespace
}  // namespace satin::test
