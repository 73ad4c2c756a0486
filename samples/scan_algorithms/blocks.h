#pragma once
// Scan, then propagate, for arrays larger than a block of threads (Harris, Sengupta and Owens, Parallel
// prefix sum (scan) with CUDA, 2007).

#include <vector>

#include "blelloch.h"
#include "hillis_steele.h"

namespace study {

/// Exclusive scan of the elements of one block on the chip, a power of two. Returns the sum of all.
struct BlellochInBlock {
  template <class Machine, class Value, class Op>
  Value operator()(Machine& m, std::vector<Value>& chip, Op op) const {
    return blelloch(m, chip.data(), std::ssize(chip), op);
  }
};

struct HillisSteeleInBlock {
  template <class Machine, class Value, class Op>
  Value operator()(Machine& m, std::vector<Value>& chip, Op op) const {
    std::vector<Value> spare(chip.size());
    if (hillis_steele(m, chip.data(), spare.data(), std::ssize(chip), op) == spare.data()) chip.swap(spare);
    const Value all = chip.back();
    std::shift_right(chip.begin(), chip.end(), 1);
    chip.front() = Op::identity();
    return all;
  }
};

/// Exclusive scan of x into y, which may be x. Scans blocks on the chip, then their sums by the same
/// function, and adds to each block the sum of all before it. Reads and writes everything twice.
template <class Machine, class In, class Out, class Op, class InBlock>
void scan_blocks(Machine& m, In x, Out y, Index n, Index block, Op op, InBlock scan_block) {
  using Value = ValueOf<Op>;
  const Index blocks = (n + block - 1) / block;
  std::vector<Value> sum_values(static_cast<std::size_t>(blocks));
  const auto sums = m.memory(std::span(sum_values));
  const auto plus = m.operation(op);

  m.together(blocks, [&](Index b) {
    const Index first = b * block;
    const Index count = std::min(block, n - first);
    std::vector<Value> chip(static_cast<std::size_t>(block), Op::identity());
    m.together(count, [&](Index i) { chip[static_cast<std::size_t>(i)] = x[first + i]; });
    const Value sum = scan_block(m, chip, op);
    m.together(count, [&](Index i) { y[first + i] = chip[static_cast<std::size_t>(i)]; });
    if (blocks > 1) sums[b] = sum;
  });
  m.show("blocks of ", block, y, n);
  if (blocks == 1) return;
  m.show("their sums", -1, sums, blocks);

  scan_blocks(m, sums, sums, blocks, block, op, scan_block);
  m.together(n - block, [&](Index i) { y[block + i] = plus(sums[(block + i) / block], y[block + i]); });
  m.show("add", -1, y, n);
}

}  // namespace study
