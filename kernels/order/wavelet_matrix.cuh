#pragma once
// A wavelet matrix of the pixels that a part's windows see (Moroto and Umetani, Constant Time Median Filter
// Using 2D Wavelet Matrix, SIGGRAPH Asia 2022), with tables in place of the paper's inner matrices.
//
// Level by level, from the keys' highest bit on, the elements are stably partitioned: those whose bit is 0
// come first. Elements of equal higher bits thus stay together, in the order in which they began, and a range
// of that order becomes a range of each level by two ranks in the level's bits.
//
// They begin in two orders. In raster order the rows of a window are one range, and of its elements those
// count whose block of 64 columns is one of the window's. In block order (block by block, each row by row)
// the rows of one block are a range, and of its elements those count whose column in the block is left of the
// window's edge. So each order has a digit of 6 bits an element: its block, or its column in the block. The
// number of elements of digit < d among the first i zeros of a level is a table's entry for i / 32 and d, and
// a comparison of 32 digits in bit planes.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/order/launch.h"

namespace satin::kernels {

inline constexpr int digit_bits = 6;
inline constexpr int digits = 1 << digit_bits;
inline constexpr int element_group = warp_size;
inline constexpr int chunk_groups = 32;  ///< of a warp
inline constexpr int chunk_elements = chunk_groups * element_group;

enum ElementOrder { raster_order, block_order, element_orders };

/// 32 elements of a level: which have a 0, and how many zeros come before.
struct RankWord {
  std::uint32_t zero_bits;
  std::uint32_t zeros;

  __device__ std::uint32_t zeros_before(std::uint32_t place) const {
    return zeros + __popc(zero_bits & ((1U << place) - 1));
  }
};

/// The digits of 32 elements, bit by bit.
struct alignas(32) DigitPlanes {
  std::uint32_t of_bit[8];
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

/// The workspace of one part. Of each level and order: words for the places 0 .. elements.
struct WaveletMatrix {
  int levels = 0;
  std::uint32_t elements = 0;
  std::uint32_t words = 0;
  std::uint32_t chunks = 0;
  std::byte* from[element_orders] = {};  ///< elements in the order of the level that is being built
  std::byte* to[element_orders] = {};
  std::uint32_t* zeros = nullptr;  ///< of each level
  /// Of each order and chunk: elements of digit < d that a level's zeros have in the chunk, later before it.
  /// None is below digit 0: its entry is the number of zeros of the next level.
  std::uint32_t* chunk_counts = nullptr;
  RankWord* ranks = nullptr;
  std::uint32_t* below = nullptr;  ///< of each word of the zeros: elements of digit < d before it
  DigitPlanes* planes = nullptr;

  __host__ __device__ std::size_t word_of(int level, int order) const {
    return (static_cast<std::size_t>(level) * element_orders + order) * words;
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
