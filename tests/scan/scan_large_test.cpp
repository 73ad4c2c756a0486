// Arrays of more values than 32 bits can count, in device memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

constexpr std::int64_t large = (std::int64_t{1} << 31) + 12345;

/// Returns why the device under test cannot hold `bytes`; empty if it can.
std::string too_small_for(std::int64_t bytes) {
  const Device& device = device_under_test();
  if (!device.is_cuda()) return "for a GPU: the CPU has 64-bit sizes, and tests there are to be quick";
  if (device.info().memory < static_cast<std::size_t>(bytes) + (std::size_t{4} << 30))
    return "needs " + std::to_string(bytes >> 30) + " GiB and some more on " + device.info().id;
  return {};
}

/// An array of u8 with the values i % 251, copied from one block.
Array cycle(const Device& device, std::int64_t size) {
  constexpr std::int64_t block = 251 * 1048576;
  std::vector<std::uint8_t> values(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < std::min(size, block); ++i)
    values[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i % 251);
  for (std::int64_t i = block; i < size; i += block)
    std::copy_n(values.begin(), std::min(block, size - i), values.begin() + i);
  return Array(device, values);
}

/// Returns the sum of the first `count` values.
std::uint64_t cycle_sum(std::int64_t count) {
  const auto rounds = static_cast<std::uint64_t>(count / 251);
  const auto rest = static_cast<std::uint64_t>(count % 251);
  return rounds * (250 * 251 / 2) + (rest == 0 ? 0 : rest * (rest - 1) / 2);
}

template <class T>
T element(const Array& array, std::int64_t index, Stream stream = {}) {
  const Device& device = device_under_test();
  Array one(device, type_of<T>(), 1);
  reduce(device, array.view().part(index, 1), Operator::max, one.view(), stream);
  std::vector<T> value(1);
  one.download(value);
  return value[0];
}

TEST(LargeScan, ReduceAndScan) {
  if (const std::string why = too_small_for(5 * large); !why.empty()) GTEST_SKIP() << why;
  const Device& device = device_under_test();
  const Array values = cycle(device, large);
  EXPECT_EQ(reduce<std::uint64_t>(device, values, Operator::sum), cycle_sum(large));
  Array sums(device, Type::u32, large);
  inclusive_scan(device, values, sums);
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1} << 30, (std::int64_t{1} << 31) - 1,
                               std::int64_t{1} << 31, large - 1})
    EXPECT_EQ(element<std::uint32_t>(sums, i), static_cast<std::uint32_t>(cycle_sum(i + 1))) << i;
}

TEST(LargeScan, CompactAndHistogram) {
  if (const std::string why = too_small_for(2 * large); !why.empty()) GTEST_SKIP() << why;
  const Device& device = device_under_test();
  const Array values = cycle(device, large);
  Array kept(device, Type::u8, large);
  const std::int64_t expected = large - (large + 250) / 251;  // all but the zeros
  ASSERT_EQ(compact(device, values, Predicate{Comparison::greater, 0}, kept), expected);
  for (const std::int64_t i :
       {std::int64_t{0}, std::int64_t{1} << 30, (std::int64_t{1} << 31) - 10000000, expected - 1})
    EXPECT_EQ(element<std::uint8_t>(kept, i), static_cast<std::uint8_t>(i % 250 + 1)) << i;
  std::vector<std::uint64_t> counts(251);
  histogram(device, values, Bins::even(0, 251, 251), counts);
  for (std::int64_t code = 0; code < 251; ++code)
    EXPECT_EQ(counts[static_cast<std::size_t>(code)], static_cast<std::uint64_t>((large - code + 250) / 251));
}

}  // namespace
}  // namespace satin::test
