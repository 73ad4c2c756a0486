#pragma once
// How a pass of recursive smoothing is cut, and where its values lie in the shared memory of a block of
// threads.

#include <algorithm>
#include <cstdint>

#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/recursive/launch.h"
#include "kernels/recursive/squares.cuh"
#include "recursive/maths/recursive.h"

namespace satin::kernels {

// A block of 32 pixels of a line in the registers of one thread (recursive/maths/recursive.h): what is left
// of it at its end by itself, and its results once the difference before it is known.
//
// `coefficients(i)` are those between pixel i of the block and the one before it, for i = 0..32; a vector of
// them is read at a time.

inline constexpr int block_length = recursive_block;

/// The values that one access of 16 bytes moves.
template <class Real>
using Quad = Vector<Real, 16 / sizeof(Real)>;
template <class Real>
inline constexpr int quads = block_length / Quad<Real>::count;

/// Products of coefficients times a power of two, below which a float is denormal: so one multiplication that
/// flushes these gives what kept_product() gives. A difference takes the other power.
template <class Real>
struct Products {
  static constexpr Real one = 1;
  static constexpr Real back = 1;
  static __device__ Real next(Real product, Real coefficient) { return kept_product(product * coefficient); }
};
template <>
struct Products<float> {
  static constexpr float one = 0x1p-66F;
  static constexpr float back = 0x1p66F;
  static __device__ float next(float product, float coefficient) {
    float result;
    asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(result) : "f"(product), "f"(coefficient));
    return result;
  }
};
static_assert(smallest_product * Products<float>::one == 0x1p-126);

/// One coefficient for all pairs. A product belongs to its pixel, wherever the block lies but at the end
/// where the line's scan starts: there the first factor is left out. Forward the difference is 0 there;
/// backward the products are `backward`, in shared memory.
template <class Real>
struct OneCoefficient {
  const PassConstants<Real>& constants;
  const Quad<Real>* backward;

  template <bool is_backward>
  __device__ Real alone(Real (&values)[block_length]) const {
    Real before = values[is_backward ? block_length - 1 : 0];
#pragma unroll
    for (int step = 0; step < block_length; ++step) {
      Real& value = values[is_backward ? block_length - 1 - step : step];
      value = before = follow(value, constants.feedback, before);
    }
    return is_backward ? backward[0].of[0] : constants.products[block_length];
  }

  template <bool is_backward>
  __device__ void add(Real difference, Real (&values)[block_length]) const {
#pragma unroll
    for (int g = 0; g < quads<Real>; ++g) {
      Quad<Real> products;
      if constexpr (is_backward) products = backward[g];
#pragma unroll
      for (int j = 0; j < Quad<Real>::count; ++j) {
        const int i = g * Quad<Real>::count + j;
        values[i] =
            with_carry(values[i], is_backward ? products.of[j] : constants.products[i + 1], difference);
      }
    }
  }
};

/// A coefficient for every pair, in shared memory: quad g of a block is at `own[g * pitch]`.
template <class Real>
struct OwnCoefficients {
  const Quad<Real>* own;
  int pitch;
  Real behind;

  /// Calls step(i, coefficient) in the direction of the scan.
  template <bool is_backward, class Step>
  __device__ void for_each(const Step& step) const {
    constexpr int count = Quad<Real>::count;
    Real after = behind;
#pragma unroll
    for (int turn = 0; turn < quads<Real>; ++turn) {
      const int g = is_backward ? quads<Real> - 1 - turn : turn;
      const Quad<Real> here = own[g * pitch];
#pragma unroll
      for (int j = 0; j < count; ++j) {
        const int k = is_backward ? count - 1 - j : j;
        step(g * count + k, is_backward ? after : here.of[k]);
        after = here.of[k];
      }
    }
  }

  template <bool is_backward>
  __device__ Real alone(Real (&values)[block_length]) const {
    Real before = values[is_backward ? block_length - 1 : 0];
    Real product = Products<Real>::one;
    for_each<is_backward>([&](int i, Real coefficient) {
      values[i] = before = follow(values[i], coefficient, before);
      product = Products<Real>::next(product, coefficient);
    });
    return product * Products<Real>::back;
  }

  template <bool is_backward>
  __device__ void add(Real difference, Real (&values)[block_length]) const {
    const Real scaled = difference * Products<Real>::back;
    Real product = Products<Real>::one;
    for_each<is_backward>([&](int i, Real coefficient) {
      product = Products<Real>::next(product, coefficient);
      values[i] = with_carry(values[i], product, scaled);
    });
  }
};

/// Repeats the last of the block's first `count` values behind it: the scan backward stays at it.
template <class Real>
__device__ void repeat_last(int count, Real (&values)[block_length]) {
  if (count >= block_length) return;
#pragma unroll
  for (int i = 1; i < block_length; ++i) values[i] = i < count ? values[i] : values[i - 1];
}

// Takes carries from block to block of a line (recursive/maths/recursive.h).

/// Ends of up to MostBlocks blocks of a line, which these exchange in shared memory.
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
