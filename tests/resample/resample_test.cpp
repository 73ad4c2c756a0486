// Weights of resampling: their sums, their bounds, and the widths of sums that follow.

#include "resample/resample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

TEST(AxisWeights, AddUpExactlyAndStayInTheirBounds) {
  Random random(1);
  for (int turn = 0; turn < 400; ++turn) {
    const std::int64_t pixels = random.between(1, turn < 380 ? 300 : 20000);
    const std::int64_t results = random.between(static_cast<int>((pixels + 4095) / 4096),
                                                static_cast<int>(std::min<std::int64_t>(pixels * 64, 500)));
    for (const ResampleKernel kernel :
         {ResampleKernel::lanczos, ResampleKernel::area, ResampleKernel::nearest}) {
      const AxisWeights axis = axis_weights(kernel, pixels, results);
      const double unit = kernel == ResampleKernel::lanczos ? 0x1p-27 : 1;
      std::int64_t before = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(results); ++i) {
        double sum = 0, magnitudes = 0;
        for (std::size_t t = 0; t < static_cast<std::size_t>(axis.count[i]); ++t) {
          const double weight = axis.of(i)[t];
          ASSERT_EQ(std::fmod(weight, unit), 0);
          sum += weight;
          magnitudes += std::fabs(weight);
        }
        ASSERT_EQ(sum, axis.total) << pixels << " to " << results;
        ASSERT_LT(magnitudes, 2 * axis.total) << pixels << " to " << results;
        ASSERT_GE(axis.first[i], before);
        ASSERT_LE(axis.first[i] + axis.count[i], pixels);
        before = axis.first[i];
      }
    }
  }
}

TEST(AxisWeights, OfLanczosAreThoseOfTheOnePixelWhereTheSizeStays) {
  const AxisWeights axis = axis_weights(ResampleKernel::lanczos, 50, 50);
  for (std::size_t i = 0; i < 50; ++i)
    for (std::size_t t = 0; t < static_cast<std::size_t>(axis.count[i]); ++t)
      ASSERT_EQ(axis.of(i)[t],
                axis.first[i] + static_cast<std::int64_t>(t) == static_cast<std::int64_t>(i) ? 1 : 0);
}

TEST(SineOfSteps, IsWithinItsErrorAndZeroAtHalfTurns) {
  Random random(2);
  for (int turn = 0; turn < 20000; ++turn) {
    const std::int64_t half_turn = 6 * random.between(1, 5000);
    const std::int64_t steps = random.between(-100000, 100000);
    const long double exact = std::sin(std::numbers::pi_v<long double> * static_cast<long double>(steps) /
                                       static_cast<long double>(half_turn));
    ASSERT_NEAR(sine_of_steps(steps, half_turn), static_cast<double>(exact), 0x1p-50);
  }
  for (int turns = -4; turns <= 4; ++turns) EXPECT_EQ(sine_of_steps(turns * 42, 42), 0);
}

TEST(ChooseAreaSums, SitsOnItsBounds) {
  const std::uint64_t doubles = std::uint64_t{1} << 51;
  EXPECT_EQ(choose_area_sums(1, doubles - 1), ResampleSums::precise);
  EXPECT_EQ(choose_area_sums(1, doubles), ResampleSums::integers64);
  const std::uint64_t largest = 0xFFFFFF * std::uint64_t{0xFFFF};
  EXPECT_EQ(choose_area_sums(largest, ~std::uint64_t{0} / largest), ResampleSums::integers64);
  expect_error(ErrorKind::usage, "64 bits",
               [&] { return choose_area_sums(largest, ~std::uint64_t{0} / largest + 1); });
}

/// The quotient is the exact one at the bound, next to ties.
TEST(ResampleQuotient, IsExactAtItsBound) {
  Random random(3);
  for (int turn = 0; turn < 20000; ++turn) {
    const std::uint64_t divisor = 1 + random.below(std::uint64_t{1} << random.between(1, 27));
    const std::uint64_t quotient = random.below(std::uint64_t{1} << 24);
    for (const std::int64_t off : {-1, 0, 1}) {
      const std::uint64_t sum = quotient * divisor + divisor / 2 + static_cast<std::uint64_t>(off + 1) - 1;
      if (sum >= std::uint64_t{1} << 51) continue;
      const auto exact = static_cast<std::uint32_t>((2 * sum + divisor) / (2 * divisor));
      ASSERT_EQ(resample_quotient(static_cast<double>(sum), static_cast<double>(divisor), 0x1FFFFFF), exact);
      ASSERT_EQ(resample_quotient(sum, divisor, 0x1FFFFFF), exact);
    }
  }
}

}  // namespace
}  // namespace satin::test
