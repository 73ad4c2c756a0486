// Single-precision arithmetic of statistics/maths/local_statistics.h with the largest allowed errors, against
// the definition in doubles.

#include "statistics/maths/local_statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "pixels/maths/plane.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

constexpr double unit = 0x1p-24;

/// Returns the number with a relative error of `parts` units.
double wrong_by(double parts, double value) { return value * (1 + parts * unit); }

/// Steps that all have the largest error that the header allows: upwards, or downwards if `sign` is -1.
struct WrongSteps {
  double sign;

  [[nodiscard]] double radicand(const WindowSums& sums) const {
    const auto exact = sums.count * sums.squares - sums.sum * sums.sum;
    return wrong_by(2 * sign, static_cast<double>(exact));
  }
  [[nodiscard]] double deviation(const WindowSums& sums) const {
    const double root = wrong_by(2.3 * sign, std::sqrt(radicand(sums)));
    const double inverse = wrong_by(2 * sign, 1 / static_cast<double>(sums.count));
    return wrong_by(sign, root * inverse);
  }
  [[nodiscard]] double normalised(const NormaliseRule& rule, double value, const WindowSums& sums) const {
    const double own = static_cast<double>(sums.count) * value - static_cast<double>(sums.sum);
    const double inverse = wrong_by(2 * sign, 1 / static_cast<double>(sums.count));
    const double most = wrong_by(2 * sign, rule.gain * inverse);
    const WrongSteps other{-sign};  // a smaller root makes it larger
    const double inverse_root = wrong_by(2.3 * sign, 1 / std::sqrt(std::fmax(0.5, other.radicand(sums))));
    const double scale = std::fmin(most, wrong_by(2 * sign, rule.deviation * inverse_root));
    const double product = wrong_by(2 * sign, own * scale);
    const double away = own < 0 ? -sign : sign;
    const double mean = rule.mean + away * unit * std::fabs(rule.mean);
    return product + mean + away * unit * std::fabs(product + mean);
  }
};

/// `high_count` values are `high`, one is `own`, and the others are `low`.
WindowSums two_heaps(std::uint64_t count, std::uint64_t high_count, std::uint64_t low, std::uint64_t high,
                     std::uint64_t own) {
  const std::uint64_t low_count = count - high_count - 1;
  return {count, low_count * low + high_count * high + own,
          low_count * low * low + high_count * high * high + own * own};
}

/// Expects that the error is within the doubt where it matters and that decisions equal those of doubles.
/// Returns the error as a fraction of the doubt.
template <class T>
double checked(const QuickNumber& quick, double doubt, double approximate, double exact) {
  constexpr double largest = static_cast<T>(~T{0});
  const double error = std::fabs(approximate - exact) / doubt;
  const bool matters = exact >= -1 && exact <= largest + 1;
  if (matters) {
    EXPECT_LE(error, 1) << approximate << " for " << exact;
  }
  const double clamped = std::fmin(std::fmax(approximate, 0), largest);
  const double nearest = std::nearbyint(clamped);
  if (std::fabs(clamped - nearest) <= static_cast<double>(quick.limit)) {
    EXPECT_EQ(stored_number<T>(exact), static_cast<T>(nearest)) << approximate << " for " << exact;
  }
  return matters ? error : 0;
}

template <class T, class Check>
void for_windows(const Check& check) {
  constexpr std::uint64_t largest = static_cast<T>(~T{0});
  Random random(sizeof(T));
  constexpr std::array<std::uint64_t, 8> counts{2, 3, 9, 25, 961, 10201, 65535, 66049};
  for (const std::uint64_t count : counts) {
    if (!quick_suffices(count, largest)) continue;
    check(two_heaps(count, count / 2, 0, largest, largest), largest);
    check(two_heaps(count, count / 2, 0, largest, 0), 0);
    check(two_heaps(count, 0, largest, 0, largest), largest);
    for (int turn = 0; turn < 20000; ++turn) {
      const std::uint64_t low = random.below(largest + 1);
      const std::uint64_t high =
          turn % 3 == 0 ? std::min(largest, low + random.below(4)) : random.below(largest + 1);
      const std::uint64_t own = turn % 2 == 0 ? high : random.below(largest + 1);
      check(two_heaps(count, random.below(count), low, high, own), own);
    }
  }
}

template <class T>
void check_deviations() {
  constexpr double largest = static_cast<T>(~T{0});
  const QuickNumber quick = quick_deviation(largest);
  const double doubt = quick_deviation_doubt(largest);
  double worst = 0;
  for_windows<T>([&](const WindowSums& sums, std::uint64_t) {
    for (const double sign : {-1.0, 1.0})
      worst = std::fmax(worst, checked<T>(quick, doubt, WrongSteps{sign}.deviation(sums),
                                          local_statistics(sums, {}).deviation));
  });
  EXPECT_GT(worst, 0.7) << "the bound is reached, but for what it leaves for the doubles";
}

TEST(QuickNumber, DeviationsAreWithinTheirDoubt) {
  check_deviations<std::uint8_t>();
  check_deviations<std::uint16_t>();
}

template <class T>
double worst_normalised(const NormaliseRule& rule) {
  constexpr double largest = static_cast<T>(~T{0});
  const QuickNumber quick = quick_normalised(rule, largest);
  const double doubt = quick_normalised_doubt(rule, largest);
  double worst = 0;
  for_windows<T>([&](const WindowSums& sums, std::uint64_t own) {
    const auto value = static_cast<double>(own);
    for (const double sign : {-1.0, 1.0})
      worst = std::fmax(worst, checked<T>(quick, doubt, WrongSteps{sign}.normalised(rule, value, sums),
                                          normalised(rule, value, local_statistics(sums, {}))));
  });
  return worst;
}

TEST(QuickNumber, NormalisedValuesAreWithinTheirDoubt) {
  for (const double white : {255.0, 65535.0}) {
    const auto worst = [&](double mean, double deviation, double gain) {
      const NormaliseRule rule{mean * white, deviation * white, gain};
      return white == 255 ? worst_normalised<std::uint8_t>(rule) : worst_normalised<std::uint16_t>(rule);
    };
    EXPECT_GT(worst(0.5, 0.2, 5), 0.7);
    EXPECT_GT(worst(0.1, 3, 1e6), 0.7);
    EXPECT_GT(worst(0.5, 1, 1), 0.5);
    for (const double mean : {-2.0, 0.0, 1.0, 7.0})
      for (const double deviation : {0.0, 0.05, 100.0})
        for (const double gain : {0.0, 0.5, 40.0}) worst(mean, deviation, gain);
  }
}

/// Nothing is decided where floats might overflow or cannot resolve integers.
TEST(QuickNumber, LeavesParametersBeyondFloatsToTheDoubles) {
  EXPECT_GT(quick_normalised({0, 1, 9e29}, 255).limit, 0);
  EXPECT_LT(quick_normalised({0, 1, 1e30}, 255).limit, 0);
  EXPECT_LT(quick_normalised({0, 1e30, 1}, 255).limit, 0);
  EXPECT_LT(quick_normalised({1e30, 1, 1}, 255).limit, 0);
  EXPECT_LT(quick_normalised({-1e30, 1, 1}, 255).limit, 0);
  EXPECT_GT(quick_normalised({8e5, 1, 1}, 255).limit, 0);  // doubt 0.477
  EXPECT_LT(quick_normalised({9e5, 1, 1}, 255).limit, 0);  // doubt 0.536
}

}  // namespace
}  // namespace satin::test
