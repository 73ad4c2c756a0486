// Compaction and partition against std::copy_if and std::stable_partition.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

const Device& device() { return device_under_test(); }

constexpr Comparison every_comparison[] = {Comparison::less,    Comparison::less_equal,
                                           Comparison::greater, Comparison::greater_equal,
                                           Comparison::equal,   Comparison::not_equal};

template <class T>
bool holds(T value, Comparison comparison, T number) {
  switch (comparison) {
    case Comparison::less:
      return value < number;
    case Comparison::less_equal:
      return value <= number;
    case Comparison::greater:
      return value > number;
    case Comparison::greater_equal:
      return value >= number;
    case Comparison::equal:
      return value == number;
    case Comparison::not_equal:
      return value != number;
  }
  return false;
}

/// Calls every function with the predicate, and with the equivalent mask.
template <class T>
void check(const std::vector<T>& values, const Predicate& predicate, const std::function<bool(T)>& selected,
           const std::string& where) {
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<T> kept;
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept), selected);
  std::vector<T> split = values;
  std::stable_partition(split.begin(), split.end(), selected);
  std::vector<std::uint64_t> where_kept;
  std::vector<std::uint8_t> mask;
  for (std::size_t i = 0; i < values.size(); ++i) {
    mask.push_back(selected(values[i]) ? static_cast<std::uint8_t>(1 + i % 255) : 0);
    if (mask.back() != 0) where_kept.push_back(i);
  }
  const auto count = static_cast<std::int64_t>(kept.size());
  in_every_place([&](Place& place) {
    const ArrayView from = place.copy(values);
    const ArrayView by = place.copy(mask);
    const MutableArrayView to = place.result<T>(n);
    const auto first_kept = [&] {
      std::vector<T> found = place.read<T>(to);
      found.resize(kept.size());
      return found;
    };
    ASSERT_EQ(compact(device(), from, predicate, to), count) << where;
    ASSERT_EQ(first_difference(first_kept(), kept), "") << where;
    ASSERT_EQ(compact(device(), from, by, to), count) << where;
    ASSERT_EQ(first_difference(first_kept(), kept), "") << where;
    ASSERT_EQ(partition(device(), from, predicate, to), count) << where;
    ASSERT_EQ(first_difference(place.read<T>(to), split), "") << where;
    ASSERT_EQ(partition(device(), from, by, to), count) << where;
    ASSERT_EQ(first_difference(place.read<T>(to), split), "") << where;
    const MutableArrayView narrow = place.result<std::uint32_t>(n);
    ASSERT_EQ(compact_indices(device(), from, predicate, narrow), count) << where;
    std::vector<std::uint32_t> narrow_found = place.read<std::uint32_t>(narrow);
    narrow_found.resize(kept.size());
    ASSERT_TRUE(std::equal(narrow_found.begin(), narrow_found.end(), where_kept.begin())) << where;
    const MutableArrayView wide = place.result<std::uint64_t>(n);
    ASSERT_EQ(compact_indices(device(), by, wide), count) << where;
    std::vector<std::uint64_t> wide_found = place.read<std::uint64_t>(wide);
    wide_found.resize(kept.size());
    ASSERT_EQ(first_difference(wide_found, where_kept), "") << where;
  });
}

template <class T>
void check(const std::vector<T>& values, Comparison comparison, T number) {
  check<T>(
      values, {comparison, number}, [=](T value) { return holds(value, comparison, number); },
      std::string(name_of(type_of<T>())) + ", comparison " + std::to_string(static_cast<int>(comparison)) +
          " with " + std::to_string(number) + ", " + std::to_string(values.size()) + " values");
}

TEST(Select, EveryTypeAndComparison) {
  for_every_type([]<class T>() {
    for (const Comparison comparison : every_comparison)
      check<T>(few_values<T>(slow_build() ? 20011 : 70001, 5, 1), comparison, 2);
  });
}

TEST(Select, EverySize) {
  for (const std::int64_t n : sizes()) {
    check<std::uint32_t>(few_values<std::uint32_t>(n, 2, 2), Comparison::greater, 0);
    check<float>(random_values<float>(n, 3), Comparison::less, 0);
  }
}

TEST(Select, AllAndNone) {
  for (const std::int64_t n : {1, 33, 70001}) {
    check<std::uint16_t>(random_values<std::uint16_t>(n, 4), Comparison::greater_equal, 0);
    check<std::uint16_t>(random_values<std::uint16_t>(n, 4), Comparison::less, 0);
  }
}

TEST(Select, OneAlone) {
  for (const std::size_t at : {0U, 8191U, 8192U, 70000U}) {
    std::vector<std::uint8_t> values(70001, 0);
    values[at] = 200;
    check<std::uint8_t>(values, Comparison::equal, 200);
    check<std::uint8_t>(values, Comparison::not_equal, 200);
  }
}

TEST(Select, NanIsNotEqualToEverything) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {std::nan(""), 0.0, -0.0, inf, -inf, 1, std::nan("")};
  for (const Comparison comparison : every_comparison)
    for (const double number : {0.0, inf, std::nan("")}) check<double>(values, comparison, number);
}

TEST(Select, TheWholeRangeOfTheType) {
  const std::vector<std::uint64_t> wide = {0, 1, UINT64_MAX - 1, UINT64_MAX, std::uint64_t{1} << 63};
  check<std::uint64_t>(wide, Comparison::greater, UINT64_MAX - 1);
  const std::vector<std::int32_t> around_zero = {INT32_MIN, -1, 0, 1, INT32_MAX};
  check<std::int32_t>(around_zero, Comparison::less_equal, -1);
}

}  // namespace
}  // namespace satin::test
