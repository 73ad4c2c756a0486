// reduce(), mean() and the scans against loops and the standard library.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "tests/scan/scan_case.h"

namespace satin::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const float not_a_number = std::nanf("");

const Device& device() { return device_under_test(); }

/// Returns integers whose products and sums are exact in floats.
template <class In>
std::vector<In> exact_values(Operator op, std::int64_t n, std::uint64_t seed) {
  std::vector<In> values = random_values<In>(n, seed);
  if constexpr (std::floating_point<In>) {
    if (op == Operator::product)
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<In>(i % 7 == 3 ? 2 : i % 7 == 5 ? 0.5 : values[i] < 0 ? -1 : 1);
  } else if (op == Operator::product) {
    for (In& value : values) value = static_cast<In>(value | 1);  // or all would soon be 0
  }
  return values;
}

template <class In, class Out>
std::vector<Out> expected_scan(const std::vector<In>& values, Operator op, std::optional<Out> initial,
                               bool exclusive) {
  std::vector<Out> result;
  Out running = initial.value_or(identity_of<Out>(op));
  for (const In value : values) {
    const Out next = combined(op, running, static_cast<Out>(value));
    result.push_back(exclusive ? running : next);
    running = next;
  }
  return result;
}

TEST(Reduce, EveryTypeAndOperatorAtEverySize) {
  for_every_sum([]<class In, class Out>(Operator op) {
    for (const std::int64_t n : sizes()) {
      const std::vector<In> values = exact_values<In>(op, n, 11 + static_cast<std::uint64_t>(n));
      const std::vector<Out> all = expected_scan<In, Out>(values, op, std::nullopt, false);
      const Out expected = n == 0 ? identity_of<Out>(op) : all.back();
      in_every_place([&](Place& place) {
        const MutableArrayView result = place.result<Out>(1);
        reduce(device(), place.copy(values), op, result);
        ASSERT_EQ(first_difference(place.read<Out>(result), {expected}), "")
            << name_of(type_of<In>()) << " to " << name_of(type_of<Out>()) << ", operator "
            << static_cast<int>(op) << ", " << n << " values in " << place.name();
      });
    }
  });
}

TEST(Scan, EveryTypeAndOperatorAtEverySize) {
  for_every_sum([]<class In, class Out>(Operator op) {
    for (const std::int64_t n : sizes()) {
      const std::vector<In> values = exact_values<In>(op, n, 5 + static_cast<std::uint64_t>(n));
      const auto inclusive = expected_scan<In, Out>(values, op, std::nullopt, false);
      const auto exclusive = expected_scan<In, Out>(values, op, std::nullopt, true);
      in_every_place([&](Place& place) {
        const ArrayView from = place.copy(values);
        const MutableArrayView to = place.result<Out>(n);
        inclusive_scan(device(), from, to, op);
        ASSERT_EQ(first_difference(place.read<Out>(to), inclusive), "")
            << name_of(type_of<In>()) << " to " << name_of(type_of<Out>()) << ", operator "
            << static_cast<int>(op) << ", " << n << " values in " << place.name();
        exclusive_scan(device(), from, to, op);
        ASSERT_EQ(first_difference(place.read<Out>(to), exclusive), "")
            << "exclusive, " << name_of(type_of<In>()) << " to " << name_of(type_of<Out>()) << ", operator "
            << static_cast<int>(op) << ", " << n << " values in " << place.name();
      });
    }
  });
}

TEST(Scan, AgreesWithTheStandardLibrary) {
  for (const std::int64_t n : sizes()) {
    const auto values = random_values<std::uint32_t>(n, 77);
    std::vector<std::uint32_t> expected(values.size());
    in_every_place([&](Place& place) {
      const ArrayView from = place.copy(values);
      const MutableArrayView to = place.result<std::uint32_t>(n);
      inclusive_scan(device(), from, to);
      std::inclusive_scan(values.begin(), values.end(), expected.begin());
      EXPECT_EQ(first_difference(place.read<std::uint32_t>(to), expected), "") << n;
      exclusive_scan(device(), from, to, Operator::sum, 41);
      std::exclusive_scan(values.begin(), values.end(), expected.begin(), 41U);
      EXPECT_EQ(first_difference(place.read<std::uint32_t>(to), expected), "") << n;
    });
  }
}

TEST(Scan, InPlaceWithAnInitialValue) {
  for_every_type([]<class T>() {
    for (const Operator op : every_operator) {
      for (const bool exclusive : {false, true}) {
        const std::int64_t n = 70001;
        const std::vector<T> values = exact_values<T>(op, n, 21);
        const auto expected = expected_scan<T, T>(values, op, T{3}, exclusive);
        in_every_place([&](Place& place) {
          const MutableArrayView both = place.copy(values);
          if (exclusive)
            exclusive_scan(device(), both, both, op, 3);
          else
            inclusive_scan(device(), both, both, op, 3);
          ASSERT_EQ(first_difference(place.read<T>(both), expected), "")
              << name_of(type_of<T>()) << ", operator " << static_cast<int>(op) << ", exclusive "
              << exclusive;
        });
      }
    }
  });
}

