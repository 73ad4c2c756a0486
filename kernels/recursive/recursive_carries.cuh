#pragma once
// Takes carries from block to block of a line (recursive/maths/recursive.h).

#include "kernels/device/warp.cuh"
#include "recursive/maths/recursive.h"

namespace satin::kernels {

/// What the blocks of a line, side by side in shared memory, tell each other.
template <class Real>
struct BlockEnds {
  Real* alone;        ///< the last result of the block by itself, in the direction of the scan
  Real* products;     ///< of its coefficients
  Real* given;        ///< the block's first value, or the difference of the line's first block
  Real* differences;  ///< c - r that the block gets
  Real* carry;        ///< the last result of the block before the first one; becomes that of the last one
};

/// A warp does a line of `count` blocks, up to 32 * LaneBlocks. `starts`: the first block is the line's, and
/// has its difference already.
///
/// A lane has LaneBlocks blocks one after the other, and guesses what comes before them: the last block by
/// itself. Lanes repeat this with what the lane before them then found, until none finds anything new: what
/// they have is what one lane would find that takes one block after the other. The guess is wrong by a
/// product of coefficients, so that a few turns are enough for all but very wide kernels.
template <bool backward, int LaneBlocks, class Real>
__device__ void pass_carries(const BlockEnds<Real>& ends, int count, bool starts) {
  Real alone[LaneBlocks];
  Real products[LaneBlocks];
  Real given[LaneBlocks];
  const int lane = lane_index();
  const int mine = lane * LaneBlocks;
  const auto block_at = [&](int i) { return backward ? count - 1 - mine - i : mine + i; };
#pragma unroll
  for (int i = 0; i < LaneBlocks; ++i) {
    const bool exists = mine + i < count;
    alone[i] = exists ? ends.alone[block_at(i)] : Real{0};
    products[i] = exists ? ends.products[block_at(i)] : Real{0};
    given[i] = exists ? ends.given[block_at(i)] : Real{0};
  }
  Real before = __shfl_up_sync(whole_warp, alone[LaneBlocks - 1], 1);
  if (lane == 0) before = *ends.carry;
  Real carry = 0;
  for (int turn = 0; turn < warp_size; ++turn) {
    carry = before;
#pragma unroll
    for (int i = 0; i < LaneBlocks; ++i) {
      if (mine + i >= count) break;
      const Real difference = starts && mine + i == 0 ? given[i] : carried_difference(carry, given[i]);
      carry = with_carry(alone[i], products[i], difference);
      ends.differences[block_at(i)] = difference;
    }
    const Real found = __shfl_up_sync(whole_warp, carry, 1);
    const bool news = lane > 0 && mine < count && found != before;
    if (news) before = found;
    if (!__any_sync(whole_warp, news)) break;
  }
  if (mine < count && mine + LaneBlocks >= count) *ends.carry = carry;
}

}  // namespace satin::kernels
