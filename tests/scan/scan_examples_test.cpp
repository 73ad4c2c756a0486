// Worked examples from the literature.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "satin/host/scan.h"
#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

using U8 = std::uint8_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

const Device& device() { return device_under_test(); }

TEST(ScanExamples, ThreeOneSevenZeroFourOneSixThree) {
  const std::vector<U32> values = {3, 1, 7, 0, 4, 1, 6, 3};
  in_every_place([&](Place& place) {
    const ArrayView from = place.copy(values);
    const MutableArrayView to = place.result<U32>(8);
    exclusive_scan(device(), from, to);
    EXPECT_EQ(place.read<U32>(to), (std::vector<U32>{0, 3, 4, 11, 11, 15, 16, 22}));
    inclusive_scan(device(), from, to);
    EXPECT_EQ(place.read<U32>(to), (std::vector<U32>{3, 4, 11, 11, 15, 16, 22, 25}));
    EXPECT_EQ(reduce<U32>(device(), from, Operator::sum), 25U);
    EXPECT_EQ(reduce<U32>(device(), from, Operator::max), 7U);
  });
}

TEST(ScanExamples, SumsByGroupIndex) {
  const std::vector<U32> groups = {0, 0, 0, 1, 1, 2, 2, 2, 2, 3};
  const std::vector<U32> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  in_every_place([&](Place& place) {
    const MutableArrayView sums = place.result<U32>(4);
    EXPECT_EQ(segmented_reduce(device(), place.copy(values), Segments::by_group(place.copy(groups)), sums),
              4);
    EXPECT_EQ(place.read<U32>(sums), (std::vector<U32>{3, 7, 26, 9}));
  });
}

TEST(ScanExamples, EightBinsOfOneHundredTwentyEightElements) {
  std::vector<float> values;
  for (int i = 0; i < 128; ++i) values.push_back(static_cast<float>(i % 80) / 100);
  const Bins bins = Bins::even(0, 1, 8);
  in_every_place([&](Place& place) {
    const ArrayView from = place.copy(values);
    const MutableArrayView counts = place.result<U32>(8);
    histogram(device(), from, bins, counts);
    EXPECT_EQ(place.read<U32>(counts), (std::vector<U32>{26, 24, 26, 22, 13, 12, 5, 0}));
    const MutableArrayView found = place.result<float>(128);
    ASSERT_EQ(extract_bin(device(), from, bins, 6, found), 5);
    const std::vector<float> sixth = place.read<float>(found);
    EXPECT_EQ(std::vector<float>(sixth.begin(), sixth.begin() + 5),
              (std::vector<float>{0.75F, 0.76F, 0.77F, 0.78F, 0.79F}));
    EXPECT_EQ(extract_bin(device(), from, bins, 7, found), 0);
  });
}

TEST(ScanExamples, OneBelongsToTheLastBinAndNegativesToTheFirst) {
  const std::vector<float> values = {1.0F, -0.25F, 7.0F, 0.0F, std::nanf(""), 0.125F};
  in_every_place([&](Place& place) {
    const MutableArrayView counts = place.result<U64>(8);
    histogram(device(), place.copy(values), Bins::even(0, 1, 8), counts);
    EXPECT_EQ(place.read<U64>(counts), (std::vector<U64>{2, 1, 0, 0, 0, 0, 0, 3}));
  });
}

struct Average {
  double value;
  double length;
};

TEST(ScanExamples, ExponentialAverageAsAScanOfStates) {
  const double alpha = 0.2;
  const std::vector<double> values = {3, 1, 4, 1, 5, 9, 2, 6};
  const std::vector<double> expected = {.6, .68, 1.344, 1.2752, 2.02016, 3.416128, 3.1329024, 3.70632192};
  std::vector<double> result(8);
  host::inclusive_scan(
      Device::open("cpu"), values.data(), result.data(), 8,
      [=](const Average& a, const Average& b) {
        return Average{a.value * std::pow(1 - alpha, b.length) + b.value, a.length + b.length};
      },
      Average{0, 0},
      [=](double x, std::int64_t) {
        return Average{alpha * x, 1};
      },
      [](const Average& average) { return average.value; });
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(result[i], expected[i], 1e-14) << i;
}

TEST(ScanExamples, FactorialsAsAProductScan) {
  std::vector<U64> values;
  std::vector<U64> factorials = {1};
  for (U64 i = 1; i <= 20; ++i) values.push_back(i);
  for (U64 i = 2; i <= 20; ++i) factorials.push_back(factorials.back() * i);
  ASSERT_EQ(factorials.back(), 2432902008176640000U);
  in_every_place([&](Place& place) {
    const MutableArrayView result = place.result<U64>(20);
    inclusive_scan(device(), place.copy(values), result, Operator::product);
    EXPECT_EQ(place.read<U64>(result), factorials);
  });
}

TEST(ScanExamples, CountingSort) {
  const std::vector<U8> keys = {2, 5, 3, 0, 2, 3, 0, 3};
  const std::vector<U32> values = {0, 1, 2, 3, 4, 5, 6, 7};
  in_every_place([&](Place& place) {
    const MutableArrayView sorted = place.result<U8>(8);
    const MutableArrayView moved = place.result<U32>(8);
    counting_sort_pairs(device(), place.copy(keys), place.copy(values), 6, sorted, moved);
    EXPECT_EQ(place.read<U8>(sorted), (std::vector<U8>{0, 0, 2, 2, 3, 3, 3, 5}));
    EXPECT_EQ(place.read<U32>(moved), (std::vector<U32>{3, 6, 0, 4, 2, 5, 7, 1}));
  });
}

/// Sums rows by a segmented scan and columns by a scan of the transposed table, from the lower left corner.
TEST(ScanExamples, SummedAreaTableByScans) {
  const std::vector<U32> rows = {1, 1, 0, 2, 1, 2, 1, 0, 0, 1, 2, 0, 2, 1, 0, 0};  // lowest row first
  const std::vector<U8> heads = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  const auto transposed = [](const std::vector<U32>& table) {
    std::vector<U32> result(16);
    for (std::size_t i = 0; i < 16; ++i) result[i % 4 * 4 + i / 4] = table[i];
    return result;
  };
  in_every_place([&](Place& place) {
    const Segments lines = Segments::by_flags(place.copy(heads));
    const MutableArrayView sums = place.result<U32>(16);
    segmented_inclusive_scan(device(), place.copy(rows), lines, sums);
    const MutableArrayView columns = place.copy(transposed(place.read<U32>(sums)));
    segmented_inclusive_scan(device(), columns, lines, columns);
    EXPECT_EQ(transposed(place.read<U32>(columns)),
              (std::vector<U32>{1, 2, 2, 4, 2, 5, 6, 8, 2, 6, 9, 11, 4, 9, 12, 14}));
  });
}

}  // namespace
}  // namespace satin::test
