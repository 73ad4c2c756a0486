// edge_smooth() against the plain recurrence in long double, and at edges.

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

Image smoothed(const Image& picture, const EdgeSmooth& parameters) {
  const Device& device = device_under_test();
  Plan prepared = plan(device, picture.shape(), parameters);
  const std::array inputs = {picture.view(), parameters.guide, parameters.mask};
  return run_plan(device, prepared, inputs);
}

OracleRecursive oracle_of(const Image& picture, const EdgeSmooth& parameters) {
  OracleRecursive oracle;
  oracle.picture = picture.view();
  oracle.mask = parameters.mask;
  oracle.space = parameters.space;
  oracle.guided = true;
  oracle.guide = parameters.guide.empty() ? oracle.picture : parameters.guide;
  const auto sigma_s = static_cast<long double>(parameters.sigma_s);
  oracle.contrast = sigma_s / static_cast<long double>(parameters.sigma_r);
  const int n = parameters.iterations;
  for (int i = 1; i <= n; ++i) {
    const long double sigma =
        sigma_s * std::sqrt(3.0L) * std::pow(2.0L, n - i) / std::sqrt(std::pow(4.0L, n) - 1);
    const long double feedback = std::exp(-std::sqrt(2.0L) / sigma);
    oracle.passes.push_back({true, feedback});
    oracle.passes.push_back({false, feedback});
  }
  return oracle;
}

void check_against_oracle(const Shape& shape, EdgeSmooth parameters,
                          const std::optional<Format>& guide_format, const std::optional<Type>& mask_type,
                          std::uint64_t seed) {
  std::ostringstream text;
  text << describe(shape) << ", alpha " << static_cast<int>(shape.alpha) << ", sigma-s " << parameters.sigma_s
       << ", sigma-r " << parameters.sigma_r << ", iterations " << parameters.iterations << ", guide "
       << (guide_format ? name_of(guide_format->type) : "none") << ", mask "
       << (mask_type ? name_of(*mask_type) : "none") << ", seed " << seed;
  SCOPED_TRACE(text.str());
  const Image picture = random_picture(shape, seed);
  Image guide;
  Image mask;
  if (guide_format) {
    guide = random_picture(
        {shape.width, shape.height, guide_format->channels, guide_format->type, guide_format->alpha},
        seed + 1);
    parameters.guide = guide.view();
  }
  if (mask_type) {
    mask = random_map(shape.width, shape.height, *mask_type, seed + 2);
    parameters.mask = mask.view();
  }
  expect_near_oracle(oracle_of(picture, parameters), smoothed(picture, parameters));
}

TEST(EdgeSmooth, IsThePlainRecurrenceForEveryFormat) {
  std::uint64_t seed = 100;
  for (const Format& format : every_format())
    for (const Space space : {Space::linear, Space::encoded}) {
      if (space == Space::linear && !has_linear_light(format)) continue;
      const Shape shape{70, 45, format.channels, format.type, format.alpha};
      const std::optional<Type> mask = seed % 3 == 0 ? std::optional(Type::u8) : std::nullopt;
      check_against_oracle(shape, {.sigma_s = 9, .sigma_r = 1.5, .space = space}, {}, mask, ++seed);
      if (HasFatalFailure()) return;
    }
}

TEST(EdgeSmooth, IsThePlainRecurrenceForEveryGuide) {
  std::uint64_t seed = 200;
  for (const Format& format : every_format())
    for (const Type type : {Type::u8, Type::u16, Type::f32}) {
      check_against_oracle({66, 37, 3, type}, {.sigma_s = 12, .sigma_r = 2}, format, {}, ++seed);
      if (HasFatalFailure()) return;
    }
}

