#pragma once
// A Scalar as a number of one type.

#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "satin/scan.h"

namespace satin {

namespace scalar {

template <class T, class From>
std::optional<T> exactly(From value) {
  if constexpr (std::is_floating_point_v<T>) {
    const T nearest = static_cast<T>(value);
    if constexpr (std::is_floating_point_v<From>)
      if (std::isinf(nearest) && !std::isinf(value)) return std::nullopt;
    return nearest;
  } else if constexpr (std::is_floating_point_v<From>) {
    const double limit = std::ldexp(1.0, static_cast<int>(sizeof(T)) * 8 - (std::is_signed_v<T> ? 1 : 0));
    const double lowest = std::is_signed_v<T> ? -limit : 0;
    if (!(value >= lowest && value < limit) || value != std::trunc(value)) return std::nullopt;
    return static_cast<T>(value);
  } else {
    if (!std::in_range<T>(value)) return std::nullopt;
    return static_cast<T>(value);
  }
}

}  // namespace scalar

/// The number as T; none if T cannot hold it: integers exactly, floats rounded to nearest unless a finite
/// number would become infinite.
template <class T>
[[nodiscard]] std::optional<T> value_of(const Scalar& number) {
  return std::visit([](auto value) { return scalar::exactly<T>(value); }, number.value());
}

}  // namespace satin
