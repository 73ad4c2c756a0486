// Magnitudes of rows of floats on every SIMD target, against the rule for one value.

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/pixels/measure_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "pixels/cpu/measure-inl.h"
#include "satin/filters.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

using cpu::HWY_NAMESPACE::FloatRange;
using cpu::HWY_NAMESPACE::Magnitudes;
using cpu::HWY_NAMESPACE::MeasureRow;
using cpu::HWY_NAMESPACE::MeasureWeightedRow;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Returns zeros of both signs, the smallest and the largest floats, and, if `others`, infinities and NaN.
std::vector<float> telling_floats(std::size_t count, bool others, Random& random) {
  const float finite[] = {0.0F, -0.0F, 1.5F, -1.5F, 0x1p-149F, -0x1p-126F, 0x1.fffffep127F, -3e-5F};
  const float any[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t kind = random.below(20);
    if (others && kind < 3) {
      values.push_back(any[kind]);
    } else {
      values.push_back(kind < 8 ? finite[random.below(8)]
                                : static_cast<float>(random.between(-1000, 1000)) / 512.0F);
    }
  }
  return values;
}

void include(double value, Magnitudes& found) {
  if (value == 0) return;
  found.largest = std::fmax(found.largest, std::fabs(value));
  found.smallest = std::fmin(found.smallest, std::fabs(value));
}

FloatRange range_of(const std::vector<float>& values, std::size_t channels, bool weighted) {
  FloatRange found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_alpha = weighted && i % channels == channels - 1;
    const float alpha = weighted && !is_alpha ? values[i - i % channels + channels - 1] : 1.0F;
    if (!std::isfinite(values[i])) found.others = true;
    if (std::isfinite(values[i]) && std::isfinite(alpha))
      include(static_cast<double>(values[i]) * static_cast<double>(alpha),
              is_alpha ? found.alphas : found.colours);
  }
  return found;
}

void expect_equal(const FloatRange& found, const FloatRange& expected) {
  ASSERT_EQ(found.colours.largest, expected.colours.largest);
  ASSERT_EQ(found.colours.smallest, expected.colours.smallest);
  ASSERT_EQ(found.alphas.largest, expected.alphas.largest);
  ASSERT_EQ(found.alphas.smallest, expected.alphas.smallest);
  ASSERT_EQ(found.others, expected.others);
}

void CheckRows() {
  Random random(5);
  for (std::size_t pixels = 1; pixels < 45; ++pixels)
    for (const bool others : {false, true}) {
      SCOPED_TRACE(pixels);
      const std::vector<float> values = telling_floats(4 * pixels, others, random);
      FloatRange found;
      MeasureRow(values.data(), values.size(), found);
      expect_equal(found, range_of(values, 1, false));
      for (const std::size_t channels : {std::size_t{2}, std::size_t{4}}) {
        FloatRange weighted;
        MeasureWeightedRow(values.data(), values.size() / channels, static_cast<int>(channels), weighted);
        expect_equal(weighted, range_of(values, channels, true));
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
}

void CheckZeros() {
  const std::vector<float> zeros(64, -0.0F);
  FloatRange found;
  MeasureRow(zeros.data(), zeros.size(), found);
  MeasureWeightedRow(zeros.data(), zeros.size() / 4, 4, found);
  expect_equal(found, {});
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

HWY_EXPORT(CheckRows);
HWY_EXPORT(CheckZeros);

TEST(Magnitudes, RowsGiveTheExtremesOfTheirValues) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckRows)(); });
}

TEST(Magnitudes, ZerosGiveNone) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckZeros)(); });
}

/// The fixed-point scale must follow the largest value anywhere in the picture, or its sum would not fit.
TEST(Magnitudes, OneLargeValueIsFoundAnywhere) {
  const Device& device = device_under_test();
  for (std::int64_t x = 1; x < 130; ++x) {
    Image picture({131, 5, 1, Type::f32});
    std::fill_n(picture.view().row<float>(0), 131 * 5, 1.0F);
    const std::int64_t y = 1 + x % 3;
    picture.view().value<float>(x, y) = 0x1p40F;
    const Image blurred = blur(device, picture, {.radius = 1, .space = Space::encoded});
    ASSERT_EQ(blurred.view().value<float>(x, y), static_cast<float>((0x1p40 + 8) / 9)) << x;
  }
}

}  // namespace
}  // namespace satin::test
#endif
