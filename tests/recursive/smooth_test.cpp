// smooth() against the plain recurrence in long double, and properties of its kernel.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "satin/filters.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_recursive.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

/// Returns the root in (0, 1) of 2 a / (1 - a)^2 = sigma^2, the variance of a^|n|.
long double feedback_for(long double sigma) {
  long double low = 0;
  long double high = 1;
  for (int i = 0; i < 200; ++i) {
    const long double a = (low + high) / 2;
    (2 * a < sigma * sigma * (1 - a) * (1 - a) ? low : high) = a;
  }
  return low;
}

Image smoothed(const Image& picture, const Smooth& parameters) {
  const Device& device = device_under_test();
  Plan prepared = plan(device, picture.shape(), parameters);
  const std::array inputs = {picture.view(), parameters.mask};
  return run_plan(device, prepared, inputs);
}

struct SmoothCase {
  Shape shape;
  double sigma_x = 3;
  double sigma_y = 3;
  Space space = Space::linear;
  std::optional<Type> mask_type{};
  std::uint64_t seed = 1;
};

std::string describe(const SmoothCase& smooth_case) {
  std::ostringstream text;
  text << satin::describe(smooth_case.shape) << ", alpha " << static_cast<int>(smooth_case.shape.alpha)
       << ", sigma " << smooth_case.sigma_x << ',' << smooth_case.sigma_y << ", "
       << (smooth_case.space == Space::linear ? "linear" : "encoded") << ", mask "
       << (smooth_case.mask_type ? name_of(*smooth_case.mask_type) : "none") << ", seed " << smooth_case.seed;
  return text.str();
}

void check_against_oracle(const SmoothCase& smooth_case) {
  SCOPED_TRACE(describe(smooth_case));
  const Shape& shape = smooth_case.shape;
  const Image picture = random_picture(shape, smooth_case.seed);
  Image mask;
  Smooth parameters{.sigma = Radius({smooth_case.sigma_x, false}, {smooth_case.sigma_y, false}),
                    .space = smooth_case.space};
  OracleRecursive oracle;
  oracle.picture = picture.view();
  oracle.space = smooth_case.space;
  if (smooth_case.mask_type) {
    mask = random_map(shape.width, shape.height, *smooth_case.mask_type, smooth_case.seed + 2);
    parameters.mask = oracle.mask = mask.view();
  }
  for (const bool along_x : {true, false}) {
    const double sigma = along_x ? smooth_case.sigma_x : smooth_case.sigma_y;
    if (sigma > 0) oracle.passes.push_back({along_x, feedback_for(static_cast<long double>(sigma))});
  }
  expect_near_oracle(oracle, smoothed(picture, parameters));
}

TEST(Smooth, IsThePlainRecurrenceForEveryFormat) {
  std::uint64_t seed = 100;
  for (const Format& format : every_format())
    for (const Space space : {Space::linear, Space::encoded}) {
      if (space == Space::linear && !has_linear_light(format)) continue;
      for (const std::optional<Type> mask :
           {std::optional<Type>(), std::optional(Type::u8), std::optional(Type::u16)}) {
        const Shape shape{70, 45, format.channels, format.type, format.alpha};
        check_against_oracle({shape, 3.3, 2.1, space, mask, ++seed});
        if (HasFatalFailure()) return;
      }
    }
}

TEST(Smooth, IsThePlainRecurrenceForEverySize) {
  std::uint64_t seed = 200;
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {1, 9},
                                      {9, 1},
                                      {2, 2},
                                      {31, 33},
                                      {32, 32},
                                      {33, 31},
                                      {64, 65},
                                      {65, 64},
                                      {97, 5},
                                      {5, 97},
                                      {1025, 3},
                                      {3, 1025},
                                      {4130, 2},
                                      {2, 2340},
                                      {200, 200}})
    for (const Type type : {Type::u8, Type::u16, Type::f32})
      for (const double sigma : {0.01, 0.3, 1.0, 7.5, 60.0}) {
        check_against_oracle({{width, height, 1, type}, sigma, sigma, Space::linear, {}, ++seed});
        if (HasFatalFailure()) return;
      }
}

TEST(Smooth, OneAxisAlone) {
  for (const Type type : {Type::u8, Type::u16, Type::f32}) {
    check_against_oracle({{77, 41, 3, type}, 5, 0, Space::linear, {}, 301});
    check_against_oracle({{77, 41, 3, type}, 0, 5, Space::linear, {}, 302});
    check_against_oracle({{77, 41, 4, type, Alpha::straight}, 5, 0, Space::linear, Type::u8, 303});
  }
}

