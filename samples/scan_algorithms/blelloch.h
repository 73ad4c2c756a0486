#pragma once
// Blelloch, Prefix sums and their applications, 1990; on a GPU: Harris, Sengupta and Owens, 2007. Sums up a
// binary tree, then hands prefixes down again: about twice the additions of one processor.

#include "machine.h"

namespace study {

/// Exclusive scan in place; n is a power of two (pad with the identity). Returns the sum of all elements.
///
/// Up: x[right] becomes the sum of the 2 half elements that end there.
/// Down: the root gets the identity. Every node gives its prefix to its left child, and the prefix plus the
/// left child's sum to its right child. 2 (n - 1) additions, depth 2 log2 n.
template <class Machine, class Memory, class Op>
auto blelloch(Machine& m, Memory x, Index n, Op op) {
  using Value = ValueOf<Op>;
  const auto plus = m.operation(op);
  for (Index half = 1; half < n; half *= 2) {
    m.together(n / (2 * half), [&](Index node) {
      const Index right = (node + 1) * 2 * half - 1;
      x[right] = plus(x[right - half], x[right]);
    });
    m.show("up ", half, x, n);
  }
  const Value all = x[n - 1];
  m.together(1, [&](Index) { x[n - 1] = Op::identity(); });
  m.show("clear", -1, x, n);
  for (Index half = n / 2; half > 0; half /= 2) {
    m.together(n / (2 * half), [&](Index node) {
      const Index right = (node + 1) * 2 * half - 1;
      const Value sum_of_left = x[right - half];
      const Value before = x[right];
      x[right - half] = before;
      x[right] = plus(before, sum_of_left);
    });
    m.show("down ", half, x, n);
  }
  return all;
}

}  // namespace study
