#pragma once
// Scan, then propagate, as ../blocks.h does: scans blocks, then the sums of the blocks by the same kernel.

#include <deque>

#include "block_scan.cuh"
#include "memory.cuh"

namespace study::gpu {

/// y may be x: a block reads its values before it writes them, and none of another block.
template <class InBlock>
__global__ void __launch_bounds__(InBlock::threads)
    scan_each_block(const typename InBlock::Value* x, typename InBlock::Value* y, Index n,
                    typename InBlock::Value* sums, typename InBlock::Operator op) {
  __shared__ InBlock block;
  const Index first = static_cast<Index>(blockIdx.x) * InBlock::values;
  for (int i = static_cast<int>(threadIdx.x); i < InBlock::values; i += InBlock::threads)
    block.put(i, first + i < n ? x[first + i] : InBlock::Operator::identity());
  const auto sum = block.scan(op);
  for (int i = static_cast<int>(threadIdx.x); i < InBlock::values; i += InBlock::threads)
    if (first + i < n) y[first + i] = block.get(i);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Adds to each value the sum of all blocks before its own. The first block needs nothing.
template <class Value, class Op>
__global__ void add_before(Value* y, Index n, const Value* before, Index block, Op op) {
  const Index i = block + static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = op(before[i / block], y[i]);
}

/// Owns the sums of every level.
template <class InBlock>
class ScanBlocks {
 public:
  using Value = typename InBlock::Value;

  explicit ScanBlocks(Index n) {
    do {
      n = blocks_for(n, InBlock::values);
      sums_.emplace_back(n);
    } while (n > 1);
  }

  void run(const Value* x, Value* y, Index n, std::size_t level = 0) {
    constexpr unsigned threads = 256;
    Value* sums = sums_[level].data();
    const unsigned blocks = blocks_for(n, InBlock::values);
    scan_each_block<InBlock><<<blocks, InBlock::threads>>>(x, y, n, sums, typename InBlock::Operator{});
    check_launch();
    if (blocks == 1) return;
    run(sums, sums, blocks, level + 1);
    add_before<<<blocks_for(n - InBlock::values, threads), threads>>>(y, n, sums, Index{InBlock::values},
                                                                      typename InBlock::Operator{});
    check_launch();
  }

 private:
  std::deque<DeviceArray<Value>> sums_;
};

}  // namespace study::gpu
