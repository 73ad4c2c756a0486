// blur() against brute force: every format with every border and kind of radius, at random sizes and in both
// spaces.

#include <gtest/gtest.h>

#include <array>

#include "tests/oracles/blur_case.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr std::array sizes = {Size{1, 1},   Size{1, 2},   Size{1, 37},  Size{41, 1},  Size{2, 2},
                              Size{3, 2},   Size{31, 31}, Size{31, 33}, Size{32, 32}, Size{32, 31},
                              Size{33, 33}, Size{33, 32}, Size{17, 70}, Size{129, 5}, Size{1025, 2}};

std::vector<Radius> every_kind_of_radius() {
  const auto pixels = [](double value) { return Length{value, false}; };
  const auto percent = [](double value) { return Length{value, true}; };
  return {Radius(0),
          Radius(0.25),
          Radius(0.5),
          Radius(1),
          Radius(7),
          Radius(63.5),
          Radius(100.125),    // larger than most pictures
          Radius(1.0 / 512),  // a tie: half a quantum
          Radius(pixels(3.75), pixels(0)),
          Radius(pixels(0), pixels(2.5)),
          Radius(pixels(1.3), pixels(12)),
          Radius(pixels(9), pixels(2.7)),
          Radius(percent(10), percent(10)),
          Radius(percent(3.3), pixels(4))};
}

void choose_the_rest(BlurCase& blur_case, Random& random) {
  const auto& size = random.pick(sizes);
  blur_case.shape.width = size[0];
  blur_case.shape.height = size[1];
  blur_case.blur.border_value = static_cast<double>(random.below(5)) / 4;
  const Format format{blur_case.shape.type, blur_case.shape.channels, blur_case.shape.alpha};
  blur_case.blur.space = has_linear_light(format) && random.one_in(2) ? Space::linear : Space::encoded;
  blur_case.seed = random.next();
}

void set_format(BlurCase& blur_case, const Format& format) {
  blur_case.shape.type = format.type;
  blur_case.shape.channels = format.channels;
  blur_case.shape.alpha = format.alpha;
}

class BlurOracle : public testing::TestWithParam<Format> {};

