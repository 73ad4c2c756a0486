// The bounds that keep the sums of the guided filter exact, and the arithmetic on them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "guided/local_linear.h"
#include "tests/oracles/expect_error.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

using Real = long double;

LinearRead read_of(Type type, bool weighted) {
  LinearRead read;
  read.type = type;
  read.channels = weighted ? 4 : 3;
  read.weighted = weighted;
  return read;
}

/// Checks the inequalities of choose_linear_bits() for every pair of types and every window size.
TEST(LinearBits, HoldTheirBounds) {
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const Type guide_type : {Type::u8, Type::u16, Type::f32})
      for (const bool weighted : {false, true})
        for (const bool guide_weighted : {false, true})
          for (int area_bits = 0; area_bits <= 31; ++area_bits) {
            LocalLinearJob job;
            job.picture = read_of(type, weighted);
            job.guide = read_of(guide_type, guide_weighted);
            job.layout = {3, weighted ? 4 : 3, false};
            job.width = std::int64_t{1} << (area_bits / 2);
            job.height = std::int64_t{1} << (area_bits - area_bits / 2);
            job.reach_x = job.reach_y = std::int64_t{1} << 16;
            choose_linear_bits(job);
            const auto n = static_cast<Real>(largest_window_of(job));
            const auto p = static_cast<Real>(largest_linear_value(job.picture));
            const auto g = static_cast<Real>(largest_linear_value(job.guide));
            const Real slope = std::ldexp(1.0L, job.format.slope_range);
            const Real slope_steps = std::ldexp(slope, job.format.slope_fraction);
            const Real offset_steps = std::ldexp(p + 3 * slope * g, job.format.offset_fraction);
            EXPECT_LT(n * g * std::max(g, p), 0x1p63L);
            EXPECT_LE(slope_steps, 0x1p50L);
            EXPECT_LE(n * slope_steps, 0x1p62L);
            EXPECT_LE(offset_steps, 0x1p51L);
            EXPECT_LE(n * offset_steps, 0x1p62L);
            EXPECT_GE(job.format.offset_fraction, 0);
            EXPECT_LT(p, 0x1p31L);
            EXPECT_LT(n * p, 0x1p51L);
            EXPECT_LT(n * g, 0x1p51L);
            EXPECT_GE(slope * 65535, 8191 * p / g * 65535 / 2);
          }
}

TEST(LinearBits, RefuseWindowsAboveTheBound) {
  LocalLinearJob job;
  job.width = 65536;
  job.height = 32768;  // 2^31 pixels
  job.reach_x = job.reach_y = 65536;
  choose_linear_bits(job);
  ++job.height;
  expect_error(ErrorKind::usage, "too large", [&] {
    choose_linear_bits(job);
    return 0;
  });
}

TEST(CovarianceNumerator, IsTheIntegerForAnySigns) {
  __extension__ using Integer = __int128;
  Random random(77);
  for (int turn = 0; turn < 200000; ++turn) {
    const auto number = [&](int most_bits) {
      const int bits = random.between(0, most_bits);
      const auto magnitude = static_cast<std::int64_t>(random.next() & ((std::uint64_t{1} << bits) - 1));
      return random.one_in(2) ? magnitude : -magnitude;
    };
    const std::uint64_t count = 1 + random.below(std::uint64_t{1} << 31);
    const std::int64_t product = turn == 0 ? std::numeric_limits<std::int64_t>::max() : number(63);
    const std::int64_t u = turn == 0 ? -(std::int64_t{1} << 47) : number(47);
    const std::int64_t v = turn == 0 ? std::int64_t{1} << 47 : number(47);
    const Integer exact = static_cast<Integer>(count) * product - static_cast<Integer>(u) * v;
    const double found = covariance_numerator(count, product, u, v);
    const Integer off = static_cast<Integer>(found) - exact;
    const Integer magnitude = exact < 0 ? -exact : exact;
    if (magnitude < (Integer{1} << 53)) {
      ASSERT_EQ(off, 0);
    } else {
      ASSERT_LE(off < 0 ? -off : off, magnitude >> 52);
    }
  }
}

}  // namespace
}  // namespace satin::test
