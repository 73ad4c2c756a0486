#pragma once
// An operator that is chosen at run time, so that the scans by it are compiled once a type.

#include <cstdint>
#include <type_traits>

#include "kernels/scan/launch.h"
#include "satin/cuda/fused.cuh"
#include "scan/maths/scan_operator.h"
#include "scan/scan.h"

namespace satin::kernels {

// The workspace of a scan or selection by CUB.

/// pass(workspace) in the memory of `space`, or, where there is none, for its size.
template <class Pass>
int in_workspace(Space& space, const Pass& pass) {
  gpu::Workspace workspace{space.memory, space.bytes};
  const int status = pass(workspace);
  space.bytes = workspace.bytes;
  return status;
}

template <class T>
struct AnyOperator {
  using Value = T;
  Operator op = Operator::sum;

  SATIN_HD T operator()(T a, T b) const {
    switch (op) {
      case Operator::sum:
        return Sum<T>()(a, b);
      case Operator::product:
        return Product<T>()(a, b);
      case Operator::min:
        return Minimum<T>()(a, b);
      default:
        return Maximum<T>()(a, b);
    }
  }
  SATIN_HD T identity() const {
    switch (op) {
      case Operator::sum:
        return T{Sum<T>::identity};
      case Operator::product:
        return T{Product<T>::identity};
      case Operator::min:
        return T{Minimum<T>::identity};
      default:
        return T{Maximum<T>::identity};
    }
  }
  /// NaN counts as the identity of min and max.
  template <class In>
  SATIN_HD T read(In value) const {
    if constexpr (std::is_same_v<In, T> && std::is_floating_point_v<T>)
      if (is_nan(value) && (op == Operator::min || op == Operator::max)) return identity();
    return static_cast<T>(value);
  }
  /// The value that a scan begins with.
  T initial(const ScanRule& rule) const {
    return rule.initial.has_value() ? read(value_of<T>(*rule.initial).value_or(identity())) : identity();
  }
};

/// Element i as the operator reads it.
template <class In, class T>
struct ReadBy {
  const In* values;
  AnyOperator<T> combine;
  __device__ T operator()(std::int64_t i) const { return combine.read(values[i]); }
};

}  // namespace satin::kernels
