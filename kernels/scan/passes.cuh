#pragma once
// The passes of CUB share a workspace and an operator that is chosen at run time, so that scans are compiled
// once for each type.

#include <cstdint>
#include <type_traits>

#include "kernels/scan/launch.h"
#include "satin/cuda/fused.cuh"
#include "scan/maths/scan_operator.h"
#include "scan/scan.h"

namespace satin::kernels {

/// Calls pass(workspace) with the memory of `space`, or for its size where there is none.
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
  SATIN_HD T identity() const { return identity_of<T>(op); }
  /// Reads NaN as the identity of min and max.
  template <class In>
  SATIN_HD T read(In value) const {
    if constexpr (std::is_same_v<In, T> && std::is_floating_point_v<T>)
      if (is_nan(value) && (op == Operator::min || op == Operator::max)) return identity();
    return static_cast<T>(value);
  }
  T initial(const ScanRule& rule) const {
    return rule.initial.has_value() ? read(value_of<T>(*rule.initial).value_or(identity())) : identity();
  }
};

template <class In, class T>
struct ReadBy {
  const In* values;
  AnyOperator<T> combine;
  __device__ T operator()(std::int64_t i) const { return combine.read(values[i]); }
};

}  // namespace satin::kernels
