// Rows of rounded quotients on every SIMD target against integer division: ties, their neighbours and the
// bounds of each kind of division.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/means/quotient_rows_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "means/cpu/box_chain.h"
#include "means/cpu/divide-inl.h"
#include "pixels/maths/divide.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

namespace rows = cpu::HWY_NAMESPACE;

constexpr std::uint64_t two_to(int exponent) { return std::uint64_t{1} << exponent; }

/// Returns sum / divisor, rounded to nearest, ties up.
std::uint64_t quotient(std::uint64_t sum, std::uint64_t divisor) {
  return sum / divisor + (sum % divisor >= divisor - divisor / 2 ? 1 : 0);
}

/// Returns sums up to `largest` at and next to the midpoints between means, at the ends, and some between.
std::vector<std::uint64_t> telling_sums(std::uint64_t divisor, std::uint64_t largest, Random& random) {
  std::vector<std::uint64_t> sums{0, 1, largest - 1, largest};
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t whole = random.below(largest / divisor + 1) * divisor;
    for (const std::uint64_t more : {std::uint64_t{0}, (divisor - 1) / 2, divisor / 2, divisor / 2 + 1,
                                     divisor - 1, random.below(divisor)})
      if (whole + more <= largest) sums.push_back(whole + more);
  }
  return sums;
}

template <class Mean>
void check_words(std::uint32_t divisor, std::uint32_t weight) {
  Random random(divisor);
  const std::uint64_t fits = (cpu::word_divide_limit - 1 - divisor / 2) / weight * weight;
  const std::uint64_t largest = std::min(fits, std::numeric_limits<Mean>::max() * std::uint64_t{divisor});
  std::vector<std::uint32_t> ahead;
  std::vector<std::uint32_t> behind;
  for (const std::uint64_t sum : telling_sums(divisor, largest, random)) {
    behind.push_back(static_cast<std::uint32_t>(random.below(two_to(32))));
    ahead.push_back(behind.back() + static_cast<std::uint32_t>(sum / weight));
  }
  rows::BoxDifferences<std::uint32_t> boxes;
  boxes.weight[0] = weight;
  rows::Divisors divisors;
  divisors.divisor = divisor;
  divisors.division = cpu::Division::integer32;
  for (const std::size_t count : {std::size_t{1}, std::size_t{15}, std::size_t{35}, ahead.size()}) {
    boxes.ahead[0] = ahead.data() + ahead.size() - count;
    boxes.behind[0] = behind.data() + behind.size() - count;
    std::vector<Mean> means(count + 1, 77);
    rows::Divide(boxes, divisors, 0, count, means.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t sum = boxes.ahead[0][i] - boxes.behind[0][i];
      ASSERT_EQ(means[i], quotient(std::uint64_t{sum} * weight, divisor)) << sum << " / " << divisor;
    }
    ASSERT_EQ(means[count], 77);
  }
}

