#pragma once
// The operators of the scans with their identities, for host and device.
//
// Integers wrap around. Minimum and Maximum give the same bytes for every order and grouping: -0 is below +0,
// and read() replaces a NaN by the identity. A scan passes every value through read() once, starts with the
// identity and combines.

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/maths/hd.h"
#include "satin/scan.h"

namespace satin {

/// Whether values of type In can be summed as Out.
template <class In, class Out>
inline constexpr bool sums_into = std::is_same_v<In, Out> ||
                                  (std::is_unsigned_v<In> && std::is_unsigned_v<Out> &&
                                   sizeof(In) < sizeof(Out) && sizeof(Out) >= 4) ||
                                  (std::is_same_v<In, float> && std::is_same_v<Out, double>);

/// Unsigned type in which T is added and multiplied, so that overflow is defined.
template <class T>
using WrappingWord = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
struct Sum {
  using Value = T;
  static constexpr T identity = 0;
  template <class In>
  SATIN_HD static T read(In value) {
    return static_cast<T>(value);
  }
  SATIN_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<WrappingWord<T>>(a) + static_cast<WrappingWord<T>>(b));
  }
};

template <class T>
struct Product {
  using Value = T;
  static constexpr T identity = 1;
  template <class In>
  SATIN_HD static T read(In value) {
    return static_cast<T>(value);
  }
  SATIN_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<WrappingWord<T>>(a) * static_cast<WrappingWord<T>>(b));
  }
};

/// Whether a is below b, with -0 below +0. Neither is NaN.
template <class T>
SATIN_HD bool below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Word = WrappingWord<T>;
    Word bits = 0;
    std::memcpy(&bits, &a, sizeof bits);
    return a < b || (a == b && bits == Word{1} << (sizeof(T) * 8 - 1));
  } else {
    return a < b;
  }
}

template <class T>
SATIN_HD bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  return false;
}

template <class T>
struct Minimum {
  using Value = T;
  static constexpr T identity =
      std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  SATIN_HD static T read(T value) { return is_nan(value) ? identity : value; }
  SATIN_HD T operator()(T a, T b) const { return below(b, a) ? b : a; }
};

template <class T>
struct Maximum {
  using Value = T;
  static constexpr T identity =
      std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  SATIN_HD static T read(T value) { return is_nan(value) ? identity : value; }
  SATIN_HD T operator()(T a, T b) const { return below(a, b) ? b : a; }
};

template <class T>
SATIN_HD T identity_of(Operator op) {
  return op == Operator::sum       ? T{Sum<T>::identity}
         : op == Operator::product ? T{Product<T>::identity}
         : op == Operator::min     ? T{Minimum<T>::identity}
                                   : T{Maximum<T>::identity};
}

}  // namespace satin
