// local_mean() and local_deviation() against their definitions, window by window.

#include "satin/filters/local_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_local.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

/// Rounds integers to nearest, ties up.
double rounded(Real value, Type type) {
  return static_cast<double>(type == Type::f32 ? value : std::floor(value + 0.5L));
}

/// Expects the result of the definition, except for integers within the precision of a tie.
void expect_value(Real expected, double found, Type type, Real tolerance) {
  if (type == Type::f32) {
    ASSERT_LE(std::fabs(expected - static_cast<Real>(found)), tolerance) << static_cast<double>(expected);
    return;
  }
  const Real tie = std::fabs(expected + 0.5L - std::floor(expected + 0.5L));
  if (tie > 1e-9L && tie < 1 - 1e-9L) {
    ASSERT_EQ(found, rounded(expected, type)) << static_cast<double>(expected);
  } else {
    ASSERT_LE(std::fabs(expected - static_cast<Real>(found)), 0.5L + 1e-9L);
  }
}

int colours_in(const Shape& shape) {
  return shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
}

/// value(local) is the filter's result; `bits` is the precision of floats.
template <class Parameters, class Value>
void check(const Shape& shape, const Parameters& parameters, std::uint64_t seed, int bits,
           const Value& value) {
  SCOPED_TRACE(describe(shape) + ", window " + std::to_string(parameters.window) + ", border " +
               std::to_string(static_cast<int>(parameters.border)) + ", seed " + std::to_string(seed));
  const Image picture = random_picture(shape, seed);
  Plan plan = satin::plan(device_under_test(), shape, parameters);
  const ImageView inputs[] = {picture.view()};
  const Image found = run_plan(device_under_test(), plan, inputs);
  ASSERT_EQ(found.shape(), shape);
  const Real tolerance = 17 * std::ldexp(1.0L, -bits);
  for (int c = 0; c < shape.channels; ++c) {
    const std::vector<Local> locals = all_local(plane_of(picture, c), parameters.window, parameters.border);
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const double result = stored(found, x, y, c);
        if (c >= colours_in(shape)) {
          ASSERT_EQ(result, stored(picture, x, y, c)) << "alpha";
          continue;
        }
        ASSERT_NO_FATAL_FAILURE(expect_value(value(locals[static_cast<std::size_t>(y * shape.width + x)]),
                                             result, shape.type, tolerance))
            << x << ", " << y << ", channel " << c;
      }
  }
}

void check_mean(const Shape& shape, const LocalMean& parameters, std::uint64_t seed) {
  check(shape, parameters, seed, 23, [](const Local& local) { return local.mean; });
}

void check_deviation(const Shape& shape, const LocalDeviation& parameters, std::uint64_t seed) {
  check(shape, parameters, seed, 20, [](const Local& local) { return local.deviation; });
}

constexpr Border borders[] = {Border::shrink, Border::clamp, Border::reflect, Border::mirror, Border::wrap};

TEST(LocalStatistics, AreTheirDefinitionsForEveryFormat) {
  std::uint64_t seed = 1;
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 2, 3, 4})
      for (const Alpha alpha : {Alpha::none, Alpha::straight}) {
        if (alpha == Alpha::straight && channels % 2 != 0) continue;
        check_mean({37, 23, channels, type, alpha}, {.window = 7}, ++seed);
        check_deviation({37, 23, channels, type, alpha}, {.window = 7}, ++seed);
      }
}

TEST(LocalStatistics, AreTheirDefinitionsForEveryWindowAndBorder) {
  std::uint64_t seed = 100;
  for (const Border border : borders)
    for (const int window : {1, 3, 15, 31, 63, 201})
      for (const Type type : {Type::u8, Type::u16, Type::f32}) {
        if (slow_build() && window > 31) continue;
        check_mean({41, 29, 1, type}, {.window = window, .border = border}, ++seed);
        check_deviation({41, 29, 1, type}, {.window = window, .border = border}, ++seed);
      }
}

/// Several tiles along both axes on every backend, and rows of any alignment.
TEST(LocalStatistics, AreTheirDefinitionsForOddShapes) {
  std::uint64_t seed = 200;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 50}, {50, 1}, {2, 3}, {2003, 5}, {5, 300}, {517, 67}, {600, 64}}) {
    check_mean({width, height, 1, Type::u8}, {.window = 9}, ++seed);
    check_deviation({width, height, 1, Type::u8}, {.window = 9}, ++seed);
    check_deviation({width, height, 1, Type::u16}, {.window = 5, .border = Border::reflect}, ++seed);
  }
}

