#pragma once
// Radix sort by one-bit splits (Blelloch 1990) in tiles that fit on the chip, then a bitonic merge of the
// tiles (Batcher, Sorting networks and their applications, 1968).

#include <bit>
#include <limits>

#include "blelloch.h"

namespace study {

/// Moves keys whose bit is 0 to the front and the others behind them, both in their order. The exclusive
/// scan of "the bit is 0" counts the zeros before a key, which is the new index of a zero; that of a one is i
/// minus the count, after all zeros. n is a power of two. `zeros` is workspace.
template <class Machine, class Memory>
void split(Machine& m, Memory keys, Memory sorted, Memory zeros, Index n, int bit) {
  const auto is_one = [bit](std::uint32_t key) { return (key >> bit & 1U) != 0; };
  m.together(n, [&](Index i) { zeros[i] = is_one(keys[i]) ? 0U : 1U; });
  m.show("is 0, bit ", bit, zeros, n);
  Index all_zeros = 0;
  m.together(1, [&](Index) { all_zeros = blelloch(m, zeros, n, Sum{}); });
  m.show("0s before", -1, zeros, n);
  m.together(n, [&](Index i) {
    const std::uint32_t key = keys[i];
    const Index before = static_cast<std::uint32_t>(zeros[i]);
    sorted[is_one(key) ? all_zeros + i - before : before] = key;
  });
  m.show("split, bit ", bit, sorted, n);
}

/// Sorts one tile on the chip by one split for each bit, the lowest first. Each split keeps the order of
/// those before.
template <class Machine, class Memory>
void sort_tile(Machine& m, Memory keys, Memory spare, Memory zeros, Index n, int bits) {
  for (int bit = 0; bit < bits; bit += 2) {  // two at a time, so that the keys end in their own array
    split(m, keys, spare, zeros, n, bit);
    split(m, spare, keys, zeros, n, bit + 1);
  }
}

template <class Memory, class Before>
void order_pair(Memory keys, Index low, Index high, Before before) {
  const std::uint32_t a = keys[low];
  const std::uint32_t b = keys[high];
  const bool swap = before(b, a);
  keys[low] = swap ? b : a;
  keys[high] = swap ? a : b;
}

/// Merges runs of size / 2 keys into runs of `size` keys. The first step compares each key with its mirror
/// image in the other run. Then both halves are bitonic, no key of the first is above one of the second, and
/// steps of half the distance sort them. Distances within a tile stay on the chip.
template <class Machine, class Memory>
void merge_runs(Machine& m, Memory keys, Index n, Index size, Index tile) {
  const auto before = m.operation(Less{});
  const auto pair_at = [](Index k, Index distance) { return k / distance * 2 * distance + k % distance; };
  m.together(n / 2, [&](Index k) {
    const Index low = pair_at(k, size / 2);
    order_pair(keys, low, low / size * size + (size - 1 - low % size), before);
  });
  m.show("mirror ", size, keys, n);
  for (Index distance = size / 4; distance >= tile; distance /= 2) {
    m.together(n / 2, [&](Index k) {
      const Index low = pair_at(k, distance);
      order_pair(keys, low, low + distance, before);
    });
    m.show("distance ", distance, keys, n);
  }
  m.together(n / tile, [&](Index t) {
    std::vector<std::uint32_t> chip(static_cast<std::size_t>(tile));
    m.together(tile, [&](Index i) { chip[static_cast<std::size_t>(i)] = keys[t * tile + i]; });
    for (Index distance = tile / 2; distance > 0; distance /= 2) {
      m.together(tile / 2, [&](Index k) {
        const Index low = pair_at(k, distance);
        order_pair(chip.data(), low, low + distance, before);
      });
    }
    m.together(tile, [&](Index i) { keys[t * tile + i] = chip[static_cast<std::size_t>(i)]; });
  });
  m.show("in tiles", -1, keys, n);
}

/// Sorts in place. n is a power of two times the tile, itself a power of two (pad with the largest key). Not
/// stable, which does not matter for keys without values.
template <class Machine, class Memory>
void split_sort(Machine& m, Memory keys, Index n, Index tile) {
  constexpr int bits = std::numeric_limits<std::uint32_t>::digits;
  m.together(n / tile, [&](Index t) {
    std::vector<std::uint32_t> chip(static_cast<std::size_t>(3 * tile));
    m.together(tile, [&](Index i) { chip[static_cast<std::size_t>(i)] = keys[t * tile + i]; });
    sort_tile(m, chip.data(), chip.data() + tile, chip.data() + 2 * tile, tile, bits);
    m.together(tile, [&](Index i) { keys[t * tile + i] = chip[static_cast<std::size_t>(i)]; });
  });
  m.show("sorted tiles", -1, keys, n);
  for (Index size = 2 * tile; size <= n; size *= 2) merge_runs(m, keys, n, size, tile);
}

}  // namespace study
