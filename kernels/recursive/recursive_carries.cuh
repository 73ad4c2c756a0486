#pragma once
// Takes carries from block to block of a line (recursive/maths/recursive.h).

#include "kernels/device/warp.cuh"
#include "recursive/maths/recursive.h"

namespace satin::kernels {

/// What the blocks of a line tell each other in shared memory: up to MostBlocks.
template <class Real, int MostBlocks>
struct BlockEnds {
  static constexpr int pitch = MostBlocks + 4;  ///< spreads columns over the banks
  static constexpr int values = 4 * pitch + 1;

  Real* own;

  /// The last result of block k by itself, in the direction of the scan.
  [[nodiscard]] __device__ Real& alone(int k) const { return own[k]; }
  /// The product of its coefficients.
  [[nodiscard]] __device__ Real& product(int k) const { return own[pitch + k]; }
  /// The first value that the scan meets in it; of the line's first block the difference.
  [[nodiscard]] __device__ Real& given(int k) const { return own[2 * pitch + k]; }
  /// The difference c - r that it gets.
  [[nodiscard]] __device__ Real& difference(int k) const { return own[3 * pitch + k]; }
  /// The last result before the first block; becomes that of the last one.
  [[nodiscard]] __device__ Real& carry() const { return own[4 * pitch]; }
};

/// A warp, of which this is one lane, does a line of `count` blocks. `starts`: the first of them is the
/// line's.
///
/// A lane has a few blocks one after the other, and guesses what comes before them: the last block by itself.
/// Lanes repeat this with what the lane before them then found, until none finds anything new: what they have
/// is what one lane would find that takes one block after the other. The guess is wrong by a product of
/// coefficients, so that a few turns are enough for all but very wide kernels.
template <bool backward, class Real, int MostBlocks>
__device__ void pass_carries(const BlockEnds<Real, MostBlocks>& ends, int count, bool starts, int lane) {
  constexpr int lane_blocks = (MostBlocks + warp_size - 1) / warp_size;
  const int first = lane * lane_blocks;
  const int mine = min(lane_blocks, count - first);
  const auto block_at = [&](int i) { return backward ? count - 1 - first - i : first + i; };
  Real before = ends.carry();
  if (lane > 0 && mine > 0) before = ends.alone(block_at(-1));
  Real carry = 0;
  for (int turn = 0; turn < warp_size; ++turn) {
    carry = before;
#pragma unroll
    for (int i = 0; i < lane_blocks; ++i) {
      if (i >= mine) break;
      const int k = block_at(i);
      const Real given = ends.given(k);
      const Real difference = starts && first + i == 0 ? given : carried_difference(carry, given);
      carry = with_carry(ends.alone(k), ends.product(k), difference);
      ends.difference(k) = difference;
    }
    const Real found = __shfl_up_sync(whole_warp, carry, 1);
    const bool news = lane > 0 && mine > 0 && found != before;
    if (news) before = found;
    if (!__any_sync(whole_warp, news)) break;
  }
  if (mine > 0 && first + mine == count) ends.carry() = carry;
}

}  // namespace satin::kernels