TEST_P(BlurOracle, Box) {
  const Format format = GetParam();
  Random random(0xB0 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : every_border)
    for (const Radius& radius : every_kind_of_radius()) {
      BlurCase blur_case;
      set_format(blur_case, format);
      choose_the_rest(blur_case, random);
      blur_case.blur.radius = radius;
      blur_case.blur.border = border;
      if (slow_build() && !random.one_in(6)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

TEST_P(BlurOracle, BoxWithMask) {
  const Format format = GetParam();
  Random random(0xB1 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : every_border)
    for (const Type mask : {Type::u8, Type::u16}) {
      BlurCase blur_case;
      set_format(blur_case, format);
      choose_the_rest(blur_case, random);
      blur_case.blur.radius = random.pick(every_kind_of_radius());
      blur_case.blur.border = border;
      blur_case.mask_type = mask;
      if (slow_build() && !random.one_in(4)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

TEST_P(BlurOracle, RadiusMap) {
  const Format format = GetParam();
  constexpr std::array<std::array<double, 2>, 6> ends = {
      {{0, 8}, {12.5, 0}, {0.25, 0.75}, {3, 3}, {40, 2.125}, {0, 0}}};
  Random random(0xB2 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : every_border)
    for (const Type map : {Type::u8, Type::u16, Type::f32}) {
      BlurCase blur_case;
      set_format(blur_case, format);
      do choose_the_rest(blur_case, random);
      while (blur_case.shape.width > 100);
      const auto& [low, high] = random.pick(ends);
      blur_case.blur.radius_min = low;
      blur_case.blur.radius_max = high;
      blur_case.blur.border = border;
      blur_case.map_type = map;
      if (random.one_in(3)) blur_case.mask_type = random.one_in(2) ? Type::u8 : Type::u16;
      if (slow_build() && !random.one_in(8)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

TEST_P(BlurOracle, TentAndGaussian) {
  const Format format = GetParam();
  constexpr std::array sigmas = {0.0, 0.08, 0.4, 1.0, 2.7, 11.0, 40.0};
  Random random(0xB3 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : every_border)
    for (int turn = 0; turn < 6; ++turn) {
      BlurCase blur_case;
      set_format(blur_case, format);
      choose_the_rest(blur_case, random);
      blur_case.blur.border = border;
      if (turn % 2 == 0) {
        blur_case.blur.kernel = turn == 0 ? Kernel::tent : Kernel::gaussian;
        blur_case.blur.radius = random.pick(every_kind_of_radius());
      } else {
        blur_case.blur.sigma = random.pick(sigmas);
        if (turn == 3) blur_case.blur.kernel = Kernel::tent;
        if (turn == 5) blur_case.blur.kernel = Kernel::box;
      }
      if (random.one_in(4)) blur_case.mask_type = random.one_in(2) ? Type::u8 : Type::u16;
      if (slow_build() && !random.one_in(6)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

/// Gaussians whose boxes have whole radii except the last, on pictures larger than all boxes together.
TEST_P(BlurOracle, GaussiansOfWholeBoxes) {
  const Format format = GetParam();
  Random random(0xB5 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : every_border)
    for (const double sigma : {0.0, 5.3}) {
      BlurCase blur_case;
      set_format(blur_case, format);
      choose_the_rest(blur_case, random);
      blur_case.shape.width = 118;
      blur_case.shape.height = 91;
      blur_case.blur.border = border;
      blur_case.blur.kernel = Kernel::gaussian;
      blur_case.blur.radius = 13.25;
      if (sigma > 0) blur_case.blur.sigma = sigma;
      if (slow_build() && !random.one_in(6)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

/// Fractional boxes of more than 1024 pixels: weighted sums of 16-bit linear light, or of colours times
/// alpha, exceed 2^50.
TEST_P(BlurOracle, SumsThatDoublesDoNotHold) {
  const Format format = GetParam();
  if (format.type == Type::f32 || (format.type == Type::u8 && format.alpha != Alpha::straight))
    GTEST_SKIP() << "its sums are small";
  Random random(0xB6 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : {Border::shrink, Border::reflect, Border::wrap})
    for (const double radius : {16.5, 20.0 + 77.0 / 256}) {
      BlurCase blur_case;
      set_format(blur_case, format);
      choose_the_rest(blur_case, random);
      blur_case.shape.width = 53;
      blur_case.shape.height = 47;
      blur_case.blur.space = has_linear_light(format) ? Space::linear : Space::encoded;
      blur_case.blur.border = border;
      blur_case.blur.radius = radius;
      if (slow_build() && !random.one_in(3)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

TEST_P(BlurOracle, ExcludingMask) {
  const Format format = GetParam();
  constexpr std::array<std::array<double, 2>, 4> ends = {{{0, 8}, {12.5, 0.25}, {3, 3}, {40, 2.125}}};
  Random random(0xB4 + static_cast<std::uint64_t>(format.channels));
  for (const Border border : every_border)
    for (int turn = 0; turn < 6; ++turn) {
      BlurCase blur_case;
      set_format(blur_case, format);
      do choose_the_rest(blur_case, random);
      while (blur_case.shape.width > 200);
      blur_case.blur.border = border;
      blur_case.blur.mask_mode = MaskMode::exclude;
      blur_case.mask_type = random.one_in(2) ? Type::u8 : Type::u16;
      if (turn < 3) {
        blur_case.blur.radius = random.pick(every_kind_of_radius());
      } else if (turn == 3) {
        blur_case.blur.sigma = 4.7;
        blur_case.blur.kernel = Kernel::box;
      } else {
        const auto& [low, high] = random.pick(ends);
        blur_case.blur.radius_min = low;
        blur_case.blur.radius_max = high;
        blur_case.map_type = turn == 4 ? Type::u8 : random.one_in(2) ? Type::u16 : Type::f32;
      }
      if (slow_build() && !random.one_in(6)) continue;
      check_against_oracle(blur_case);
      if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, BlurOracle, testing::ValuesIn(every_format()), name_of_format);

TEST(BlurLimits, LargestRadius) {
  for (const Border border : every_border) {
    BlurCase blur_case{{7, 5, 3, Type::u8}, {.radius = 16384, .border = border}};
    check_against_oracle(blur_case);
    blur_case.shape.type = Type::f32;  // windows above 2^23 pixels have fewer than 40 bits
    check_against_oracle(blur_case);
  }
}

// Fractional windows whose weighted sums need more than 32 bits although whole ones fit.
TEST(BlurLimits, SumsAroundThirtyTwoBits) {
  for (const double radius : {127.0, 128.0, 127.5, 2052.0}) {
    check_against_oracle(
        {{300, 40, 1, Type::u16}, {.radius = radius, .border = Border::clamp, .space = Space::encoded}});
    check_against_oracle(
        {{300, 40, 1, Type::u8}, {.radius = radius, .border = Border::wrap, .space = Space::linear}});
    check_against_oracle({{40, 300, 1, Type::u8}, {.radius = radius, .space = Space::encoded}});
  }
}

// A constant border of floats above all values of the picture, and a picture that is 0.
TEST(BlurLimits, FloatBorderAboveThePicture) {
  for (const double value : {100.0, -3e6, 1e30}) {
    check_against_oracle(
        {{9, 8, 1, Type::f32}, {.radius = 2.5, .border = Border::constant, .border_value = value}});
    check_against_oracle(
        {{9, 8, 3, Type::f32},
         {.radius = 2.5, .kernel = Kernel::tent, .border = Border::constant, .border_value = value}});
  }
  check_against_oracle(
      {{9, 8, 4, Type::f32, Alpha::straight}, {.radius = 3, .border = Border::constant, .border_value = 50}});
  const Device& device = device_under_test();
  const Image black = constant_picture({5, 1, 1, Type::f32}, 0);
  const Image result = blur(device, black, {.radius = 1, .border = Border::constant, .border_value = 0.75});
  EXPECT_EQ(result.view().value<float>(2, 0), 0.5F);  // two of its three rows are border
  EXPECT_EQ(result.view().value<float>(0, 0), 0.583333313F);
}

}  // namespace
}  // namespace satin::test