TEST(Scan, InclusiveAndExclusiveBecomeEachOther) {
  for_every_sum([]<class In, class Out>(Operator op) {
    for (const std::int64_t n : {0, 1, 2, 33, 70001}) {
      const std::vector<In> values = exact_values<In>(op, n, 31);
      const auto inclusive = expected_scan<In, Out>(values, op, std::nullopt, false);
      const auto exclusive = expected_scan<In, Out>(values, op, std::nullopt, true);
      in_every_place([&](Place& place) {
        const MutableArrayView to = place.result<Out>(n);
        inclusive_to_exclusive(device(), place.copy(inclusive), to, op);
        ASSERT_EQ(first_difference(place.read<Out>(to), exclusive), "") << n;
        exclusive_to_inclusive(device(), to, place.copy(values), to, op);
        ASSERT_EQ(first_difference(place.read<Out>(to), inclusive), "") << n;
      });
    }
  });
}

TEST(Scan, ConversionKeepsTheInitialValueAndEveryFloat) {
  const std::vector<float> inclusive = {-0.0F, not_a_number, 1.5F, 2.5F};
  in_every_place([&](Place& place) {
    const MutableArrayView to = place.result<float>(4);
    inclusive_to_exclusive(device(), place.copy(inclusive), to, Operator::max, -7);
    EXPECT_EQ(first_difference(place.read<float>(to), {-7.0F, -0.0F, not_a_number, 1.5F}), "");
  });
}

TEST(Scan, ForMinimaAndMaximaNanIsTheIdentity) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> values = {not_a_number, 3, -0.0F, not_a_number, 0.0F, -inf, inf, not_a_number};
  in_every_place([&](Place& place) {
    const MutableArrayView to = place.result<float>(8);
    const ArrayView from = place.copy(values);
    inclusive_scan(device(), from, to, Operator::min);
    EXPECT_EQ(first_difference(place.read<float>(to), {inf, 3, -0.0F, -0.0F, -0.0F, -inf, -inf, -inf}), "");
    inclusive_scan(device(), from, to, Operator::max);
    EXPECT_EQ(first_difference(place.read<float>(to), {-inf, 3, 3, 3, 3, 3, inf, inf}), "");
    inclusive_scan(device(), from.part(2, 3), to.part(0, 3), Operator::max);
    EXPECT_EQ(first_difference(place.read<float>(to.part(0, 3)), {-0.0F, -0.0F, 0.0F}), "");
    exclusive_scan(device(), from, to, Operator::min, std::nan(""));
    EXPECT_EQ(first_difference(place.read<float>(to), {inf, inf, 3, -0.0F, -0.0F, -0.0F, -inf, -inf}), "");
    EXPECT_EQ(reduce<float>(device(), from.part(0, 1), Operator::max), -inf);
  });
  std::vector<double> wide(1000, std::nan(""));
  EXPECT_EQ(reduce<double>(device(), wide, Operator::min), infinity);
  wide[567] = -0.0;
  wide[3] = 0.0;
  EXPECT_TRUE(std::signbit(reduce<double>(device(), wide, Operator::min)));
  EXPECT_FALSE(std::signbit(reduce<double>(device(), wide, Operator::max)));
}

TEST(Scan, FloatsStayNearTheSumInDouble) {
  const std::int64_t n = slow_build() ? 70001 : (1 << 20) + 1;
  Random random(3);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) value = static_cast<float>(random.below(1 << 20)) / (1 << 20);
  std::vector<float> result(values.size());
  inclusive_scan(device(), values, result);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += static_cast<double>(values[i]);
    // a few roundings of this magnitude per chunk, not one per value
    ASSERT_NEAR(static_cast<double>(result[i]), sum, 1e-4 * sum + 1e-6) << i;
  }
  EXPECT_NEAR(static_cast<double>(reduce<float>(device(), values, Operator::sum)), sum, 1e-5 * sum);
  EXPECT_NEAR(reduce<double>(device(), values, Operator::sum), sum, 1e-12 * sum);
}

TEST(Scan, WrapsAround) {
  const std::vector<std::uint8_t> bytes(300, 255);
  EXPECT_EQ(reduce<std::uint8_t>(device(), bytes, Operator::sum), static_cast<std::uint8_t>(300 * 255));
  EXPECT_EQ(reduce<std::uint32_t>(device(), bytes, Operator::sum), 300U * 255U);
  const std::vector<std::int32_t> large = {INT32_MAX, 1, INT32_MAX};
  EXPECT_EQ(reduce<std::int32_t>(device(), large, Operator::sum), -1);
  const std::vector<std::uint16_t> shorts(3, 65535);
  EXPECT_EQ(reduce<std::uint16_t>(device(), shorts, Operator::product), 65535U);
}

TEST(Mean, ServesEveryType) {
  for_every_type([]<class T>() {
    for (const std::int64_t n : sizes()) {
      std::vector<T> values = random_values<T>(n, 8);
      if constexpr (sizeof(T) == 8 && !std::floating_point<T>)
        for (T& value : values) value >>= 24;  // sums stay below 2^64
      long double sum = 0;
      for (const T value : values) sum += static_cast<long double>(value);
      in_every_place([&](Place& place) {
        const double found = mean(device(), place.copy(values));
        if (n == 0)
          EXPECT_TRUE(std::isnan(found));
        else
          EXPECT_DOUBLE_EQ(found, static_cast<double>(sum / static_cast<long double>(n)))
              << name_of(type_of<T>()) << ", " << n;
      });
    }
  });
}

TEST(Mean, SumsSignedValuesInAWiderType) {
  const std::vector<std::int32_t> values(10, INT32_MIN);
  EXPECT_EQ(mean(device(), values), static_cast<double>(INT32_MIN));
  const std::vector<float> floats = {3e38F, 3e38F};
  EXPECT_EQ(mean(device(), floats), static_cast<double>(3e38F));
}

}  // namespace
}  // namespace satin::test
