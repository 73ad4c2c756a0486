// stretch() against its definition from the percentiles that median() takes, and what it refuses.

#include "satin/filters/stretch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "satin/filters/median.h"
#include "tests/oracles/blur_case.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

double stored(const Image& image, std::int64_t x, std::int64_t y, int c) {
  const ImageView view = image.view();
  if (image.shape().type == Type::u8) return view.value<std::uint8_t>(x, y, c);
  if (image.shape().type == Type::u16) return view.value<std::uint16_t>(x, y, c);
  return static_cast<double>(view.value<float>(x, y, c));
}

double expected(double own, double low, double high, Type type) {
  if (!(low < high)) return own;
  const double part = (std::clamp(own, low, high) - low) / (high - low);
  if (type == Type::f32) return static_cast<double>(static_cast<float>(part));
  return std::floor(part * (type == Type::u8 ? 255 : 65535) + 0.5 + 1e-9);
}

void check(const Shape& shape, const PercentileStretch& parameters, std::uint64_t seed) {
  SCOPED_TRACE(describe(shape) + ", window " + std::to_string(parameters.window));
  const Device& device = device_under_test();
  const Image picture = random_picture(shape, seed);
  const Image result = stretch(device, picture, parameters);
  const Radius radius = parameters.window / 2;
  const auto percentile = [&](double percent) {
    return median(device, picture, {.radius = radius, .percent = percent, .border = parameters.border});
  };
  const Image low = percentile(parameters.low);
  const Image high = percentile(parameters.high);
  const int colours = shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) {
        const double own = stored(picture, x, y, c);
        const double wanted =
            c < colours ? expected(own, stored(low, x, y, c), stored(high, x, y, c), shape.type) : own;
        ASSERT_EQ(stored(result, x, y, c), wanted) << x << ", " << y << ", channel " << c;
      }
}

TEST(Stretch, IsItsDefinitionForEveryFormat) {
  std::uint64_t seed = 1;
  for (const Format& format : every_format())
    for (const int window : {1, 5, 21}) {
      const Shape shape{35, 22, format.channels, format.type, format.alpha};
      check(shape, {.window = window}, ++seed);
      check(shape, {.window = window, .low = 0, .high = 60.5, .border = Border::mirror}, ++seed);
    }
  check({30, 20, 1, Type::f32}, {.window = 7}, 99);
}

TEST(Stretch, AFaintRampFillsTheRange) {
  Image ramp({64, 9, 1, Type::u8});
  for (std::int64_t y = 0; y < 9; ++y)
    for (std::int64_t x = 0; x < 64; ++x)
      ramp.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(100 + x % 8);
  const Image result = stretch(device_under_test(), ramp, {.window = 33, .low = 0, .high = 100});
  for (std::int64_t x = 0; x < 64; ++x)
    ASSERT_EQ(result.view().value<std::uint8_t>(x, 4), (2 * (x % 8) * 255 + 7) / 14);
  const Image flat = constant_picture({20, 10, 3, Type::u16}, 0.3);
  EXPECT_EQ(difference(stretch(device_under_test(), flat), flat), "");
}

TEST(Stretch, AMaskBlends) {
  const Image picture = random_picture({40, 30, 3, Type::u8}, 3);
  const Image mask = random_map(40, 30, Type::u8, 4);
  const Image whole = stretch(device_under_test(), picture, {.window = 9});
  const Image result = stretch(device_under_test(), picture, {.window = 9, .mask = mask.view()});
  for (std::int64_t y = 0; y < 30; ++y)
    for (std::int64_t x = 0; x < 40; ++x) {
      const int weight = mask.view().value<std::uint8_t>(x, y);
      const double own = stored(picture, x, y, 1);
      const double mean = (own * (255 - weight) + stored(whole, x, y, 1) * weight) / 255;
      ASSERT_EQ(stored(result, x, y, 1), std::floor(mean + 0.5 + 1e-9)) << x << ", " << y;
    }
}

TEST(StretchRefused, Parameters) {
  const Image picture = random_picture({12, 9, 3, Type::u8}, 1);
  const auto refused = [&](const char* piece, const PercentileStretch& parameters) {
    expect_error(ErrorKind::usage, piece, [&] { return stretch(device_under_test(), picture, parameters); });
  };
  refused("odd", {.window = 4});
  refused("from 1 to 1025", {.window = 1027});
  refused("must be below high", {.low = 50, .high = 50});
  refused("from 50 to 100", {.high = 101});
  refused("from 0 to 50", {.low = 51});
  refused("constant", {.border = Border::constant});
}

}  // namespace
}  // namespace satin::test
