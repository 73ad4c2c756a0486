// core/maths and pixels/maths/divide.h against their definitions: division, windows as prefix terms, radii,
// fixed point.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/maths/fixed_point.h"
#include "core/maths/window.h"
#include "means/maths/mean.h"
#include "pixels/maths/divide.h"
#include "tests/oracles/oracle_line.h"
#include "tests/oracles/oracle_sums.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

WideSum wide_sum(Wide value) { return {static_cast<std::uint64_t>(value), static_cast<double>(value)}; }

void expect_divided(Wide sum, std::uint64_t divisor) {
  const auto expected = static_cast<std::int64_t>(rounded(sum, static_cast<Wide>(divisor)));
  EXPECT_EQ(divide_round(wide_sum(sum), divisor), expected)
      << "high " << static_cast<std::int64_t>(sum >> 64) << " low " << static_cast<std::uint64_t>(sum)
      << " / " << divisor;
}

TEST(DivideRound, IsExactAroundTiesOfEverySize) {
  Random random(11);
  for (int divisor_bits = 1; divisor_bits <= 60; ++divisor_bits)
    for (int quotient_bits = 0; quotient_bits <= 49; ++quotient_bits)
      for (int turn = 0; turn < 4; ++turn) {
        const std::uint64_t top = std::uint64_t{1} << divisor_bits;
        const std::uint64_t divisor = turn == 0   ? top
                                      : turn == 1 ? top - 1
                                                  : top / 2 + 1 + random.below(top / 2);
        const auto quotient = static_cast<Wide>(random.below(std::uint64_t{1} << quotient_bits));
        const Wide multiple = quotient * static_cast<Wide>(divisor);
        const auto half = static_cast<Wide>(divisor / 2);
        for (const Wide sum : {multiple, multiple + half, multiple + half - 1, multiple + half + 1}) {
          expect_divided(sum, divisor);
          expect_divided(-sum, divisor);
        }
      }
}

// The estimate is the sum of four rounded products, as in add_weighted().
TEST(DivideRound, IsExactForSumsOfWeightedBoxes) {
  Random random(12);
  for (int turn = 0; turn < 20000; ++turn) {
    const bool is_signed = random.one_in(2);
    WideSum sum;
    Wide exact = 0;
    std::uint64_t count = 0;
    const auto fraction_x = static_cast<std::uint64_t>(random.between(1, 255));
    const auto fraction_y = static_cast<std::uint64_t>(random.between(1, 255));
    for (int corner = 0; corner < 4; ++corner) {
      const std::uint64_t weight = ((corner & 1) != 0 ? fraction_x : 256 - fraction_x) *
                                   ((corner & 2) != 0 ? fraction_y : 256 - fraction_y);
      const std::uint64_t pixels = 1 + random.below(1U << 22);
      std::uint64_t box = random.below(pixels << 40);
      if (is_signed && random.one_in(2)) box = ~box + 1;
      add_weighted(sum, weight, box, is_signed);
      exact += static_cast<Wide>(weight) *
               (is_signed ? static_cast<Wide>(static_cast<std::int64_t>(box)) : static_cast<Wide>(box));
      count += weight * pixels;
    }
    ASSERT_EQ(divide_round(sum, count), static_cast<std::int64_t>(rounded(exact, static_cast<Wide>(count))))
        << turn;
  }
}

TEST(PrefixTerms, SumEverySmallWindowOfEveryBorder) {
  Random random(13);
  constexpr int margin = 40;
  for (const Border border : every_border)
    for (int size = 1; size <= 7; ++size) {
      const ExtendedLine line(size, margin, border);
      std::vector<std::int64_t> values(static_cast<std::size_t>(size));
      for (std::int64_t& value : values) value = random.between(-1000, 1000);
      std::vector<std::int64_t> prefix(values.size());
      std::partial_sum(values.begin(), values.end(), prefix.begin());
      for (int low = -30; low <= 30; ++low) {
        ASSERT_EQ(source_of(low, size, border), line.at(low)) << "size " << size << ", position " << low;
        std::int64_t direct = 0;
        for (int high = low; high <= 30; ++high) {
          if (const int source = line.at(high); source != ExtendedLine::nothing)
            direct += values[static_cast<std::size_t>(source)];
          const PrefixTerms terms = prefix_terms({low, high}, size, border);
          std::int64_t sum = 0;
          for (int i = 0; i < PrefixTerms::count; ++i)
            if (terms.coefficient[i] != 0) {
              ASSERT_GE(terms.index[i], 0);
              ASSERT_LT(terms.index[i], size);
              sum += terms.coefficient[i] * prefix[static_cast<std::size_t>(terms.index[i])];
            }
          ASSERT_EQ(sum, direct) << "border " << static_cast<int>(border) << ", size " << size << ", window "
                                 << low << ".." << high;
        }
      }
    }
}

