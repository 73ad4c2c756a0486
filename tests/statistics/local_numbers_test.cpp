// local_deviation() and normalize() of integers equal the definition in doubles, ties included, where single
// precision could decide wrongly. Sums are exact integers and every step after them is an IEEE double.

#include <gtest/gtest.h>

#include <cmath>

#include "satin/filters/local_statistics.h"
#include "satin/filters/normalize.h"
#include "statistics/maths/local_statistics.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/oracle_local.h"
#include "tests/oracles/pictures.h"
#include "tests/oracles/window_table.h"

namespace satin::test {
namespace {

double largest_of(Type type) { return type == Type::u8 ? 255 : 65535; }

/// Returns flat areas, two values side by side (their deviation is midway between two integers where a window
/// has as many of each), few values, and noise, with another start in every channel.
Image ties(const Shape& shape, std::uint64_t seed) {
  Image picture(shape);
  Random random(seed);
  const double white = largest_of(shape.type);
  const auto value_at = [&](std::int64_t x, std::int64_t y) -> double {
    switch ((x / 70 + y / 30) % 4) {
      case 0:
        return 77;
      case 1:
        return x % 2 == 0 ? 20 : 33;
      case 2:
        return 100 + 5 * static_cast<double>(random.below(3));
      default:
        return static_cast<double>(random.below(static_cast<std::uint64_t>(white) + 1));
    }
  };
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c)
        set_fraction(picture.view(), x, y, c, value_at(x + 70 * (c + 1), y) / white);
  return picture;
}

/// Blends with the picture's value, clamps, and rounds to nearest, ties up.
double stored_of(double number, double own, double weight, double whole, double largest) {
  if (weight == 0) return own;
  const double blended = weight == whole ? number : (own * (whole - weight) + number * weight) / whole;
  return std::floor(std::fmin(std::fmax(blended, 0.0), largest) + 0.5);
}

/// number(value, local) is the definition in doubles.
template <class Number>
void expect_numbers(const Image& picture, const ImageView& mask, int window, const Image& found,
                    const Number& number) {
  const Shape& shape = picture.shape();
  const double largest = largest_of(shape.type);
  const bool masked = mask.data != nullptr;
  const double whole = masked ? largest_of(mask.shape.type) : 1;
  const int colours = shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
  for (int c = 0; c < shape.channels; ++c) {
    const std::vector<LocalStatistics> locals = statistics_of(plane_of(picture, c), window);
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const double own = stored(picture, x, y, c);
        const double weight = masked ? stored(mask, x, y, 0) : 1;
        const double wanted = number(own, locals[static_cast<std::size_t>(y * shape.width + x)]);
        ASSERT_EQ(stored(found, x, y, c), c < colours ? stored_of(wanted, own, weight, whole, largest) : own)
            << describe(shape) << ", window " << window << ": " << x << ", " << y << ", channel " << c;
      }
  }
}

void check_deviation(const Image& picture, const ImageView& mask, int window) {
  const Image found = local_deviation(device_under_test(), picture, {.window = window, .mask = mask});
  expect_numbers(picture, mask, window, found,
                 [](double, const LocalStatistics& at) { return at.deviation; });
}

void check_normalized(const Image& picture, Normalize rule) {
  const Image found = normalize(device_under_test(), picture, rule);
  const double white = largest_of(picture.shape().type);
  const double mean = rule.mean * white;
  const double target = rule.deviation * white;
  expect_numbers(picture, rule.mask, rule.window, found, [&](double own, const LocalStatistics& at) {
    const double scale = at.deviation * rule.gain > target ? target / at.deviation : rule.gain;
    return (own - at.mean) * scale + mean;
  });
}

void check(const Shape& shape, int window, std::uint64_t seed) {
  const Image picture = ties(shape, seed);
  ASSERT_NO_FATAL_FAILURE(check_deviation(picture, {}, window));
  ASSERT_NO_FATAL_FAILURE(check_normalized(picture, {.window = window}));
  ASSERT_NO_FATAL_FAILURE(
      check_normalized(picture, {.window = window, .mean = 0.3, .deviation = 0.7, .gain = 1.5}));
}

