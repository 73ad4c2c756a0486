#pragma once
// Runs within words of bits, where they touch, and sets of runs as trees whose roots are their least entries
// (Playne and Hawick 2018; runs instead of pixels as Hennequin, Lacassagne, Cabaret, Meunier 2018).

#include <cstdint>

#include "kernels/label.h"

namespace satin::kernels {

/// Where runs begin.
__device__ inline std::uint32_t starts_of(std::uint32_t word) { return word & ~(word << 1); }

/// The first bit of the run that `bit` belongs to.
__device__ inline int start_of_run(std::uint32_t word, int bit) {
  return 32 - __clz(static_cast<int>(~word & ((1U << bit) - 1)));
}

/// The bit at which the run of entry `entry` begins.
__device__ inline int start_of_entry(std::uint32_t word, int entry) {
  return 2 * entry + static_cast<int>((starts_of(word) >> (2 * entry + 1)) & 1U);
}

__device__ inline bool has_run(std::uint32_t word, int entry) {
  return ((starts_of(word) >> (2 * entry)) & 3U) != 0;
}

/// A word and those around it, 0 where there are none.
struct Around {
  std::uint32_t word = 0;
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  std::uint32_t up = 0;
  std::uint32_t up_left = 0;
  std::uint32_t up_right = 0;
};

/// Calls touch(bit, upper) where bit `bit` of the word touches bit `upper` (-1 ... 32) of the row above: at
/// least once for every two runs that do, but for contacts that the word to the left has, too.
template <class Touch>
__device__ void for_contacts(const Around& around, int connectivity, const Touch& touch) {
  const std::uint32_t word = around.word;
  const std::uint32_t both = word & around.up;
  std::uint32_t first = both & ~(both << 1 | (around.left & around.up_left) >> 31);
  for (; first != 0; first &= first - 1) {
    const int bit = __ffs(static_cast<int>(first)) - 1;
    touch(bit, bit);
  }
  if (connectivity != 8) return;
  // A diagonal counts where neither pixel beside it joins the two already.
  const std::uint32_t alone = word & ~around.up;
  const std::uint32_t before = word << 1 | around.left >> 31;
  const std::uint32_t up_before = around.up << 1 | around.up_left >> 31;
  for (std::uint32_t falling = alone & up_before & ~before; falling != 0; falling &= falling - 1) {
    const int bit = __ffs(static_cast<int>(falling)) - 1;
    touch(bit, bit - 1);
  }
  const std::uint32_t after = word >> 1 | around.right << 31;
  const std::uint32_t up_after = around.up >> 1 | around.up_right << 31;
  for (std::uint32_t rising = alone & up_after & ~after; rising != 0; rising &= rising - 1) {
    const int bit = __ffs(static_cast<int>(rising)) - 1;
    touch(bit, bit + 1);
  }
}

/// Parents are read while others write them: what is read is an ancestor, then or now.
__device__ inline std::uint32_t root_of(const volatile std::uint32_t* parents, std::uint32_t entry) {
  for (std::uint32_t parent = parents[entry]; parent != entry; parent = parents[entry]) entry = parent;
  return entry;
}

/// The same; every node on the path gets its grandparent as parent (Jaiganesh and Burtscher 2018). A node
/// that is no root never becomes one again, so that no link that matters is overwritten.
__device__ inline std::uint32_t short_path(volatile std::uint32_t* parents, std::uint32_t entry) {
  std::uint32_t parent = parents[entry];
  while (parent != entry) {
    const std::uint32_t above = parents[parent];
    if (above != parent) parents[entry] = above;
    entry = parent;
    parent = above;
  }
  return entry;
}

/// Hangs the greater root under the lesser one; begins again with what another thread hung there meanwhile.
template <class Find>
__device__ void unite_by(std::uint32_t* parents, std::uint32_t a, std::uint32_t b, const Find& find) {
  while (true) {
    a = find(parents, a);
    b = find(parents, b);
    if (a == b) return;
    const std::uint32_t greater = max(a, b);
    const std::uint32_t lesser = min(a, b);
    const std::uint32_t before = atomicMin(parents + greater, lesser);
    if (before == greater) return;
    a = before;
    b = lesser;
  }
}

/// In a tile, whose paths are short.
__device__ inline void unite(std::uint32_t* parents, std::uint32_t a, std::uint32_t b) {
  unite_by(parents, a, b, [](std::uint32_t* all, std::uint32_t entry) { return root_of(all, entry); });
}

/// Across tiles.
__device__ inline void unite_parts(std::uint32_t* parents, std::uint32_t a, std::uint32_t b) {
  unite_by(parents, a, b, [](std::uint32_t* all, std::uint32_t entry) { return short_path(all, entry); });
}

/// Tiles of 4 words by 64 rows, one thread a word.
inline constexpr int tile_words = 4;
inline constexpr int tile_rows = 64;
inline constexpr int tile_threads = tile_words * tile_rows;

struct Tile {
  std::int64_t word = 0;  ///< of its first column
  std::int64_t row = 0;
};

__device__ inline Tile tile_of_block(const LabelArguments& arguments) {
  const auto columns = static_cast<unsigned>((arguments.words + tile_words - 1) / tile_words);
  return {std::int64_t{blockIdx.x % columns} * tile_words, std::int64_t{blockIdx.x / columns} * tile_rows};
}

inline unsigned tiles_of(const LabelArguments& arguments) {
  const std::int64_t columns = (arguments.words + tile_words - 1) / tile_words;
  return static_cast<unsigned>(columns * ((arguments.job.height + tile_rows - 1) / tile_rows));
}

/// The label of a root.
__device__ inline std::uint32_t label_of_root(const LabelArguments& arguments, std::uint32_t root) {
  const std::uint32_t word = root / label_entries;
  const std::uint32_t earlier = arguments.roots[word] & ((1U << root % label_entries) - 1);
  return arguments.before[word] + static_cast<std::uint32_t>(__popc(earlier)) + 1;
}

}  // namespace satin::kernels
