#pragma once
// The scan family of a backend, behind satin/scan.h, which has checked everything: arrays are in the
// backend's memory, their types and sizes fit, nothing overlaps that must not, and there is at least one
// value.

#include <cstdint>
#include <optional>
#include <variant>

#include "satin/scan.h"

namespace satin {

struct Backend;

struct ScanRule {
  Operator op = Operator::sum;
  bool exclusive = false;
  std::optional<Scalar> initial{};  ///< of the result's type; the identity if there is none
};

/// The values of one bin.
struct InBin {
  const Bins* bins = nullptr;
  std::int64_t bin = 0;
};

/// Which values are selected, and what becomes of them. A mask is u8, one per value. Where indices of a mask
/// are asked for, `values` is the mask.
struct Selection {
  enum class Keep : std::uint8_t { values, indices, partition };
  ArrayView values;
  std::variant<Predicate, ArrayView, InBin> by;
  Keep keep = Keep::values;
};

/// Keys, and what goes with them, if it is not empty.
struct SortArrays {
  ArrayView keys;
  ArrayView values;
  MutableArrayView sorted_keys;
  MutableArrayView sorted_values;
};

/// Functions that return a number wait for it; the others are in stream order.
struct ScanOperations {
  void (*reduce)(Backend&, ArrayView values, Operator op, MutableArrayView result, Stream stream);
  /// The mean in double, whatever the type; see mean().
  double (*mean)(Backend&, ArrayView values, Stream stream);
  void (*scan)(Backend&, ArrayView values, MutableArrayView result, const ScanRule& rule, Stream stream);
  /// result[i] = a[i] op b[i]. `a` has the type of the result, `b` that or a narrower one, as scan() takes.
  void (*combine)(Backend&, ArrayView a, ArrayView b, MutableArrayView result, Operator op, Stream stream);
  void (*segmented_scan)(Backend&, ArrayView values, const Segments& segments, MutableArrayView result,
                         const ScanRule& rule, Stream stream);
  /// The number of segments, by group any number from 0 on; -1 if group indices decrease or are too large.
  std::int64_t (*segmented_reduce)(Backend&, ArrayView values, const Segments& segments,
                                   MutableArrayView result, Operator op, Stream stream);
  std::int64_t (*select)(Backend&, const Selection& selection, MutableArrayView result, Stream stream);
  void (*histogram)(Backend&, ArrayView values, const Bins& bins, MutableArrayView counts, Stream stream);
  void (*extract_bins)(Backend&, ArrayView values, const Bins& bins, MutableArrayView result,
                       MutableArrayView counts, MutableArrayView indices, Stream stream);
  void (*radix_sort)(Backend&, const SortArrays& arrays, Stream stream);
  /// False if there is a key from `range` on.
  bool (*counting_sort)(Backend&, const SortArrays& arrays, std::int64_t range, Stream stream);
};

}  // namespace satin
