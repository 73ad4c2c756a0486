#pragma once
// Predicates and bins as intervals of keys.

#include "kernels/scan/interval.h"
#include "scan/scan.h"

namespace satin::cuda {

/// The values of one type for which a predicate holds.
[[nodiscard]] kernels::Interval interval_of(Type type, const Predicate& predicate);
/// The values of one type that a bin holds.
[[nodiscard]] kernels::Interval interval_of(Type type, const InBin& in_bin);

}  // namespace satin::cuda
