// Magnitudes of pictures of floats on every SIMD target, against the rule for one value.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/backend.h"
#include "core/plan_operations.h"
#include "satin/filters.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

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

void include(double value, int group, Measured& found) {
  if (value == 0) return;
  found.largest[group] = std::max(found.largest[group], bits_of(std::fabs(value)));
  found.smallest[group] = std::min(found.smallest[group], bits_of(std::fabs(value)));
}

Measured range_of(const std::vector<float>& values, std::size_t channels, bool weighted) {
  Measured found{{0, 0}, {~0ULL, ~0ULL}, 0, 0, 0};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_alpha = weighted && i % channels == channels - 1;
    const float alpha = weighted && !is_alpha ? values[i - i % channels + channels - 1] : 1.0F;
    if (!std::isfinite(values[i])) found.picture_not_finite = 1;
    if (std::isfinite(values[i]) && std::isfinite(alpha))
      include(static_cast<double>(values[i]) * static_cast<double>(alpha), is_alpha ? 1 : 0, found);
  }
  return found;
}

/// Measures the values as a picture of one row by the CPU's operation.
void expect_measured(const std::vector<float>& values, std::size_t channels, bool weighted) {
  const auto width = static_cast<std::int64_t>(values.size() / channels);
  const Shape shape{width, 1, static_cast<int>(channels), Type::f32};
  const auto operation =
      device_under_test().backend().prepare(MeasureJob{width, 1, shape.channels, weighted});
  Measured found{};
  operation->clear(&found, {});
  operation->measure(view_of(values.data(), shape), &found, {});
  const Measured expected = range_of(values, channels, weighted);
  for (int group = 0; group < 2; ++group) {
    ASSERT_EQ(found.largest[group], expected.largest[group]) << width << " x " << channels;
    ASSERT_EQ(found.smallest[group], expected.smallest[group]) << width << " x " << channels;
  }
  ASSERT_EQ(found.picture_not_finite, expected.picture_not_finite) << width << " x " << channels;
}

TEST(Magnitudes, RowsGiveTheExtremesOfTheirValues) {
  on_every_target([] {
    Random random(5);
    for (std::size_t pixels = 1; pixels < 45; ++pixels)
      for (const bool others : {false, true}) {
        const std::vector<float> values = telling_floats(4 * pixels, others, random);
        ASSERT_NO_FATAL_FAILURE(expect_measured(values, 1, false));
        ASSERT_NO_FATAL_FAILURE(expect_measured(values, 2, true));
        ASSERT_NO_FATAL_FAILURE(expect_measured(values, 4, true));
      }
  });
}

TEST(Magnitudes, ZerosGiveNone) {
  on_every_target([] {
    const std::vector<float> zeros(64, -0.0F);
    ASSERT_NO_FATAL_FAILURE(expect_measured(zeros, 1, false));
    ASSERT_NO_FATAL_FAILURE(expect_measured(zeros, 4, true));
  });
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