TEST(Smooth, ImpulseHasTheStatedVarianceAndSum) {
  for (const double sigma : {0.5, 1.0, 4.0, 12.0}) {
    constexpr int size = 401;
    constexpr int middle = 200;
    Image picture = constant_picture({size, 1, 1, Type::f32}, 0);
    picture.view().value<float>(middle, 0) = 1;
    const Image result = smoothed(picture, {.sigma = Radius({sigma, false}, {0, false})});
    const long double a = feedback_for(static_cast<long double>(sigma));
    long double sum = 0;
    long double variance = 0;
    for (int x = 0; x < size; ++x) {
      const auto value = static_cast<long double>(result.view().value<float>(x, 0));
      const int n = std::abs(x - middle);
      ASSERT_NEAR(static_cast<double>(value), static_cast<double>((1 - a) / (1 + a) * std::pow(a, n)), 1e-7);
      sum += value;
      variance += value * n * n;
    }
    EXPECT_NEAR(static_cast<double>(sum), 1, 1e-5) << sigma;
    EXPECT_NEAR(static_cast<double>(variance), sigma * sigma, 0.01 * sigma * sigma) << sigma;
  }
}

Image flipped(const ImageView& view, bool along_x) {
  Image result(view.shape);
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    for (std::int64_t x = 0; x < view.shape.width; ++x)
      std::copy_n(view.at(along_x ? view.shape.width - 1 - x : x, along_x ? y : view.shape.height - 1 - y),
                  view.strides.pixel, result.view().at(x, y));
  return result;
}

template <class T>
double largest_difference(const ImageView& a, const ImageView& b) {
  double largest = 0;
  for (std::int64_t y = 0; y < a.shape.height; ++y)
    for (std::int64_t x = 0; x < a.shape.width; ++x)
      for (int c = 0; c < a.shape.channels; ++c)
        largest = std::max(largest, std::fabs(static_cast<double>(a.value<T>(x, y, c)) -
                                              static_cast<double>(b.value<T>(x, y, c))));
  return largest;
}

TEST(Smooth, FlippedPicturesGiveFlippedResults) {
  for (const bool along_x : {true, false})
    for (const double sigma : {0.7, 6.0, 80.0}) {
      const Image bytes = random_picture({83, 50, 3, Type::u8}, 401);
      EXPECT_LE(
          largest_difference<std::uint8_t>(
              flipped(smoothed(flipped(bytes.view(), along_x), {.sigma = sigma}).view(), along_x).view(),
              smoothed(bytes, {.sigma = sigma}).view()),
          1)
          << sigma;
      const Image floats = random_picture({83, 50, 3, Type::f32}, 402);
      EXPECT_LE(
          largest_difference<float>(
              flipped(smoothed(flipped(floats.view(), along_x), {.sigma = sigma}).view(), along_x).view(),
              smoothed(floats, {.sigma = sigma}).view()),
          2e-6)
          << sigma;
    }
}

TEST(Smooth, EveryCodeStaysConstant) {
  Random random(500);
  const auto expect_kept = [](const Image& picture, double sigma) {
    for (const Space space : {Space::linear, Space::encoded})
      ASSERT_EQ(difference(smoothed(picture, {.sigma = sigma, .space = space}), picture), "") << sigma;
  };
  for (int code = 0; code < 256; ++code)
    for (const int channels : {1, 4}) {
      const Alpha alpha = channels == 4 ? Alpha::straight : Alpha::none;
      const Image picture = constant_picture({70, 37, channels, Type::u8, alpha}, code / 255.0);
      expect_kept(picture, code % 3 == 0 ? 0.4 : code % 3 == 1 ? 9.0 : 300.0);
      if (HasFatalFailure()) return;
    }
  for (int turn = 0; turn < 200; ++turn)
    for (const int channels : {1, 4}) {
      const Alpha alpha = channels == 4 ? Alpha::straight : Alpha::none;
      const double value = static_cast<double>(random.below(65536)) / 65535;
      expect_kept(constant_picture({40, 67, channels, Type::u16, alpha}, value), turn % 2 == 0 ? 5.0 : 111.0);
      const double scale = channels == 4 ? 1 : std::ldexp(1.0, random.between(-120, 120));
      expect_kept(constant_picture({40, 67, channels, Type::f32, alpha}, value * scale), 5.0);
      if (HasFatalFailure()) return;
    }
}

