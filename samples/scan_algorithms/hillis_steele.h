#pragma once
// Hillis and Steele, Data parallel algorithms, 1986: the fewest steps.

#include <utility>

#include "machine.h"

namespace study {

/// Inclusive scan of x. Every element adds the one `reach` to its left, and the reach doubles: after a step,
/// an element is the sum of the last 2 reach inputs. Two arrays take turns, because an element must not be
/// overwritten while its neighbour on the right reads it. Returns the array with the result.
/// With d = ceil(log2 n): n d - 2^d + 1 additions, depth d.
template <class Machine, class Memory, class Op>
Memory hillis_steele(Machine& m, Memory x, Memory y, Index n, Op op) {
  const auto plus = m.operation(op);
  for (Index reach = 1; reach < n; reach *= 2) {
    m.together(n, [&](Index i) {
      if (i < reach)
        y[i] = x[i];
      else
        y[i] = plus(x[i - reach], x[i]);
    });
    std::swap(x, y);
    m.show("reach ", reach, x, n);
  }
  return x;
}

}  // namespace study
