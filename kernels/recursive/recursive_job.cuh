#pragma once
// How a pass of recursive smoothing is cut, and where its values lie in the shared memory of a block of
// threads.

#include <algorithm>
#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/recursive/launch.h"
#include "kernels/recursive/recursive_block.cuh"
#include "kernels/recursive/squares.cuh"
#include "recursive/maths/recursive.h"

namespace satin::kernels {

// Takes carries from block to block of a line (recursive/maths/recursive.h).

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

/// What a block of threads takes.
template <class Real, Axis axis>
struct LineShape {
  static constexpr bool rows = axis == Axis::x;
  static constexpr int lines = rows ? 1 : 32 / static_cast<int>(sizeof(Real));
  static constexpr int most_blocks = rows ? 128 : 72;  ///< rows of 4096 pixels, columns of 2304
  static constexpr int most_channels = rows ? 3 : 1;   ///< side by side
  static constexpr int most_threads = lines * most_blocks * most_channels;
  /// A multiprocessor holds at least so many blocks, which bounds the registers. H100, UHD RGB u8, floats:
  /// rows of bytes 0.138 ms with 3, 0.178 with 2.
  static constexpr int groups = sizeof(Real) == 4 ? (rows ? 3 : 2) : (rows ? 1 : 2);

  using Ends = BlockEnds<Real, most_blocks>;
};

struct LineMemory {
  int coefficients = 0;
  int staged = 0;
  int products = 0;
  int table = 0;
  int decoded = 0;
  int light = 0;
  int ends = 0;
  int bytes = 0;
  int pitch = 0;  ///< from quad to quad of a block
};

/// What the host knows of a pass.
template <class Real, Axis axis>
struct LineJob {
  using Shape = LineShape<Real, axis>;

  RecursiveScan<Real> scan;
  Squares squares;
  LineMemory memory;
  std::int64_t length;
  int blocks;          ///< of a line
  int blocks_at_once;  ///< of a segment
  int segments;
  int side_by_side;      ///< channels
  int channels_in_turn;  ///< of a block of threads, which keeps their coefficients
  unsigned parts;        ///< blocks of threads for the channels of a line

  explicit LineJob(const RecursiveScan<Real>& pass)
      : scan(pass), squares(pass.width, pass.height), length(Shape::rows ? pass.width : pass.height) {
    constexpr int step = warp_size / Shape::lines;
    blocks = static_cast<int>((length + block_length - 1) / block_length);
    blocks_at_once = std::min(Shape::most_blocks, (blocks + step - 1) / step * step);
    segments = (blocks + blocks_at_once - 1) / blocks_at_once;
    side_by_side = !Shape::rows ? 1 : scan.channels == 4 ? 2 : scan.channels;
    // H100, UHD RGB u8, columns to bytes: 0.115 ms apart, 0.138 one after the other; with a guide 0.154 and
    // 0.185, but 0.135 and 0.123 to planes.
    const bool apart = !scan.guided() || scan.output.data != nullptr;
    channels_in_turn = Shape::rows || apart ? side_by_side : scan.channels;
    parts = static_cast<unsigned>(scan.channels / channels_in_turn);
    place_memory();
  }

  [[nodiscard]] SATIN_HD bool encodes() const {
    return scan.output.data != nullptr && scan.transfer.encode8 != nullptr;
  }

  void place_memory() {
    constexpr int quad_bytes = static_cast<int>(sizeof(Quad<Real>));
    const auto place = [&](int size) {
      const int at = memory.bytes;
      memory.bytes += (size + quad_bytes - 1) / quad_bytes * quad_bytes;
      return at;
    };
    memory.pitch = Shape::rows ? blocks_at_once + 1 : blocks_at_once * Shape::lines;
    const int plane = quads<Real> * memory.pitch * quad_bytes;
    memory.coefficients = place(scan.guided() ? plane : 0);
    memory.staged = place(Shape::rows ? side_by_side * plane : 0);
    memory.products = place(scan.guided() ? 0 : 2 * quads<Real> * quad_bytes);
    memory.table = place(scan.table_size * static_cast<int>(sizeof(Real)));
    memory.decoded =
        place(scan.source.data != nullptr ? ByteLight::codes * static_cast<int>(sizeof(Real)) : 0);
    memory.light = place(encodes() ? ByteLight::bytes : 0);
    const int chains = Shape::rows ? side_by_side : Shape::lines;
    memory.ends = place(chains * Shape::Ends::values * static_cast<int>(sizeof(Real)));
  }
};

}  // namespace satin::kernels
