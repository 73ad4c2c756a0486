// White stays white: pictures with the largest sums, around the bounds at which a GPU changes the kernel.

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

// Around the largest column sums in 16 bits, of 257 white rows, and divisors of 2^15.
TEST(WhiteStaysWhite, AtTheBoundsOfPackedSums) {
  constexpr std::array<std::array<double, 2>, 6> pairs = {
      {{63, 128}, {64, 128}, {63, 129}, {90, 90}, {90, 91}, {0, 128}}};
  for (int channels = 1; channels <= 4; ++channels)
    for (const auto& [x, y] : pairs) {
      const Image white = constant_picture({296, 300, channels, Type::u8}, 1);
      const Blur blur_of_both{.radius = Radius(Length{x, false}, Length{y, false}), .space = Space::encoded};
      EXPECT_EQ(difference(blur(device_under_test(), white, blur_of_both), white), "") << x << ", " << y;
    }
}

// Around the largest 32-bit sums of a box (65537 pixels of 16 bits) and of a column (256 rows of 24 bits, 257
// of linear light times alpha), and around divisors of 2^28, which a radius larger by 1/256 pixel reaches.
TEST(WhiteStaysWhite, AtTheBoundsOfTheBoxFilter) {
  constexpr std::array<std::array<double, 2>, 11> pairs = {{{127, 127},
                                                            {128, 127},
                                                            {127, 128},
                                                            {128, 128},
                                                            {16, 129},
                                                            {129, 3},
                                                            {0, 64},
                                                            {1, 0},
                                                            {31.50390625, 31.50390625},
                                                            {31.99609375, 31.99609375},
                                                            {40.00390625, 33}}};
  for (const Type type : {Type::u8, Type::u16})
    for (int channels = 1; channels <= 4; ++channels)
      for (const auto& [x, y] : pairs)
        for (const Space space : {Space::linear, Space::encoded}) {
          Shape shape{297, 301, channels, type};
          if (channels % 2 == 0) shape.alpha = Alpha::straight;
          const Image white = constant_picture(shape, 1);
          const Blur blur_of_both{.radius = Radius(Length{x, false}, Length{y, false}), .space = space};
          EXPECT_EQ(difference(blur(device_under_test(), white, blur_of_both), white), "") << x << ", " << y;
        }
}

// Bytes become 16 bits between successive boxes, then bytes again: around the largest 32-bit sums, (2 n + 3)
// (2 r + 1) < 257 for fractional radii and 255 x 255 for whole ones, and around the largest divisors of the
// last box.
TEST(WhiteStaysWhite, AtTheBoundsOfSumsBetweenBoxes) {
  for (const double radius : {9.0, 15.125, 15.140625, 15.1875, 20.5, 21.375, 22.0, 381.0, 383.0, 384.5})
    for (int channels = 1; channels <= 4; ++channels)
      for (const Space space : {Space::linear, Space::encoded}) {
        if (slow_build() && channels != 3) continue;
        const Image white = constant_picture({297, 301, channels, Type::u8}, 1);
        Blur gaussian{.radius = radius, .space = space};
        gaussian.kernel = Kernel::gaussian;
        EXPECT_EQ(difference(blur(device_under_test(), white, gaussian), white), "") << radius;
      }
}

// Around the bounds of maps: the largest sums of packed table entries and divisors of tiles; in linear light,
// boxes of 255 x 255 pixels, whose sums fit 32 bits, and of 509 x 509, whose quarters do.
TEST(WhiteStaysWhite, ByAMap) {
  for (int channels = 1; channels <= 4; ++channels)
    for (const double radius : {0.0, 1.0, 27.0, 28.0, 31.996, 32.0, 34.5, 35.0, 36.0, 44.0, 62.75, 63.0, 64.0,
                                90.5, 127.0, 128.0, 128.5, 255.0, 255.5}) {
      if (slow_build() && channels != 3) continue;
      const Image white = constant_picture({520, 530, channels, Type::u8}, 1);
      const Image map = random_map(520, 530, Type::u8, 7);
      for (const auto& [low, space] : {std::pair{0.0, Space::encoded}, std::pair{radius, Space::encoded},
                                       std::pair{0.0, Space::linear}, std::pair{radius, Space::linear}}) {
        Blur blur_by_map{.space = space};
        blur_by_map.radius_map = map.view();
        blur_by_map.radius_min = low;
        blur_by_map.radius_max = radius;
        EXPECT_EQ(difference(blur(device_under_test(), white, blur_by_map), white), "")
            << channels << " channels, radii " << low << " to " << radius;
      }
    }
}

// Box sums around 2^32 under a random mask, with windows of the most rows whose counts fit bytes.
TEST(WhiteStaysWhite, WhereAMaskExcludes) {
  constexpr std::array<std::array<double, 2>, 8> pairs = {
      {{96, 96}, {169, 96}, {170, 96}, {127, 97}, {3, 96}, {96, 0}, {0, 7}, {129.5, 64}}};
  for (const int channels : {1, 3})
    for (const auto& [x, y] : pairs)
      for (const Border border : {Border::shrink, Border::mirror}) {
        const Image white = constant_picture({520, 203, channels, Type::u8}, 1);
        const Image mask = random_picture({520, 203, 1, Type::u8}, 9);
        const Blur excluding{.radius = Radius(Length{x, false}, Length{y, false}),
                             .border = border,
                             .mask = mask,
                             .mask_mode = MaskMode::exclude};
        EXPECT_EQ(difference(blur(device_under_test(), white, excluding), white), "")
            << channels << " channels, " << x << ", " << y;
      }
}

// More rows than a grid can have blocks.
TEST(WhiteStaysWhite, ByAMapInAHighPicture) {
  const Image white = constant_picture({5, 70'001, 3, Type::u8}, 1);
  const Image map = random_map(5, 70'001, Type::u8, 8);
  Blur blur_by_map{.space = Space::encoded};
  blur_by_map.radius_map = map.view();
  blur_by_map.radius_max = 90;
  EXPECT_EQ(difference(blur(device_under_test(), white, blur_by_map), white), "");
}

}  // namespace
}  // namespace satin::test