TEST(EdgeSmooth, IsThePlainRecurrenceForEverySize) {
  std::uint64_t seed = 300;
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {1, 9},
                                      {9, 1},
                                      {31, 33},
                                      {32, 32},
                                      {33, 31},
                                      {64, 65},
                                      {1025, 3},
                                      {3, 1025},
                                      {4130, 2},
                                      {2, 2340}})
    for (const Type type : {Type::u8, Type::u16, Type::f32})
      for (const int iterations : {1, 3, 5}) {
        const EdgeSmooth parameters{
            .sigma_s = iterations == 3 ? 60.0 : 0.6, .sigma_r = 3, .iterations = iterations};
        check_against_oracle({width, height, 2, type}, parameters, {}, {}, ++seed);
        if (HasFatalFailure()) return;
      }
}

// Grey noise of a tenth of white around two levels.
Image noisy_step(Type type, double low, double high) {
  Random random(400);
  Image picture(Shape{120, 60, 1, type});
  for (std::int64_t y = 0; y < 60; ++y)
    for (std::int64_t x = 0; x < 120; ++x)
      set_fraction(picture.view(), x, y, 0,
                   (x < 60 ? low : high) + static_cast<double>(random.below(1000)) / 1e5 - 0.005);
  return picture;
}

double mean_of_column(const ImageView& view, std::int64_t x) {
  double sum = 0;
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    sum += view.shape.type == Type::f32 ? static_cast<double>(view.value<float>(x, y))
                                        : view.value<std::uint8_t>(x, y) / 255.0;
  return sum / static_cast<double>(view.shape.height);
}

double deviation(const ImageView& view, std::int64_t first, std::int64_t last) {
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    for (std::int64_t x = first; x < last; ++x) {
      const auto value = static_cast<double>(view.value<float>(x, y));
      sum += value;
      squares += value * value;
      ++count;
    }
  return std::sqrt(squares / count - sum / count * (sum / count));
}

TEST(EdgeSmooth, KeepsAStepAndSmoothsBesideIt) {
  for (const Type type : {Type::u8, Type::f32}) {
    const Image picture = noisy_step(type, 0.2, 0.8);
    const Image result = smoothed(picture, {.sigma_s = 20, .sigma_r = 0.1, .space = Space::encoded});
    EXPECT_GT(mean_of_column(result.view(), 60) - mean_of_column(result.view(), 59), 0.95 * 0.6)
        << name_of(type);
    if (type != Type::f32) continue;
    EXPECT_LT(deviation(result.view(), 5, 55), 0.3 * deviation(picture.view(), 5, 55));
    EXPECT_LT(deviation(result.view(), 65, 115), 0.3 * deviation(picture.view(), 65, 115));
  }
  const Image faint = noisy_step(Type::f32, 0.5, 0.52);
  const Image result = smoothed(faint, {.sigma_s = 20, .sigma_r = 1});
  EXPECT_LT(mean_of_column(result.view(), 60) - mean_of_column(result.view(), 59), 0.1 * 0.02);
}

TEST(EdgeSmooth, EdgesComeFromTheGuide) {
  const Image picture = noisy_step(Type::f32, 0.2, 0.8);
  const Image level = constant_picture({120, 60, 1, Type::u8}, 0.5);
  EdgeSmooth parameters{.sigma_s = 20, .sigma_r = 0.1};
  parameters.guide = level.view();
  const Image across = smoothed(picture, parameters);
  EXPECT_LT(mean_of_column(across.view(), 60) - mean_of_column(across.view(), 59), 0.1 * 0.6);
  const Image own = smoothed(picture, {.sigma_s = 20, .sigma_r = 0.1});
  parameters.guide = picture.view();
  EXPECT_EQ(difference(smoothed(picture, parameters), own), "");
}

// Without edges, the iterations together have the stated variance.
TEST(EdgeSmooth, ImpulseHasTheStatedVariance) {
  const Image level = constant_picture({601, 1, 1, Type::u8}, 0.5);
  for (const int iterations : {1, 2, 3, 6}) {
    Image picture = constant_picture({601, 1, 1, Type::f32}, 0);
    picture.view().value<float>(300, 0) = 1;
    EdgeSmooth parameters{.sigma_s = 12, .iterations = iterations};
    parameters.guide = level.view();
    const Image result = smoothed(picture, parameters);
    double sum = 0;
    double variance = 0;
    for (int x = 0; x < 601; ++x) {
      const auto value = static_cast<double>(result.view().value<float>(x, 0));
      sum += value;
      variance += value * (x - 300) * (x - 300);
    }
    EXPECT_NEAR(sum, 1, 1e-4);
    EXPECT_NEAR(std::sqrt(variance), 12, 0.12) << iterations << " iterations";
  }
}

