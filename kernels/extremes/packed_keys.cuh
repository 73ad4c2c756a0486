#pragma once
// Words of 4, 2 or 1 keys of a row, and the extremes of their keys.

#include <cstdint>

#include "extremes/maths/extreme.h"

namespace satin::kernels {

inline constexpr int word_bytes = 4;

/// Four bytes each. Hardware with comparisons of 16-bit pairs compares the odd bytes as the high halves of
/// pairs, where the even ones do not matter, and the even bytes alone.
template <Extreme Wanted>
__device__ inline std::uint32_t join_bytes(std::uint32_t a, std::uint32_t b) {
  constexpr bool least = Wanted == Extreme::minimum;
#if __CUDA_ARCH__ >= 900
  constexpr std::uint32_t even = 0x00FF00FFU;
  const std::uint32_t odd_bytes = least ? __vminu2(a, b) : __vmaxu2(a, b);
  const std::uint32_t even_bytes = least ? __vminu2(a & even, b & even) : __vmaxu2(a & even, b & even);
  return (odd_bytes & ~even) | even_bytes;
#else
  return least ? __vminu4(a, b) : __vmaxu4(a, b);
#endif
}

template <class Key, Extreme Wanted>
struct PackedKeys {
  static constexpr int per_word = word_bytes / static_cast<int>(sizeof(Key));

  __device__ static std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    if constexpr (sizeof(Key) == 1) {
      return join_bytes<Wanted>(a, b);
    } else if constexpr (sizeof(Key) == 2) {
      return Wanted == Extreme::minimum ? __vminu2(a, b) : __vmaxu2(a, b);
    } else {
      const auto x = static_cast<std::int32_t>(a);
      const auto y = static_cast<std::int32_t>(b);
      return static_cast<std::uint32_t>(Wanted == Extreme::minimum ? min(x, y) : max(x, y));
    }
  }

  /// A word of keys that lose against every other.
  __device__ static std::uint32_t neutral() {
    std::uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < per_word; ++i) word |= placed(neutral_key<Key>(Wanted), i);
    return word;
  }

  /// The key as element i of a word that is 0 elsewhere.
  __device__ static std::uint32_t placed(Key key, int i) {
    return static_cast<std::uint32_t>(key) << (8 * static_cast<int>(sizeof(Key)) * i);
  }
};

/// The word at any byte of aligned words; `from` is a multiple of the key's size.
template <class Key>
__device__ std::uint32_t word_at(const std::uint32_t* words, int from) {
  const std::uint32_t low = words[from / word_bytes];
  if constexpr (sizeof(Key) == word_bytes) {
    return low;
  } else {
    const int behind = from % word_bytes;
    if (behind == 0) return low;
    return __funnelshift_r(low, words[from / word_bytes + 1], static_cast<unsigned>(8 * behind));
  }
}

}  // namespace satin::kernels
