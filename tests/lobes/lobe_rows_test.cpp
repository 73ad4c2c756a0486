// Loops over rows of lobes and cells on every SIMD target: in exact integers.

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/lobes/lobe_rows_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <vector>

#include "lobes/cpu/lobe_rows-inl.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/pictures.h"

HWY_BEFORE_NAMESPACE();
namespace satin::test::HWY_NAMESPACE {
namespace {

namespace rows = cpu::HWY_NAMESPACE;

__extension__ using Exact = __int128;

std::int64_t rounded(Exact sum, Exact divisor) {
  return static_cast<std::int64_t>((2 * sum + divisor) / (2 * divisor));
}

void CheckSums() {
  constexpr std::size_t count = 37;
  Random random(15);
  std::vector<std::uint64_t> ahead(count), behind(count), low(count);
  std::vector<double> estimate(count);
  std::vector<WideSum> expected(count);
  for (int box = 0; box < 50; ++box) {
    const auto weight = static_cast<std::uint32_t>(random.next() >> random.between(32, 60));
    for (std::size_t i = 0; i < count; ++i) {
      behind[i] = random.next();
      const std::int64_t sum = static_cast<std::int64_t>(random.next()) >> random.between(0, 60);
      ahead[i] = behind[i] + static_cast<std::uint64_t>(sum);
      expected[i].low += static_cast<std::uint64_t>(static_cast<Exact>(sum) * weight);
      expected[i].estimate += static_cast<double>(weight) * static_cast<double>(sum);
    }
    rows::AddWeightedDifferences(ahead.data(), behind.data(), count, weight, low.data(), estimate.data());
  }
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(low[i], expected[i].low);
    ASSERT_EQ(estimate[i], expected[i].estimate);
  }
  std::vector<std::uint64_t> above(count), below(count), values(count);
  std::vector<std::uint32_t> whole(count);
  for (const int bits : {1, 2, 3, 4}) {
    const std::uint64_t side = std::uint64_t{1} << bits;
    for (std::size_t i = 0; i < count; ++i) {
      above[i] = random.below(std::uint64_t{0x1000000} * 256 * 2 * side - 255);
      below[i] = random.below(std::uint64_t{0x1000000} * 256 * 2 * side - 255);
      values[i] = above[i] * (2 * side - 1) + below[i];
    }
    for (std::uint64_t row = 1; row < 2 * side; row += 2) {
      rows::RoundAndStep(above.data(), below.data(), count, bits, values.data(), whole.data());
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(whole[i], rounded(static_cast<Exact>(above[i]) * (2 * side - row) +
                                        static_cast<Exact>(below[i]) * row,
                                    static_cast<Exact>(256 * 4 * side * side)));
    }
  }
}

}  // namespace
}  // namespace satin::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::test {
namespace {

HWY_EXPORT(CheckSums);

TEST(LobeRows, GiveTheSumsOnEveryTarget) {
  on_every_target([] { HWY_DYNAMIC_DISPATCH(CheckSums)(); });
}

}  // namespace
}  // namespace satin::test
#endif