TEST(EdgeSmooth, EveryCodeStaysConstantUnderAnyGuide) {
  Random random(500);
  for (int code = 0; code < 256; ++code) {
    const Image guide = random_picture({70, 37, 3, Type::u8}, random.next());
    EdgeSmooth parameters{.sigma_s = code % 2 == 0 ? 4.0 : 200.0, .sigma_r = 0.5};
    parameters.guide = guide.view();
    const Image bytes = constant_picture({70, 37, 3, Type::u8}, code / 255.0);
    ASSERT_EQ(difference(smoothed(bytes, parameters), bytes), "") << code;
    const double value = static_cast<double>(random.below(65536)) / 65535;
    const Image words = constant_picture({70, 37, 4, Type::u16, Alpha::straight}, value);
    ASSERT_EQ(difference(smoothed(words, parameters), words), "") << value;
    const Image floats = constant_picture({70, 37, 2, Type::f32, Alpha::straight}, value);
    ASSERT_EQ(difference(smoothed(floats, parameters), floats), "") << value;
  }
}

TEST(EdgeSmooth, SigmaZeroAndMaskZeroKeepTheBytes) {
  for (const Format& format : every_format()) {
    const Image picture = random_picture({53, 35, format.channels, format.type, format.alpha}, 600);
    const Space space = has_linear_light(format) ? Space::linear : Space::encoded;
    EXPECT_EQ(difference(smoothed(picture, {.sigma_s = 0, .space = space}), picture), "");
    EdgeSmooth masked{.space = space};
    const Image mask = constant_picture({53, 35, 1, Type::u16}, 0);
    masked.mask = mask.view();
    EXPECT_EQ(difference(smoothed(picture, masked), picture), "");
  }
}

TEST(EdgeSmooth, RefusesWhatItCannotDo) {
  const Device& device = device_under_test();
  const Shape shape{12, 9, 3, Type::u8};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto planned = [&](const EdgeSmooth& parameters) {
    return [&device, shape, parameters] { return plan(device, shape, parameters); };
  };
  for (const double sigma : {-1.0, 4097.0, nan})
    expect_error(ErrorKind::usage, "sigma-s", planned({.sigma_s = sigma}));
  for (const double sigma : {0.0, -1.0, 1001.0, nan})
    expect_error(ErrorKind::usage, "sigma-r", planned({.sigma_r = sigma}));
  for (const int iterations : {0, -3, 11})
    expect_error(ErrorKind::usage, "iterations", planned({.iterations = iterations}));
  const auto with_guide = [&](const Image& guide) {
    EdgeSmooth parameters;
    parameters.guide = guide.view();
    return planned(parameters);
  };
  const Image wide = random_map(13, 9, Type::u8, 1);
  const Image table(Shape{12, 9, 1, Type::u32});
  const Image frames = random_picture({12, 9, 1, Type::u8, Alpha::none, Order::rgb, 2}, 5);
  expect_error(ErrorKind::usage, "The guide is 13 x 9", with_guide(wide));
  expect_error(ErrorKind::usage, "guide is of type u32", with_guide(table));
  expect_error(ErrorKind::usage, "frame", with_guide(frames));

  Image picture = random_picture(shape, 6);
  Image guide = random_picture({12, 9, 3, Type::f32}, 7);
  guide.view().value<float>(11, 8, 2) = std::nanf("");
  EdgeSmooth parameters;
  parameters.guide = guide.view();
  expect_error(ErrorKind::input, "guide holds NaN", [&] { return edge_smooth(device, picture, parameters); });
  expect_error(ErrorKind::input, "NaN or infinite", [&] { return edge_smooth(device, guide); });
}

}  // namespace
}  // namespace satin::test
