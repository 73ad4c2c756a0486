#pragma once
// The scan family of a backend, behind satin/scan.h. The public functions (scan/scan.cpp) have checked every
// argument: arrays are in the backend's memory, their types and sizes fit, only permitted arrays overlap, and
// there is at least one value.

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/maths/hd.h"
#include "satin/scan.h"

namespace satin {

struct Backend;

/// Calls function.operator()<Word>() with the unsigned integer of the type's size, for values that only move.
template <class Function>
decltype(auto) with_word(Type type, const Function& function) {
  switch (size_of(type)) {
    case 1:
      return function.template operator()<std::uint8_t>();
    case 2:
      return function.template operator()<std::uint16_t>();
    case 4:
      return function.template operator()<std::uint32_t>();
    default:
      return function.template operator()<std::uint64_t>();
  }
}

/// The heads of segments: at flags, or where the group index changes. Loops decide between the two at run
/// time, as an instance for each would double the time to compile.
struct Heads {
  const std::uint8_t* flags;    ///< null: by group
  const std::uint32_t* groups;  ///< null: by flags

  explicit Heads(const Segments& segments)
      : flags(segments.flags ? segments.marks.values<std::uint8_t>() : nullptr),
        groups(segments.flags ? nullptr : segments.marks.values<std::uint32_t>()) {}

  /// Whether a segment begins at value i.
  SATIN_HD bool operator()(std::int64_t i) const {
    return i == 0 || (flags != nullptr ? flags[i] != 0 : groups[i] != groups[i - 1]);
  }
};

/// The number as T: integers exactly, floats rounded to nearest. None if T cannot hold it, or if a finite
/// number would become infinite.
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

template <class T>
[[nodiscard]] std::optional<T> value_of(const Scalar& number) {
  return std::visit([](auto value) { return exactly<T>(value); }, number.value());
}

struct ScanRule {
  Operator op = Operator::sum;
  bool exclusive = false;
  std::optional<Scalar> initial{};  ///< fits the type of the result; the operator's identity if not set
};

/// Selects the values of one bin.
struct InBin {
  const Bins* bins = nullptr;
  std::int64_t bin = 0;
};

/// The values that are selected, and the form in which they are stored. A mask has type u8 and one element
/// for each value. For the indices of a mask, `values` is the mask itself.
struct Selection {
  enum class Keep : std::uint8_t { values, indices, partition };

  ArrayView values;
  std::variant<Predicate, ArrayView, InBin> by;
  Keep keep = Keep::values;
};

/// Keys and the values that move with them. `values` and `sorted_values` are empty for keys alone.
struct SortArrays {
  ArrayView keys;
  ArrayView values;
  MutableArrayView sorted_keys;
  MutableArrayView sorted_values;
};

/// Functions that return a number wait for it; the others are in stream order.
struct ScanOperations {
  void (*reduce)(Backend&, ArrayView values, Operator op, MutableArrayView result, Stream stream);
  double (*mean)(Backend&, ArrayView values, Stream stream);
  void (*scan)(Backend&, ArrayView values, MutableArrayView result, const ScanRule& rule, Stream stream);
  /// result[i] = a[i] op b[i]. `a` has the type of the result, `b` that or a narrower one, as for scan().
  void (*combine)(Backend&, ArrayView a, ArrayView b, MutableArrayView result, Operator op, Stream stream);
  void (*segmented_scan)(Backend&, ArrayView values, const Segments& segments, MutableArrayView result,
                         const ScanRule& rule, Stream stream);
  /// Returns the number of segments marked by flags, any number from 0 on for group indices, and -1 if group
  /// indices decrease or are too large.
  std::int64_t (*segmented_reduce)(Backend&, ArrayView values, const Segments& segments,
                                   MutableArrayView result, Operator op, Stream stream);
  std::int64_t (*select)(Backend&, const Selection& selection, MutableArrayView result, Stream stream);
  void (*histogram)(Backend&, ArrayView values, const Bins& bins, MutableArrayView counts, Stream stream);
  void (*extract_bins)(Backend&, ArrayView values, const Bins& bins, MutableArrayView result,
                       MutableArrayView counts, MutableArrayView indices, Stream stream);
  void (*radix_sort)(Backend&, const SortArrays& arrays, Stream stream);
  /// Returns false if a key is `range` or larger.
  bool (*counting_sort)(Backend&, const SortArrays& arrays, std::int64_t range, Stream stream);
};

}  // namespace satin