void CheckWords() {
  for (const std::uint32_t divisor : {1U, 2U, 3U, 9U, 15U * 17, 225U, 256U, 257U, 33U * 33, 2047U * 2047,
                                      1U << 24, (1U << 30) - 1, 1U << 30}) {
    check_words<std::uint8_t>(divisor, 1);
    check_words<std::uint16_t>(divisor, 1);
    check_words<std::uint32_t>(divisor, 1);
    if (divisor < 1U << 20) check_words<std::uint16_t>(divisor, 256);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// Rows in which every entry has its own inner sum and edges.
class CoveredCase {
 public:
  void push_back(std::uint32_t inner, std::uint32_t edges) {
    inner_.push_back(inner);
    edges_.push_back(edges);
  }
  [[nodiscard]] std::size_t size() const { return inner_.size(); }

  /// Returns the last `count` entries.
  template <class Mean>
  void check(std::uint32_t whole, std::uint32_t outer, std::uint64_t divisor, cpu::Division division,
             std::size_t count) const {
    Random random(divisor);
    std::vector<std::uint32_t> prefix(4 * count);
    const std::size_t first = size() - count;
    rows::BoxDifferences<std::uint32_t> boxes;
    boxes.boxes = 2;
    boxes.weight[0] = whole - outer;
    boxes.weight[1] = outer;
    for (std::size_t box = 0; box < 2; ++box) {
      boxes.behind[box] = prefix.data() + 2 * box * count;
      boxes.ahead[box] = prefix.data() + (2 * box + 1) * count;
    }
    for (std::size_t i = 0; i < count; ++i) {
      prefix[i] = static_cast<std::uint32_t>(random.below(two_to(32)));
      prefix[count + i] = prefix[i] + inner_[first + i];
      prefix[2 * count + i] = static_cast<std::uint32_t>(random.below(two_to(32)));
      prefix[3 * count + i] = prefix[2 * count + i] + inner_[first + i] + edges_[first + i];
    }
    rows::Divisors divisors;
    divisors.divisor = static_cast<double>(divisor);
    divisors.division = division;
    std::vector<Mean> means(count + 1, 77);
    rows::Divide(boxes, divisors, 0, count, means.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t sum =
          std::uint64_t{inner_[first + i]} * whole + std::uint64_t{edges_[first + i]} * outer;
      ASSERT_EQ(means[i], quotient(sum, divisor)) << sum << " / " << divisor << ", entry " << i;
    }
    ASSERT_EQ(means[count], 77);
  }

 private:
  std::vector<std::uint32_t> inner_;
  std::vector<std::uint32_t> edges_;
};

/// Checks sums near `sum`. With `edges` 1 the weights reach multiples of 256.
void push_near(std::uint64_t sum, std::uint32_t whole, std::uint32_t outer, std::uint64_t edges,
               CoveredCase& rows) {
  edges = std::min(edges, std::min(two_to(31) - 1, outer == 0 ? 0 : sum / outer));
  const std::uint64_t inner = (sum - edges * outer) / whole;
  if (inner < two_to(32))
    rows.push_back(static_cast<std::uint32_t>(inner), static_cast<std::uint32_t>(edges));
}

template <class Mean>
void check_covered(std::uint32_t whole, std::uint32_t outer, std::uint64_t divisor, cpu::Division division) {
  Random random(divisor + outer);
  CoveredCase rows;
  const std::uint64_t largest =
      std::min(std::numeric_limits<Mean>::max() * divisor, std::uint64_t{whole} * (two_to(32) - 1));
  for (const std::uint64_t sum : telling_sums(divisor, largest, random))
    for (const std::uint64_t edges :
         {std::uint64_t{0}, random.below(two_to(20)) * 256, random.below(two_to(31))})
      push_near(sum, whole, outer, edges, rows);
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{37}, rows.size()}) {
    rows.check<Mean>(whole, outer, divisor, division, count);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// With the largest of these divisors inner sums have 32 bits; above largest_word_divisor, means of 16 bits
/// overflow words.
void CheckCoveredSums() {
  for (const std::uint32_t outer : {0U, 1U, 100U, 255U})
    for (const std::uint64_t divisor : {two_to(18), two_to(20) + 1, two_to(24), two_to(26) - 512, two_to(30),
                                        two_to(30) + 2, two_to(32), std::uint64_t{4094} * 4094 * 256}) {
      const auto division =
          divisor <= cpu::largest_word_divisor ? cpu::Division::integer32 : cpu::Division::float64;
      check_covered<std::uint8_t>(256, outer, divisor, cpu::Division::float64);
      check_covered<std::uint16_t>(256, outer, divisor, division);
      check_covered<std::uint32_t>(256, outer, divisor, cpu::Division::float64);
      check_covered<std::uint16_t>(1U << 16, outer << 8, divisor, division);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

/// Checks sums of 64 bits up to the bounds of Division::wide64: single boxes, whose divisor is a multiple of
/// the weight so that 64 bits hold the expected quotient, and their negatives.
void check_wide(std::uint64_t weight, std::uint64_t divisor) {
  constexpr std::uint64_t largest_mean = two_to(49) - 1;
  Random random(weight + divisor);
  std::uint64_t largest = two_to(63) - 1;
  if (divisor < largest / largest_mean) largest = largest_mean * divisor;
  std::vector<std::uint64_t> ahead;
  std::vector<std::uint64_t> behind;
  for (const std::uint64_t sum : telling_sums(divisor, largest, random)) {
    behind.push_back(random.below(two_to(63)) * 2 + 1);
    ahead.push_back(behind.back() + sum);
  }
  rows::BoxDifferences<std::uint64_t> boxes;
  boxes.weight[0] = static_cast<double>(weight);
  const rows::Divisors divisors{cpu::Division::wide64, static_cast<double>(weight * divisor)};
  std::vector<std::uint64_t> means(ahead.size());
  for (const bool negative : {false, true}) {
    boxes.ahead[0] = negative ? behind.data() : ahead.data();
    boxes.behind[0] = negative ? ahead.data() : behind.data();
    rows::Divide(boxes, divisors, 0, means.size(), means.data());
    for (std::size_t i = 0; i < means.size(); ++i) {
      const std::uint64_t sum = ahead[i] - behind[i];
      const bool tie = sum % divisor * 2 == divisor;
      const std::uint64_t expected =
          negative ? std::uint64_t{0} - (quotient(sum, divisor) - (tie ? 1 : 0)) : quotient(sum, divisor);
      ASSERT_EQ(means[i], expected) << (negative ? "-" : "") << sum << " / " << divisor;
    }
  }
}

/// Checks the four boxes of a fractional window, whose weighted sums exceed 64 bits.
void check_wide_boxes(int fraction_x, int fraction_y, std::uint64_t divisor) {
  constexpr std::size_t count = 203;
  Random random(divisor);
  rows::BoxDifferences<std::uint64_t> boxes;
  boxes.boxes = 4;
  std::vector<std::uint64_t> prefixes(8 * count);
  std::vector<WideSum> sums(count);
  for (int box = 0; box < 4; ++box) {
    const int weight_x = (box & 1) != 0 ? fraction_x : 256 - fraction_x;
    const int weight_y = (box & 2) != 0 ? fraction_y : 256 - fraction_y;
    boxes.weight[box] = weight_x * weight_y;
    std::uint64_t* behind = prefixes.data() + static_cast<std::size_t>(2 * box) * count;
    boxes.behind[box] = behind;
    boxes.ahead[box] = behind + count;
    const std::uint64_t largest = std::min((two_to(49) - 1) * (divisor >> 16), two_to(63) - 1);
    for (std::size_t i = 0; i < count; ++i) {
      behind[i] = random.below(two_to(63)) * 2;
      const std::uint64_t sum = i % 3 == 0 ? largest - i : random.below(largest);
      behind[count + i] = behind[i] + sum;
      add_weighted(sums[i], static_cast<std::uint64_t>(boxes.weight[box]), sum, false);
    }
  }
  const rows::Divisors divisors{cpu::Division::wide64, static_cast<double>(divisor)};
  std::vector<std::uint64_t> means(count + 1, 77);
  rows::Divide(boxes, divisors, 0, count, means.data());
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(static_cast<std::int64_t>(means[i]), divide_round(sums[i], divisor)) << i << " / " << divisor;
  ASSERT_EQ(means[count], 77);
}

void CheckWideSums() {
  for (const std::uint64_t weight : {std::uint64_t{1}, two_to(16), two_to(24)})
    for (const std::uint64_t divisor : {std::uint64_t{3}, std::uint64_t{25 * 25}, std::uint64_t{4095},
                                        two_to(28) - 1, two_to(52) / weight - 1})
      if (divisor < two_to(52) / weight) check_wide(weight, divisor);
  for (const int fraction : {1, 77, 255})
    for (const std::uint64_t divisor :
         {std::uint64_t{777} * 777, two_to(20) - 1, two_to(33) + 1, two_to(52) - 1})
      check_wide_boxes(fraction, 256 - fraction, divisor);
}

/// Checks pixels whose last sum is `alpha`, with colour sums near ties: each mean has its own pixel's
/// divisor.
template <class Mean>
void check_unweighted(std::size_t channels, std::uint64_t alpha, std::uint32_t white, std::uint64_t divisor) {
  Random random(alpha + channels);
  std::vector<std::uint64_t> sums;
  for (const std::uint64_t colour :
       telling_sums(std::max<std::uint64_t>(alpha, 1), white * alpha + 1, random)) {
    const std::uint64_t own = random.below(4) == 0 ? random.below(alpha + 1) : alpha;
    for (std::size_t c = 0; c + 1 < channels; ++c) sums.push_back(std::min(colour + c, white * own));
    sums.push_back(own);
  }
  std::vector<double> behind(sums.size());
  std::vector<double> ahead(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    behind[i] = static_cast<double>(random.below(two_to(51)));
    ahead[i] = behind[i] + static_cast<double>(sums[i]);
  }
  rows::BoxDifferences<double> boxes;
  boxes.ahead[0] = ahead.data();
  boxes.behind[0] = behind.data();
  boxes.weight[0] = 1;
  rows::Divisors divisors;
  divisors.divisor = static_cast<double>(divisor);
  std::vector<Mean> means(sums.size() + 1, 77);
  rows::Unweight(boxes, divisors, 0, sums.size(), channels, white, means.data());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::uint64_t own = sums[i | (channels - 1)];
    const bool is_alpha = i % channels == channels - 1;
    const std::uint64_t expected = is_alpha ? quotient(own, divisor) : own == 0 ? 0 : quotient(sums[i], own);
    ASSERT_EQ(means[i], expected) << sums[i] << " of " << own << ", divisor " << divisor;
  }
  ASSERT_EQ(means.back(), 77);
}

void CheckUnweighted() {
  for (const std::size_t channels : {std::size_t{2}, std::size_t{4}})
    for (const std::uint64_t alpha : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{255},
                                      std::uint64_t{33 * 33 * 255}, two_to(26) - 1, two_to(50) / 65536 - 1}) {
      const std::uint64_t divisor = std::max<std::uint64_t>(alpha / 255, 1);
      check_unweighted<std::uint16_t>(channels, alpha, 65535, divisor);
      check_unweighted<std::uint32_t>(channels, alpha, 255, divisor);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

HWY_EXPORT(CheckWords);
HWY_EXPORT(CheckCoveredSums);
HWY_EXPORT(CheckWideSums);
HWY_EXPORT(CheckUnweighted);

TEST(QuotientRows, IntegerDivisionIsExact) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckWords)(); });
}

TEST(QuotientRows, DivisionOfFractionalBoxesIsExact) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckCoveredSums)(); });
}

TEST(QuotientRows, DivisionOfWideSumsIsExact) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckWideSums)(); });
}

TEST(QuotientRows, DivisionByAlphaIsExact) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckUnweighted)(); });
}

}  // namespace
}  // namespace satin::test
#endif