// Colours differ from alpha, and both are the same everywhere.
TEST(Smooth, ColoursUnderOneAlphaStay) {
  Random random(510);
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (int turn = 0; turn < 50; ++turn) {
      Image picture(Shape{50, 41, 4, type, Alpha::straight});
      for (int c = 0; c < 4; ++c) {
        const double value = static_cast<double>(1 + random.below(65535)) / 65535;
        for (std::int64_t y = 0; y < 41; ++y)
          for (std::int64_t x = 0; x < 50; ++x) set_fraction(picture.view(), x, y, c, value);
      }
      ASSERT_EQ(difference(smoothed(picture, {.sigma = 6}), picture), "") << name_of(type) << ' ' << turn;
    }
}

TEST(Smooth, SigmaZeroAndMaskZeroKeepTheBytes) {
  for (const Format& format : every_format()) {
    const Image picture = random_picture({53, 35, format.channels, format.type, format.alpha}, 600);
    const Space space = has_linear_light(format) ? Space::linear : Space::encoded;
    EXPECT_EQ(difference(smoothed(picture, {.sigma = 0, .space = space}), picture), "");
    const Image mask = constant_picture({53, 35, 1, Type::u8}, 0);
    EXPECT_EQ(difference(smoothed(picture, {.sigma = 4, .space = space, .mask = mask.view()}), picture), "");
  }
}

TEST(Smooth, TransparentColoursDoNotBleed) {
  Image picture = constant_picture({40, 9, 4, Type::u8, Alpha::straight}, 0);
  for (std::int64_t y = 0; y < 9; ++y)
    for (std::int64_t x = 0; x < 40; ++x) {
      picture.view().value<std::uint8_t>(x, y, 0) = x < 20 ? 200 : 0;
      picture.view().value<std::uint8_t>(x, y, 1) = x < 20 ? 0 : 255;
      picture.view().value<std::uint8_t>(x, y, 3) = x < 20 ? 255 : 0;
    }
  const Image result = smoothed(picture, {.sigma = 2});
  int seen = 0;
  for (std::int64_t x = 0; x < 40; ++x) {
    const bool visible = result.view().value<std::uint8_t>(x, 4, 3) > 0;
    seen += visible && x >= 20 ? 1 : 0;
    EXPECT_EQ(result.view().value<std::uint8_t>(x, 4, 0), visible ? 200 : 0) << x;
    EXPECT_EQ(result.view().value<std::uint8_t>(x, 4, 1), visible ? 0 : 255) << x;
  }
  EXPECT_GT(seen, 4);
  EXPECT_LT(seen, 20);
}

TEST(Smooth, RefusesWhatItCannotDo) {
  const Device& device = device_under_test();
  const Shape shape{12, 9, 3, Type::u8};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto planned = [&](const Smooth& parameters) {
    return [&device, shape, parameters] { return plan(device, shape, parameters); };
  };
  for (const double sigma : {-1.0, 4097.0, nan, std::numeric_limits<double>::infinity()})
    expect_error(ErrorKind::usage, "sigma", planned({.sigma = sigma}));
  expect_error(ErrorKind::usage, "from 0 to 4096", planned({.sigma = Radius({5, true}, {1e6, true})}));
  const Image wide = random_map(13, 9, Type::u8, 1);
  expect_error(ErrorKind::usage, "13 x 9", planned({.mask = wide.view()}));
  const Image real = random_map(12, 9, Type::f32, 1);
  expect_error(ErrorKind::usage, "mask is of type f32", planned({.mask = real.view()}));
  expect_error(ErrorKind::usage, "u64", [&] { return plan(device, Shape{5, 5, 1, Type::u64}, Smooth{}); });
  expect_error(ErrorKind::usage, "Premultiplied 8- and 16-bit", [&] {
    return plan(device, Shape{5, 5, 4, Type::u8, Alpha::premultiplied}, Smooth{});
  });
  for (const double sigma : {0.0, 3.0})
    for (const float value : {std::nanf(""), -std::numeric_limits<float>::infinity()}) {
      Image picture = random_picture({70, 34, 3, Type::f32}, 7);
      picture.view().value<float>(69, 33, 2) = value;
      expect_error(ErrorKind::input, "NaN or infinite",
                   [&] { return smooth(device, picture, {.sigma = sigma}); });
    }
}

TEST(Smooth, TinyValuesBesideHugeOnesAreNoWarning) {
  Image picture = constant_picture({40, 40, 1, Type::f32}, 1e6);
  picture.view().value<float>(0, 0) = 1e-9F;
  Plan prepared = plan(device_under_test(), picture.shape(), Smooth{});
  Image output = poisoned(picture.shape());
  prepared.run(picture.view(), output.view());
  EXPECT_TRUE(prepared.check().empty());
}

}  // namespace
}  // namespace satin::test
