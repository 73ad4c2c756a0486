// Arrays that begin and end at any offset in a vector of 16 bytes.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

const Device& device() { return device_under_test(); }

/// Calls test(part, values) for views of one array that begin at every offset below 16 bytes.
template <class T, class Test>
void for_every_offset(const std::vector<T>& all, const Test& test) {
  const auto offsets = static_cast<std::int64_t>(16 / sizeof(T)) + 1;
  for (std::int64_t offset = 0; offset < offsets; ++offset)
    for (const std::int64_t size : {std::int64_t{1}, offsets, 2 * offsets + 1, std::int64_t{3001}})
      in_every_place([&](Place& place) {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(offset);
        SCOPED_TRACE(testing::Message() << name_of(type_of<T>()) << ", from " << offset << " on, " << size
                                        << " values, " << place.name());
        test(place, ArrayView(place.copy(all)).part(offset, size),
             std::vector<T>(first, first + static_cast<std::ptrdiff_t>(size)));
      });
}

TEST(Offsets, Reduce) {
  for_every_type([]<class T>() {
    for_every_offset(random_values<T>(3100, 1),
                     [](Place& place, ArrayView part, const std::vector<T>& values) {
                       for (const Operator op : {Operator::sum, Operator::max}) {
                         T expected = identity_of<T>(op);
                         for (const T value : values) expected = combined(op, expected, value);
                         const MutableArrayView result = place.result<T>(1);
                         reduce(device(), part, op, result);
                         ASSERT_EQ(first_difference(place.read<T>(result), {expected}), "");
                       }
                     });
  });
}

TEST(Offsets, Histogram) {
  for_every_type([]<class T>() {
    for_every_offset(few_values<T>(3100, 10, 2),
                     [](Place& place, ArrayView part, const std::vector<T>& values) {
                       for (const std::int64_t bins : {10, 20000}) {
                         std::vector<std::uint32_t> expected(static_cast<std::size_t>(bins));
                         for (const T value : values) ++expected[static_cast<std::size_t>(value)];
                         const MutableArrayView counts = place.result<std::uint32_t>(bins);
                         histogram(device(), part, Bins::even(0, static_cast<double>(bins), bins), counts);
                         ASSERT_EQ(first_difference(place.read<std::uint32_t>(counts), expected), "");
                       }
                     });
  });
}

template <class T>
void check_counting_sort() {
  for_every_offset(few_values<T>(3100, 50, 3), [](Place& place, ArrayView part, std::vector<T> values) {
    const MutableArrayView sorted = place.result<T>(part.size);
    counting_sort(device(), part, 50, sorted);
    std::sort(values.begin(), values.end());
    ASSERT_EQ(first_difference(place.read<T>(sorted), values), "");
  });
}

TEST(Offsets, CountingSort) {
  check_counting_sort<std::uint8_t>();
  check_counting_sort<std::uint16_t>();
  check_counting_sort<std::uint32_t>();
}

}  // namespace
}  // namespace satin::test
