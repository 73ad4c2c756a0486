// Chains of boxes on the CPU: pictures of several tiles, and the bound between integer and double sums.

#include <gtest/gtest.h>

#include "means/box_mean.h"
#include "means/cpu/box_chain.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr Border near_borders[] = {Border::shrink, Border::clamp, Border::reflect, Border::mirror};

BlurCase case_of(const Shape& shape, const Blur& blur, std::uint64_t seed) {
  BlurCase result;
  result.shape = shape;
  result.blur = blur;
  result.seed = seed;
  return result;
}

TEST(BoxChain, IsExactAcrossTilesSideBySide) {
  check_against_oracle(case_of({13400, 8, 3, Type::u8}, {.radius = 1.5, .border = Border::shrink}, 71));
  if (slow_build()) return;
  check_against_oracle(
      case_of({40100, 4, 1, Type::u16}, {.radius = 1, .border = Border::clamp, .space = Space::encoded}, 72));
  check_against_oracle(case_of({13400, 12, 3, Type::u8},
                               {.sigma = 1.1, .border = Border::reflect, .space = Space::encoded}, 73));
  check_against_oracle(case_of({40100, 8, 1, Type::u8}, {.radius = 2, .border = Border::mirror}, 74));
}

TEST(BoxChain, IsExactAcrossTilesOneBelowTheOther) {
  std::uint64_t seed = 171;
  for (const Border border : near_borders)
    for (const Space space : {Space::encoded, Space::linear})
      for (const double sigma : {0.7, 2.5, 4.0}) {
        check_against_oracle(
            case_of({67, 260, 3, Type::u8}, {.sigma = sigma, .border = border, .space = space}, ++seed));
        check_against_oracle(
            case_of({70, 131, 2, Type::u16},
                    {.radius = sigma, .kernel = Kernel::tent, .border = border, .space = space}, ++seed));
        if (HasFatalFailure()) return;
      }
}

BoxMeanJob box_job(const PixelRead& read, Radius256 radius) {
  BoxMeanJob job;
  job.width = job.height = 4096;
  job.read = read;
  job.write = written_as(read);
  job.radius.x = job.radius.y = radius;
  return job;
}

bool uses_doubles(const PixelRead& read, Radius256 radius) {
  const BoxMeanJob job = box_job(read, radius);
  const auto boxes = cpu::chain_of(std::span(&job, 1));
  EXPECT_TRUE(boxes.has_value()) << radius;
  return boxes.has_value() && boxes->front().sums == cpu::Sums::float64;
}

/// Integer sums need a column of 8-bit working values over 2 r + 1 rows, in 1/256, times the whole columns of
/// the window to stay below 2^32.
TEST(BoxChain, UsesDoublesFromTheBoundOn) {
  const PixelRead read = working_pixels(read_pixels({8, 8, 1, Type::u8}, Transfer::identity, 64));
  int first_wide = 0;
  for (Radius256 radius = 257; radius < 9 * 256; ++radius) {
    if (radius % 256 == 0) continue;
    const double column = 65280.0 * (2 * radius + 256);
    const int whole = radius / 256;
    const bool wide = column * (2 * whole + 1) >= 4294967296.0;
    if (wide && first_wide == 0) first_wide = radius;
    EXPECT_EQ(uses_doubles(read, radius), wide) << radius;
  }
  EXPECT_GT(first_wide, 7 * 256);
}

/// Sums of products of colours and alpha are integers while they are below 2^31, in windows of fractions of a
/// pixel below 2^32 with 2^24 to spare.
TEST(BoxChain, UsesDoublesForAlphaFromTheBoundOn) {
  const Shape shape{8, 8, 4, Type::u8, Alpha::straight};
  const PixelRead codes = read_pixels(shape, Transfer::identity, 64);
  const PixelRead light = read_pixels(shape, Transfer::srgb, 64);
  EXPECT_FALSE(uses_doubles(codes, 90 * 256));
  EXPECT_TRUE(uses_doubles(codes, 91 * 256));
  EXPECT_FALSE(uses_doubles(light, 5 * 256));
  EXPECT_TRUE(uses_doubles(light, 6 * 256));
  for (Radius256 radius = 1793; radius < 9 * 256; ++radius) {
    if (radius % 256 == 0) continue;
    const double inner = 65025.0 * (2 * radius + 256) * (2 * (radius / 256) + 1);
    EXPECT_EQ(uses_doubles(codes, radius), inner >= 4278190080.0) << radius;
  }
}

/// Opaque white has the largest of these sums.
TEST(BoxChain, KeepsOpaqueWhiteOnBothSidesOfTheBound) {
  Image white({190, 186, 4, Type::u8, Alpha::straight});
  std::fill_n(white.data(), byte_size(white.shape()), std::byte{0xFF});
  for (const auto& [radius, space] : {std::pair{90.0, Space::encoded},
                                      {91, Space::encoded},
                                      {5, Space::linear},
                                      {6, Space::linear},
                                      {7.9, Space::encoded},
                                      {8.1, Space::encoded},
                                      {2.9, Space::linear},
                                      {3.1, Space::linear}})
    ASSERT_EQ(difference(blur(device_under_test(), white, {.radius = radius, .space = space}), white), "")
        << radius;
}

/// White has the largest sums. It stays white on both sides of the bound.
TEST(BoxChain, KeepsWhiteOnBothSidesOfTheBound) {
  Image white({140, 140, 3, Type::u8});
  std::fill_n(white.data(), byte_size(white.shape()), std::byte{0xFF});
  for (int step = 0; step < 15; ++step)
    for (const Space space : {Space::encoded, Space::linear}) {
      const double sigma = 7.9 + 0.02 * step;
      ASSERT_EQ(difference(blur(device_under_test(), white, {.sigma = sigma, .space = space}), white), "")
          << sigma;
    }
}

/// The GPU's box filter divides by less than 2^28. Windows of sigma 32 reach it: 64 x 64 pixels times 65536.
/// A table serves larger ones.
TEST(BoxChain, IsExactOnBothSidesOfTheLargestDivisor) {
  for (const double sigma : {31.9, 32.1})
    for (const Space space : {Space::encoded, Space::linear})
      check_against_oracle(
          case_of({72, 68, 1, Type::u8}, {.sigma = sigma, .border = Border::clamp, .space = space}, 271));
}

}  // namespace
}  // namespace satin::test
