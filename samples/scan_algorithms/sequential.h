#pragma once
// One processor, one running sum: the fewest additions and the longest chain.

#include "machine.h"

namespace study {

/// Computes y[i] = x[0] + ... + x[i]. n - 1 additions, depth n - 1.
template <class Machine, class In, class Out, class Op>
void sequential(Machine& m, In x, Out y, Index n, Op op) {
  const auto plus = m.operation(op);
  m.together(1, [&](Index) {
    ValueOf<Op> sum = Op::identity();
    for (Index i = 0; i < n; ++i) {
      sum = i == 0 ? x[i] : plus(sum, x[i]);
      y[i] = sum;
    }
  });
}

}  // namespace study
