#pragma once
// A wavelet matrix of the pixels that a part's windows see (Moroto and Umetani, Constant Time Median Filter
// Using 2D Wavelet Matrix, SIGGRAPH Asia 2022), with tables in place of the paper's inner matrices.
//
// Level by level, from the keys' highest bit on, the elements are stably partitioned: those whose bit is 0
// come first. Elements of equal higher bits thus stay together, in the order in which they began, and a range
// of that order becomes a range of each level by two ranks in the level's bits.
//
// The order is block by block of 64 columns, each row by row. So the rows of one block are a range. A window
// is the blocks from that of its first column on, without the columns that are left of this one, up to the
// block behind whose beginning it ends, of which it has the columns left of its end. Elements of a range that
// are left of an edge are counted by their digit, the column in the block: a table has the zeros of digit < d
// before each 32 elements, and among these the digits are compared in bit planes.
//
// A window has more than one whole block between its edges if it is wide. Then the elements are partitioned
// in raster order too, where the rows of a window are one range, and the digit is the block.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/order/launch.h"

namespace satin::kernels {

inline constexpr int digit_bits = 6;
inline constexpr int digits = 1 << digit_bits;
inline constexpr int element_group = warp_size;
inline constexpr int chunk_groups = 32;  ///< of a warp
inline constexpr int chunk_elements = chunk_groups * element_group;
inline constexpr int block_chunks = 8;

enum ElementOrder { block_order, raster_order };

/// Windows up to this reach have at most one whole block between the blocks of their edges.
inline constexpr int narrow_reach = digits - 1;

/// 32 elements of a level: which have a 0, how many zeros come before, and the digits bit by bit.
struct alignas(32) ElementGroup {
  std::uint32_t zero_bits;
  std::uint32_t zeros;
  std::uint32_t digit_planes[digit_bits];
};

/// The elements: hidden (if pixels can be), then the key, then the digit.
template <class Key>
struct ElementOf;
template <>
struct ElementOf<std::uint8_t> {
  using Type = std::uint16_t;
};
template <>
struct ElementOf<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct ElementOf<FloatKey> {
  using Type = std::uint64_t;
};

/// The bits of keys in an order without signs.
template <class Key>
__device__ std::uint32_t ordered_bits(Key key) {
  const auto bits = static_cast<std::uint32_t>(key);
  return sizeof(Key) == 4 ? bits ^ 0x80000000U : bits;
}
template <class Key>
__device__ Key key_of_bits(std::uint32_t bits) {
  return static_cast<Key>(sizeof(Key) == 4 ? bits ^ 0x80000000U : bits);
}

/// Some pixels of the picture do not count in the windows of others.
[[nodiscard]] SATIN_HD bool hides(const RankJob& job) { return job.weighted || job.excludes; }

[[nodiscard]] inline int key_bits(const RankJob& job) {
  return job.type == Type::u8 ? 8 : job.type == Type::u16 ? 16 : 32;
}

/// Keys' bits, behind that of hidden elements.
[[nodiscard]] inline int wavelet_levels(const RankJob& job) { return key_bits(job) + (hides(job) ? 1 : 0); }

[[nodiscard]] inline bool is_wide(const RankJob& job) { return largest_reach(job.reach).x > narrow_reach; }

/// The workspace of one part. Of each level and order there are groups for the places 0 .. elements.
struct WaveletMatrix {
  int levels = 0;
  int orders = 1;
  std::uint32_t elements = 0;
  std::uint32_t groups = 0;
  std::uint32_t chunks = 0;
  std::uint32_t blocks = 0;  ///< of chunks
  std::byte* from[2] = {};   ///< of each order: elements in the order of the level that is being built
  std::byte* to[2] = {};
  std::uint32_t* zeros = nullptr;  ///< of each level
  /// Zeros of digit < d of each order: before a chunk in its block of chunks, and before a block. None is
  /// below digit 0: its entry is the number of all zeros.
  std::uint32_t* chunk_counts = nullptr;
  std::uint32_t* block_counts = nullptr;
  ElementGroup* element_groups = nullptr;
  std::uint32_t* below = nullptr;  ///< of each group: the zeros of digit < d before it

  __host__ __device__ std::size_t group_of(int level, int order) const {
    return (static_cast<std::size_t>(level) * orders + order) * groups;
  }
};

/// A number in front of 6 bit planes, to compare with.
struct DigitBound {
  std::uint32_t of_bit[digit_bits];

  __device__ explicit DigitBound(std::uint32_t digit) {
#pragma unroll
    for (int bit = 0; bit < digit_bits; ++bit) of_bit[bit] = 0U - (digit >> bit & 1);
  }
};

/// One bit more of a comparison from the lowest bit on: `less` so far, the bits of 32 numbers and of a bound.
__device__ inline std::uint32_t less_with_bit(std::uint32_t less, std::uint32_t bits, std::uint32_t bound) {
  return (less & ~bits) | (less & bound) | (~bits & bound);
}

}  // namespace satin::kernels
