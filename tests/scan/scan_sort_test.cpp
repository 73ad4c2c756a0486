// Sorts and percentiles against std::stable_sort.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/oracles/expect_error.h"
#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

const Device& device() { return device_under_test(); }
constexpr float inf = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

/// Orders all NaN after all numbers, which compare as in C++: -0 equals +0.
template <class T>
bool comes_before(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

template <class T>
struct Ordered {
  std::vector<T> keys;
  std::vector<std::uint64_t> from;  ///< original position of each key

  explicit Ordered(const std::vector<T>& unordered) : from(unordered.size()) {
    std::iota(from.begin(), from.end(), 0U);
    std::stable_sort(from.begin(), from.end(), [&](std::uint64_t a, std::uint64_t b) {
      return comes_before(unordered[a], unordered[b]);
    });
    for (const std::uint64_t i : from) keys.push_back(unordered[i]);
  }
};

template <class T>
struct Named {
  const char* name;
  std::vector<T> keys;
};

template <class T>
std::vector<Named<T>> key_lists(std::int64_t n) {
  std::vector<T> random = random_values<T>(n, 1);
  if constexpr (std::floating_point<T>) {
    Random noise(2);
    for (T& key : random) key = static_cast<T>(std::ldexp(key, static_cast<int>(noise.below(200)) - 100));
  }
  std::vector<T> sorted = random;
  std::sort(sorted.begin(), sorted.end());
  std::vector<T> top = few_values<T>(n, 3, 4);
  for (T& key : top) key = static_cast<T>(key * static_cast<T>(100));  // other digits are constant
  return {{"random", random},
          {"sorted", sorted},
          {"reversed", std::vector<T>(sorted.rbegin(), sorted.rend())},
          {"all equal", std::vector<T>(static_cast<std::size_t>(n), T{7})},
          {"few distinct", few_values<T>(n, 3, 3)},
          {"few distinct in one digit", top}};
}

/// Sorts keys alone, and with values of every size that hold the original positions.
template <class T>
void check_radix_sort(const std::vector<T>& keys, const std::string& where) {
  const auto n = static_cast<std::int64_t>(keys.size());
  const Ordered<T> expected(keys);
  in_every_place([&](Place& place) {
    const ArrayView from = place.copy(keys);
    const MutableArrayView to = place.result<T>(n);
    radix_sort(device(), from, to);
    ASSERT_EQ(first_difference(place.read<T>(to), expected.keys), "") << where << ", " << place.name();
    const auto with_values = [&]<class V>(V) {
      std::vector<V> values(keys.size());
      std::vector<V> moved;
      std::iota(values.begin(), values.end(), V{0});
      for (const std::uint64_t i : expected.from) moved.push_back(values[i]);
      const MutableArrayView sorted = place.result<T>(n);
      const MutableArrayView sorted_values = place.result<V>(n);
      radix_sort_pairs(device(), from, place.copy(values), sorted, sorted_values);
      ASSERT_EQ(first_difference(place.read<T>(sorted), expected.keys), "") << where;
      ASSERT_EQ(first_difference(place.read<V>(sorted_values), moved), "")
          << where << ", values " << name_of(type_of<V>()) << ", " << place.name();
    };
    with_values(std::uint8_t{});
    with_values(std::uint16_t{});
    with_values(std::uint32_t{});
    with_values(double{});
  });
}

template <class Test>
void for_every_key_type(const Test& test) {
  test.template operator()<std::uint8_t>();
  test.template operator()<std::uint16_t>();
  test.template operator()<std::uint32_t>();
  test.template operator()<std::uint64_t>();
  test.template operator()<std::int32_t>();
  test.template operator()<float>();
}

TEST(RadixSort, EveryTypeAndOrderOfKeys) {
  for_every_key_type([]<class T>() {
    for (const Named<T>& list : key_lists<T>(slow_build() ? 20011 : 70001))
      check_radix_sort(list.keys, std::string(name_of(type_of<T>())) + ", " + list.name);
  });
}

TEST(RadixSort, EverySize) {
  for (const std::int64_t n : sizes()) {
    check_radix_sort(random_values<std::uint32_t>(n, 5), std::to_string(n) + " random u32");
    check_radix_sort(random_values<float>(n, 6), std::to_string(n) + " random f32");
  }
}

TEST(RadixSort, ZerosAreEqualAndNanComesLast) {
  std::vector<float> keys;
  Random random(7);
  const std::vector<float> special = {0.0F, -0.0F, inf, -inf, nan, -nan, 1.0F, -1.0F, 1e-45F, -1e-45F, 3e38F};
  for (int i = 0; i < 40000; ++i) keys.push_back(random.pick(special));
  check_radix_sort(keys, "special floats");
  check_radix_sort(std::vector<float>{-0.0F, 0.0F, -0.0F}, "zeros alone");
}

TEST(RadixSort, NanComesOutQuietAndWithoutPayload) {
  for (const std::vector<std::uint32_t>& bits :
       {std::vector<std::uint32_t>{0xFFC00001U, 0x7F800001U, 0x3F800000U, 0xFFFFFFFFU},
        std::vector<std::uint32_t>{0xFFC00001U, 0xFFC00001U}, std::vector<std::uint32_t>{0x7FFFFFFFU}})
    in_every_place([&](Place& place) {
      ArrayView from = place.copy(bits);
      MutableArrayView to = place.result<std::uint32_t>(from.size);
      from.type = Type::f32;
      to.type = Type::f32;
      radix_sort(device(), from, to);
      to.type = Type::u32;
      const std::vector<std::uint32_t> found = place.read<std::uint32_t>(to);
      for (std::size_t i = bits.size() == 4 ? 1 : 0; i < found.size(); ++i) EXPECT_EQ(found[i], 0x7FC00000U);
      if (bits.size() == 4) {
        EXPECT_EQ(found[0], 0x3F800000U);
      }
    });
}

TEST(CountingSort, EveryTypeAndRange) {
  const auto check = [](auto keys, std::int64_t range) {
    using T = typename decltype(keys)::value_type;
    const auto n = static_cast<std::int64_t>(keys.size());
    const Ordered<T> expected(keys);
    const std::vector<std::uint32_t> moved(expected.from.begin(), expected.from.end());
    std::vector<std::uint32_t> values(keys.size());
    std::iota(values.begin(), values.end(), 0U);
    in_every_place([&](Place& place) {
      const ArrayView from = place.copy(keys);
      const MutableArrayView to = place.result<T>(n);
      counting_sort(device(), from, range, to);
      ASSERT_EQ(first_difference(place.read<T>(to), expected.keys), "") << n << " below " << range;
      const MutableArrayView sorted = place.result<T>(n);
      const MutableArrayView sorted_values = place.result<std::uint32_t>(n);
      counting_sort_pairs(device(), from, place.copy(values), range, sorted, sorted_values);
      ASSERT_EQ(first_difference(place.read<T>(sorted), expected.keys), "") << n << " below " << range;
      ASSERT_EQ(first_difference(place.read<std::uint32_t>(sorted_values), moved), "")
          << n << " below " << range;
    });
  };
  for (const std::int64_t n : sizes()) {
    check(few_values<std::uint8_t>(n, 256, 8), 256);
    check(few_values<std::uint16_t>(n, 65536, 9), 65536);
    check(few_values<std::uint32_t>(n, 1000, 10), 1000);
    check(few_values<std::uint32_t>(n, 3, 10), 65536);
    check(few_values<std::uint8_t>(n, 1, 10), 1);
  }
}

TEST(CountingSort, AKeyOutsideTheRangeIsRefused) {
  for (const std::size_t at : {0U, 33333U, 70000U}) {
    auto keys = few_values<std::uint32_t>(70001, 100, 11);
    for (const std::uint32_t key : {100U, 65536U, UINT32_MAX}) {
      keys[at] = key;
      in_every_place([&](Place& place) {
        const MutableArrayView to = place.result<std::uint32_t>(70001);
        const MutableArrayView moved = place.result<std::uint32_t>(70001);
        expect_error(ErrorKind::input, "not below the range, 100", [&] {
          counting_sort(device(), place.copy(keys), 100, to);
          return 0;
        });
        expect_error(ErrorKind::input, "not below the range, 100", [&] {
          counting_sort_pairs(device(), place.copy(keys), place.copy(keys), 100, to, moved);
          return 0;
        });
        static_cast<void>(place.read<std::uint32_t>(to));
        static_cast<void>(place.read<std::uint32_t>(moved));
      });
    }
  }
}

TEST(Percentile, EveryType) {
  const std::vector<double> percents = {0, 100, 50, 25, 99.9, 1e-3, 33.3};
  for_every_key_type([&]<class T>() {
    for (const std::int64_t n : {1, 2, 33, 1025}) {
      const std::vector<T> values = random_values<T>(n, 12);
      std::vector<T> sorted = values;
      std::sort(sorted.begin(), sorted.end());
      in_every_place([&](Place& place) {
        const std::vector<double> found = percentiles(device(), place.copy(values), percents);
        for (std::size_t i = 0; i < percents.size(); ++i) {
          const long double position =
              static_cast<long double>(percents[i]) / 100 * static_cast<long double>(n - 1);
          const auto below = static_cast<std::size_t>(position);
          const auto low = static_cast<long double>(sorted[below]);
          const auto high = static_cast<long double>(sorted[std::min(below + 1, sorted.size() - 1)]);
          const long double expected = low + (high - low) * (position - static_cast<long double>(below));
          EXPECT_NEAR(found[i], static_cast<double>(expected),
                      1e-9 * (1 + std::fabs(static_cast<double>(high - low))) +
                          1e-12 * std::fabs(static_cast<double>(expected)))
              << name_of(type_of<T>()) << ", " << n << " values, " << percents[i] << " %";
        }
      });
    }
  });
}

TEST(Percentile, Median) {
  const std::vector<std::uint8_t> odd = {9, 1, 5};
  const std::vector<float> even = {4, 1, 3, 2};
  EXPECT_EQ(median(device(), odd), 5);
  EXPECT_EQ(median(device(), even), 2.5);
}

TEST(Percentile, NanAndNothing) {
  const std::vector<float> with_nan = {1, nan, 3};
  const std::vector<float> none;
  const std::vector<float> infinite = {-inf, 1, inf, inf};
  EXPECT_TRUE(std::isnan(percentile(device(), with_nan, 0)));
  EXPECT_TRUE(std::isnan(median(device(), none)));
  EXPECT_EQ(percentile(device(), infinite, 100), static_cast<double>(inf));
  EXPECT_EQ(percentile(device(), infinite, 90), static_cast<double>(inf));
  EXPECT_EQ(percentile(device(), infinite, 0), -static_cast<double>(inf));
}

}  // namespace
}  // namespace satin::test