TEST(LocalNumbers, AreThoseOfDoublesForEveryFormat) {
  std::uint64_t seed = 1;
  for (const Type type : {Type::u8, Type::u16})
    for (const int channels : {1, 2, 3, 4})
      for (const Alpha alpha : {Alpha::none, Alpha::straight}) {
        if (alpha == Alpha::straight && channels % 2 != 0) continue;
        check({403, 131, channels, type, alpha}, 31, ++seed);
        if (!slow_build()) check({1056, 97, channels, type, alpha}, 7, ++seed);
      }
}

/// Every position of a window's ends in a lane of a GPU, and lanes at the sides of the picture next to
/// others.
TEST(LocalNumbers, AreThoseOfDoublesForEveryWindow) {
  std::uint64_t seed = 100;
  for (int window = 1; window <= 33; window += 2)
    for (const int channels : {1, 3, 4}) {
      const Image picture = ties({288, 40, channels, Type::u8}, ++seed);
      ASSERT_NO_FATAL_FAILURE(check_deviation(picture, {}, window));
      ASSERT_NO_FATAL_FAILURE(check_normalized(picture, {.window = window, .mean = 0.1}));
    }
}

/// The widest windows whose squares fit 32 bits, and the next ones; 16-bit values beyond the windows that are
/// exact in doubles.
TEST(LocalNumbers, AreThoseOfDoublesAtTheBoundsOfSums) {
  if (slow_build()) GTEST_SKIP();
  std::uint64_t seed = 200;
  for (const int window : {255, 257, 259})
    for (const int channels : {1, 3}) check({600, 280, channels, Type::u8}, window, ++seed);
  for (const int window : {37, 39, 255, 257}) check({600, 280, 1, Type::u16}, window, ++seed);
}

/// Windows that are too wide for the shared memory of a GPU.
TEST(LocalNumbers, AreThoseOfDoublesForVeryWideWindows) {
  if (slow_build()) GTEST_SKIP();
  std::uint64_t seed = 250;
  for (const Type type : {Type::u8, Type::u16})
    for (const int channels : {1, 3}) check({5003, 9, channels, type}, 7001, ++seed);
}

TEST(LocalNumbers, AreBlendedLikeThoseOfDoubles) {
  std::uint64_t seed = 300;
  for (const Type type : {Type::u8, Type::u16})
    for (const Type mask_type : {Type::u8, Type::u16})
      for (const int channels : {1, 3, 4}) {
        const Shape shape{203, 61, channels, type, channels == 4 ? Alpha::straight : Alpha::none};
        const Image picture = ties(shape, ++seed);
        const Image mask = random_map(shape.width, shape.height, mask_type, ++seed);
        ASSERT_NO_FATAL_FAILURE(check_deviation(picture, mask.view(), 9));
        ASSERT_NO_FATAL_FAILURE(check_normalized(picture, {.window = 9, .mask = mask.view()}));
      }
}

/// Cases that single precision cannot decide: parameters beyond its range, and numbers midway between two
/// integers.
TEST(LocalNumbers, AreThoseOfDoublesForExtremeParameters) {
  const Image picture = ties({300, 50, 3, Type::u8}, 400);
  for (const double gain : {0.0, 1e-30, 9e29, 1e30})
    ASSERT_NO_FATAL_FAILURE(check_normalized(picture, {.window = 7, .gain = gain}));
  for (const double deviation : {0.0, 1e-40, 1e20})
    ASSERT_NO_FATAL_FAILURE(check_normalized(picture, {.window = 7, .deviation = deviation, .gain = 1e3}));
  for (const double mean : {-3.0, 126.5 / 255, 1.0, 3000.0, 1e20})
    ASSERT_NO_FATAL_FAILURE(check_normalized(picture, {.window = 7, .mean = mean}));
}

}  // namespace
}  // namespace satin::test