TEST(AxisBox, CountsTheCoveredLength) {
  for (const Border border : every_border)
    for (const int size : {1, 2, 7, 50})
      for (const int radius : {0, 1, 64, 128, 255, 256, 257, 1000, 5120, 20000}) {
        const ExtendedLine line(size, radius / 256 + 2, border);
        for (int centre = 0; centre < size; ++centre) {
          const AxisBox box = axis_box(centre, size, radius, border);
          const LineWeights weights = covered_length(line, centre, radius);
          const std::uint64_t unit = radius % 256 == 0 ? 256 : 1;  // whole radii are counted in whole pixels
          std::int64_t existing = 0;
          for (int position = centre - radius / 256 - 1; position <= centre + radius / 256 + 1; ++position)
            if (position >= 0 && position < size)
              existing += std::min(256, std::max(0, radius + 256 - 256 * std::abs(position - centre)));
          EXPECT_EQ(box.existing * unit, static_cast<std::uint64_t>(existing));
          EXPECT_EQ(box.size * unit,
                    static_cast<std::uint64_t>(border == Border::shrink ? existing : weights.whole));
        }
      }
}

TEST(RadiusFromMap, IsNearestQuantumTiesUp) {
  Random random(14);
  for (int turn = 0; turn < 20000; ++turn) {
    const bool eight = random.one_in(2);
    const std::uint32_t maximum = eight ? 255 : 65535;
    const auto value = static_cast<std::uint32_t>(
        random.one_in(8) ? random.below(2) * maximum : random.below(std::uint64_t{maximum} + 1));
    const int low = random.between(0, largest_radius * radius_one);
    const int high = random.one_in(8) ? low : random.between(0, largest_radius * radius_one);
    const Wide weighted = Wide{low} * (maximum - value) + Wide{high} * value;
    ASSERT_EQ(radius_from_map(value, maximum, low, high), static_cast<int>(rounded(weighted, maximum)));

    const auto fraction = static_cast<float>(random.below(1U << 24)) / static_cast<float>(1U << 24);
    const auto exact = static_cast<long double>(low) + static_cast<long double>(high - low) * fraction;
    ASSERT_EQ(radius_from_map(fraction, low, high), static_cast<int>(std::floor(exact + 0.5L)));
  }
  EXPECT_EQ(radius_from_map(1.0F, 3, 700), 700);
  EXPECT_EQ(radius_from_map(-0.0F, 3, 700), 3);
  EXPECT_EQ(radius_from_map(std::nanf(""), 3, 700), 3);
}

TEST(FixedPoint, ExponentBringsTheLargestValueJustBelowTheBits) {
  for (const double largest : {1.0, 0.999999, 1.5, 65504.0, 3.0e38, 1.4e-45, 1e-300, 0x1.fffffep127})
    for (const int bits : {30, 40}) {
      const int exponent = fixed_exponent(bits_of(largest), bits);
      const double scaled = std::ldexp(largest, exponent);
      EXPECT_LT(scaled, std::ldexp(1.0, bits)) << largest;
      EXPECT_GE(scaled, std::ldexp(1.0, bits - 1)) << largest;
    }
  EXPECT_EQ(fixed_exponent(bits_of(0), 40), 0);
}

TEST(FixedPoint, RoundsTiesUp) {
  EXPECT_EQ(to_fixed(2.5, 0), 3);
  EXPECT_EQ(to_fixed(-2.5, 0), -2);
  EXPECT_EQ(to_fixed(-2.75, 0), -3);
  EXPECT_EQ(to_fixed(0.375, 2), 2);
  EXPECT_EQ(to_fixed(-0.375, 2), -1);
  EXPECT_EQ(to_fixed(1, 40), std::int64_t{1} << 40);
}

}  // namespace
}  // namespace satin::test