/// The widest window whose squares fit 32 bits, and the next one, over white pixels.
TEST(LocalStatistics, HoldAtTheBoundOfTheirSums) {
  for (const int window : {255, 257, 259}) {
    const Shape shape{300, 270, 1, Type::u8};
    Image picture = constant_picture(shape, 1);
    for (std::int64_t y = 0; y < shape.height; y += 90) picture.view().value<std::uint8_t>(100, y) = 0;
    const Image found = local_deviation(device_under_test(), picture, {.window = window});
    // z of n pixels are black, all others white: the deviation is 255 sqrt(z (n - z)) / n.
    for (const auto& [x, y] : {std::pair{100, 135}, {150, 130}, {0, 0}, {299, 269}}) {
      Real n = 0;
      Real black = 0;
      for (std::int64_t j = std::max(0, y - window / 2); j <= std::min(269, y + window / 2); ++j)
        for (std::int64_t i = std::max(0, x - window / 2); i <= std::min(299, x + window / 2); ++i) {
          n += 1;
          black += picture.view().value<std::uint8_t>(i, j) == 0 ? 1 : 0;
        }
      ASSERT_NO_FATAL_FAILURE(
          expect_value(255 * std::sqrt(black * (n - black)) / n, stored(found, x, y, 0), Type::u8, 0))
          << window << ": " << x << ", " << y;
    }
  }
}

/// Values just below a power of two round up to it, and all squares together are then 2^64.
TEST(LocalStatistics, HoldAtTheBoundOfFloats) {
  const Image picture = constant_picture({256, 256, 1, Type::f32}, 0.99999994);
  const Image found = local_deviation(device_under_test(), picture, {.window = 511});
  for (std::int64_t i = 0; i < 256; ++i) ASSERT_EQ(found.view().value<float>(i, i), 0.0F) << i;
}

TEST(LocalStatistics, AMaskBlends) {
  const Shape shape{33, 21, 3, Type::u8};
  const Image picture = random_picture(shape, 5);
  const Image mask = random_map(33, 21, Type::u8, 6);
  const Image mean = local_mean(device_under_test(), picture, {.window = 5, .mask = mask.view()});
  const Image deviation = local_deviation(device_under_test(), picture, {.window = 5, .mask = mask.view()});
  for (int c = 0; c < 3; ++c) {
    const std::vector<Local> locals = all_local(plane_of(picture, c), 5, Border::shrink);
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const Local& local = locals[static_cast<std::size_t>(y * shape.width + x)];
        const Real weight = mask.view().value<std::uint8_t>(x, y) / 255.0L;
        const Real own = stored(picture, x, y, c);
        // The mean is rounded before it is blended.
        const Real mean_here = own + (std::floor(local.mean + 0.5L) - own) * weight;
        ASSERT_NO_FATAL_FAILURE(expect_value(mean_here, stored(mean, x, y, c), Type::u8, 0))
            << x << ", " << y;
        const Real deviation_here = own + (local.deviation - own) * weight;
        ASSERT_NO_FATAL_FAILURE(expect_value(deviation_here, stored(deviation, x, y, c), Type::u8, 0))
            << x << ", " << y;
      }
  }
}

TEST(LocalStatistics, RefuseWhatTheyCannotDo) {
  const Device& device = device_under_test();
  const Shape shape{8, 8, 1, Type::u8};
  const auto mean = [&](const LocalMean& parameters) {
    return [=, &device] { return plan(device, shape, parameters); };
  };
  const auto deviation = [&](const LocalDeviation& parameters) {
    return [=, &device] { return plan(device, shape, parameters); };
  };
  expect_error(ErrorKind::usage, "window 4", mean({.window = 4}));
  expect_error(ErrorKind::usage, "window 32769", deviation({.window = 32769}));
  expect_error(ErrorKind::usage, "constant", mean({.border = Border::constant}));
  expect_error(ErrorKind::usage, "constant", deviation({.border = Border::constant}));
  expect_error(ErrorKind::usage, "u32", [&] { return plan(device, {8, 8, 1, Type::u32}, LocalMean{}); });
  const Image mask = random_map(9, 8, Type::u8, 1);
  expect_error(ErrorKind::usage, "9 x 8", deviation({.mask = mask.view()}));
  Image bad({3, 3, 1, Type::f32});
  for (int i = 0; i < 9; ++i) bad.view().value<float>(i % 3, i / 3) = i == 4 ? NAN : 1.0F;
  expect_error(ErrorKind::input, "NaN", [&] { return local_mean(device, bad); });
  expect_error(ErrorKind::input, "NaN", [&] { return local_deviation(device, bad); });
}

}  // namespace
}  // namespace satin::test
