#pragma once
// Fixtures of the tests of satin/scan.h: arrays in every memory that the device under test can use, values,
// and loops over types and operators.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "satin/scan.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/pictures.h"

namespace satin::test {

/// Arrays in one memory, between guard bytes. Results are poisoned.
class Place {
 public:
  explicit Place(Device owner) : owner_(std::move(owner)) {}

  template <class T>
  MutableArrayView copy(const std::vector<T>& values) {
    return copy_bytes(values.data(), static_cast<std::int64_t>(values.size()), type_of<T>());
  }
  template <class T>
  MutableArrayView result(std::int64_t size) {
    return copy_bytes(nullptr, size, type_of<T>());
  }
  /// Returns the values, and fails the test if a guard byte has changed.
  template <class T>
  std::vector<T> read(const ArrayView& view) {
    std::vector<T> values(static_cast<std::size_t>(view.size));
    read_bytes(view, values.data());
    return values;
  }

  [[nodiscard]] const char* name() const { return owner_.is_cuda() ? "device memory" : "host memory"; }

 private:
  struct Guarded {
    Array bytes;
    const std::byte* data;
  };
  MutableArrayView copy_bytes(const void* values, std::int64_t size, Type type);
  void read_bytes(const ArrayView& view, void* values);

  Device owner_;
  std::vector<Guarded> arrays_;
};

/// Calls test(place) for host memory, and for device memory if the device under test has memory of its own.
template <class Test>
void in_every_place(const Test& test) {
  const Device cpu = Device::open("cpu");
  const Device& device = device_under_test();
  Place host(cpu);
  test(host);
  if (!device.is_cuda()) return;
  Place own(device);
  test(own);
}

/// Sizes: 0, 1, around a vector, a warp and a block, and many chunks.
inline std::vector<std::int64_t> sizes() {
  if (slow_build()) return {0, 1, 31, 33, 1025, 70001};
  return {0, 1, 31, 32, 33, 1023, 1025, (1 << 20) - 1, (1 << 20) + 1};
}

/// Returns random values of the whole range of an integer type; floats are integers from -8 to 7, whose sums
/// are exact.
template <class T>
std::vector<T> random_values(std::int64_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& value : values) {
    if constexpr (std::floating_point<T>)
      value = static_cast<T>(random.between(-8, 7));
    else
      value = static_cast<T>(random.next() >> 7);
  }
  return values;
}

/// Returns random values below `count`.
template <class T>
std::vector<T> few_values(std::int64_t size, std::uint64_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& value : values) value = static_cast<T>(random.below(count));
  return values;
}

/// Returns "" or the first element that differs. Floats are equal if their bits are, or if both are NaN.
template <class T>
std::string first_difference(const std::vector<T>& found, const std::vector<T>& expected) {
  if (found.size() != expected.size())
    return std::to_string(found.size()) + " values, expected " + std::to_string(expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    bool equal = found[i] == expected[i];
    if constexpr (std::floating_point<T>)
      equal = (found[i] == expected[i] && std::signbit(found[i]) == std::signbit(expected[i])) ||
              (std::isnan(found[i]) && std::isnan(expected[i]));
    if (!equal)
      return "value " + std::to_string(i) + " is " + std::to_string(found[i]) + ", expected " +
             std::to_string(expected[i]);
  }
  return {};
}

/// Applies the operator to two numbers, modulo 2^bits for integers.
template <class T>
T combined(Operator op, T a, T b) {
  if (op == Operator::min) return b < a ? b : a;
  if (op == Operator::max) return a < b ? b : a;
  if constexpr (std::floating_point<T>) {
    return op == Operator::sum ? a + b : a * b;
  } else {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    return static_cast<T>(op == Operator::sum ? x + y : x * y);
  }
}

template <class T>
T identity_of(Operator op) {
  using Limits = std::numeric_limits<T>;
  if (op == Operator::sum) return T{0};
  if (op == Operator::product) return T{1};
  if constexpr (std::floating_point<T>) return op == Operator::min ? Limits::infinity() : -Limits::infinity();
  return op == Operator::min ? Limits::max() : Limits::lowest();
}

constexpr Operator every_operator[] = {Operator::sum, Operator::product, Operator::min, Operator::max};

/// Calls test.template operator()<T>() for every type of an array.
template <class Test>
void for_every_type(const Test& test) {
  test.template operator()<std::uint8_t>();
  test.template operator()<std::uint16_t>();
  test.template operator()<std::uint32_t>();
  test.template operator()<std::uint64_t>();
  test.template operator()<std::int32_t>();
  test.template operator()<float>();
  test.template operator()<double>();
}

/// Calls test.template operator()<In, Out>() for every pair of types where In can be summed as Out.
template <class Test>
void for_every_wider_pair(const Test& test) {
  test.template operator()<std::uint8_t, std::uint32_t>();
  test.template operator()<std::uint8_t, std::uint64_t>();
  test.template operator()<std::uint16_t, std::uint32_t>();
  test.template operator()<std::uint16_t, std::uint64_t>();
  test.template operator()<std::uint32_t, std::uint64_t>();
  test.template operator()<float, double>();
}

/// Calls test.template operator()<In, Out>(op) for every combination that reduce() and the scans accept.
template <class Test>
void for_every_sum(const Test& test) {
  for (const Operator op : every_operator) {
    for_every_type([&]<class T>() { test.template operator()<T, T>(op); });
    if (op == Operator::sum || op == Operator::product)
      for_every_wider_pair([&]<class In, class Out>() { test.template operator()<In, Out>(op); });
  }
}

}  // namespace satin::test
