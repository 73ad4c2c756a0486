// normalize() against its definition, window by window.

#include "satin/filters/normalize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/oracles/device_under_test.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/oracle_local.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

Real white_of(Type type) { return type == Type::u8 ? 255 : type == Type::u16 ? 65535 : 1; }

Real wanted_at(const Local& local, Real own, const Normalize& normalize, Type type) {
  const Real target = static_cast<Real>(normalize.deviation) * white_of(type);
  const auto gain = static_cast<Real>(normalize.gain);
  const Real scale = gain == 0 ? 0 : target / std::fmax(local.deviation, target / gain);
  return (own - local.mean) * (std::isnan(scale) ? gain : scale) +
         static_cast<Real>(normalize.mean) * white_of(type);
}

void check(const Shape& shape, const Normalize& normalize, std::uint64_t seed) {
  SCOPED_TRACE(describe(shape) + ", window " + std::to_string(normalize.window) + ", seed " +
               std::to_string(seed));
  const Image picture = random_picture(shape, seed);
  Plan plan = satin::plan(device_under_test(), shape, normalize);
  const ImageView inputs[] = {picture.view()};
  const Image found = run_plan(device_under_test(), plan, inputs);
  const int colours = shape.alpha == Alpha::none ? shape.channels : shape.channels - 1;
  for (int c = 0; c < shape.channels; ++c) {
    const std::vector<Local> locals = all_local(plane_of(picture, c), normalize.window, normalize.border);
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const double own = stored(picture, x, y, c);
        const double result = stored(found, x, y, c);
        if (c >= colours) {
          ASSERT_EQ(result, own) << "alpha";
          continue;
        }
        const Real wanted = wanted_at(locals[static_cast<std::size_t>(y * shape.width + x)],
                                      static_cast<Real>(own), normalize, shape.type);
        if (shape.type == Type::f32) {
          ASSERT_NEAR(result, static_cast<double>(wanted), 1e-4) << x << ", " << y;
          continue;
        }
        const Real bounded = std::fmin(std::fmax(wanted, 0), white_of(shape.type)) + 0.5L;
        if (std::fabs(bounded - std::round(bounded)) < 1e-7L) continue;  // a tie
        ASSERT_EQ(result, static_cast<double>(std::floor(bounded))) << x << ", " << y << ", channel " << c;
      }
  }
}

/// Parameters whose results are rarely clamped.
Normalize usual(int window, Border border = Border::shrink) {
  return {.window = window, .mean = 0.5, .deviation = 0.2, .gain = 5, .border = border};
}

TEST(Normalize, IsItsDefinitionForEveryFormat) {
  std::uint64_t seed = 1;
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const int channels : {1, 2, 3, 4})
      check({31, 26, channels, type, channels % 2 == 0 ? Alpha::straight : Alpha::none}, {.window = 7},
            ++seed);
}

TEST(Normalize, IsItsDefinitionForEveryParameter) {
  std::uint64_t seed = 100;
  for (const Border border : {Border::shrink, Border::clamp, Border::reflect, Border::mirror, Border::wrap})
    for (const int window : {1, 3, 31, 101}) check({37, 29, 1, Type::u8}, usual(window, border), ++seed);
  for (const double gain : {0.0, 0.5, 1.0, 100.0})
    check({37, 29, 1, Type::u8}, {.window = 5, .mean = 0.5, .deviation = 0.2, .gain = gain}, ++seed);
  for (const double deviation : {0.0, 0.05, 3.0})
    check({37, 29, 1, Type::u16}, {.window = 5, .mean = 0.3, .deviation = deviation, .gain = 5}, ++seed);
  check({700, 5, 1, Type::u8}, usual(9), ++seed);
}

TEST(Normalize, AFlatPictureBecomesTheMean) {
  const Image flat = constant_picture({20, 20, 3, Type::u8}, 0.2);
  const Image found = normalize(device_under_test(), flat, {.window = 5, .mean = 0.4});
  EXPECT_EQ(difference(found, constant_picture({20, 20, 3, Type::u8}, 0.4)), "");
}

/// A ramp of brightness disappears although it is much stronger than the texture on it.
TEST(Normalize, RemovesSlowChanges) {
  Image picture({300, 40, 1, Type::u16});
  Random random(4);
  for (std::int64_t y = 0; y < 40; ++y)
    for (std::int64_t x = 0; x < 300; ++x)
      picture.view().value<std::uint16_t>(x, y) =
          static_cast<std::uint16_t>(5000 + 180 * x + static_cast<std::int64_t>(random.below(2000)));
  const Image found =
      normalize(device_under_test(), picture, {.window = 15, .mean = 0.5, .deviation = 0.2, .gain = 20});
  const auto mean_of = [&](std::int64_t first) {
    double sum = 0;
    for (std::int64_t x = first; x < first + 40; ++x)
      for (std::int64_t y = 0; y < 40; ++y) sum += stored(found, x, y, 0) / 65535.0 / 1600.0;
    return sum;
  };
  for (const std::int64_t x : {20, 130, 240}) EXPECT_NEAR(mean_of(x), 0.5, 0.01);
}

/// A page in the shade: its paper becomes white, also far from the writing, and the ink stays dark.
TEST(Normalize, MakesThePaperOfAPageWhite) {
  Image page({400, 300, 1, Type::u8});
  Random random(7);
  const auto is_ink = [](std::int64_t x, std::int64_t y) {
    return x > 40 && x < 300 && y > 40 && y < 200 && y % 20 < 8 && x % 6 < 2;
  };
  for (std::int64_t y = 0; y < 300; ++y)
    for (std::int64_t x = 0; x < 400; ++x)
      page.view().value<std::uint8_t>(x, y) = static_cast<std::uint8_t>(
          (is_ink(x, y) ? 30 : 230 - x / 4) + static_cast<std::int64_t>(random.below(8)));
  const Image found = normalize(device_under_test(), page);
  for (std::int64_t y = 0; y < 300; ++y)
    for (std::int64_t x = 0; x < 400; ++x) {
      const double value = stored(found, x, y, 0) / 255.0;
      if (is_ink(x, y)) {
        EXPECT_LT(value, 0.35);
      } else {
        EXPECT_GT(value, 0.85);
      }
    }
}

TEST(Normalize, RefusesWhatItCannotDo) {
  const Device& device = device_under_test();
  const auto with = [&](const Normalize& parameters) {
    return [=, &device] { return plan(device, {8, 8, 1, Type::u8}, parameters); };
  };
  expect_error(ErrorKind::usage, "window 4", with({.window = 4}));
  expect_error(ErrorKind::usage, "mean", with({.mean = std::nan("")}));
  expect_error(ErrorKind::usage, "deviation -1", with({.deviation = -1}));
  expect_error(ErrorKind::usage, "gain -1", with({.gain = -1}));
  expect_error(ErrorKind::usage, "constant", with({.border = Border::constant}));
  Image bad = constant_picture({3, 3, 1, Type::f32}, 1);
  bad.view().value<float>(1, 1) = NAN;
  expect_error(ErrorKind::input, "NaN", [&] { return normalize(device, bad); });
}

}  // namespace
}  // namespace satin::test
