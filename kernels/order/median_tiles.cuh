#pragma once
// Medians of all windows of a tile of pixels, by exchanges that do not depend on the values.
//
// The windows of a tile share its core: the pixels that lie in all of them. The core is kept sorted, without
// the values that are too small or too large to be a median. The columns beside the core, and the rows above
// and below it, are sorted, too. A tile is halved again and again: a half has a larger core, into which it
// merges the columns that are new in it, and longer rows. When one pixel is left, its median is there
// (Sugy, Fast Median Filter with Hierarchical Tiling, SIGGRAPH 2025). Lists are merged by Batcher's odd-even
// merging (Sorting networks and their applications, 1968); the compiler drops what no median needs.
//
// Values are whatever least() and most() order; two in a word are two tiles side by side.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "extremes/maths/extreme.h"

namespace satin::kernels::median_tiles {

/// Two values of 16 bits.
struct Pair {
  std::uint32_t word;
};
__device__ inline Pair least(Pair a, Pair b) { return {__vminu2(a.word, b.word)}; }
__device__ inline Pair most(Pair a, Pair b) { return {__vmaxu2(a.word, b.word)}; }
__device__ inline std::int32_t least(std::int32_t a, std::int32_t b) { return min(a, b); }
__device__ inline std::int32_t most(std::int32_t a, std::int32_t b) { return max(a, b); }

/// Keys in words: two of 8 or 16 bits, whose tiles are worked on together, or one of a float.
template <class Key>
struct Word {
  using Value = Pair;
  static constexpr int lanes = 2;
  static __device__ Value pack(Key first, Key second) { return {first | std::uint32_t{second} << 16}; }
  static __device__ Key unpack(Value value, int lane) { return static_cast<Key>(value.word >> 16 * lane); }
};
template <>
struct Word<FloatKey> {
  using Value = FloatKey;
  static constexpr int lanes = 1;
  static __device__ Value pack(FloatKey first, FloatKey) { return first; }
  static __device__ FloatKey unpack(Value value, int) { return value; }
};

/// Calls action(0), action(1) ... action(Count - 1), unrolled, so that lists stay in registers.
template <class Action, int... I>
__device__ void each(const Action& action, std::integer_sequence<int, I...> /*places*/) {
  (action(I), ...);
}
template <int Count, class Action>
__device__ void each(const Action& action) {
  each(action, std::make_integer_sequence<int, Count>());
}

/// Values in rising order.
template <class Value, int Size>
struct List {
  static constexpr int size = Size;
  Value of[Size];
};

template <int First, class Value, int Size>
__device__ auto every_second(const List<Value, Size>& list) {
  List<Value, (Size + 1 - First) / 2> half;
  each<half.size>([&](int i) { half.of[i] = list.of[2 * i + First]; });
  return half;
}

template <class Value, int A, int B>
__device__ List<Value, A + B> merged(const List<Value, A>& a, const List<Value, B>& b) {
  if constexpr (A == 1 && B == 1) {
    return {{least(a.of[0], b.of[0]), most(a.of[0], b.of[0])}};
  } else if constexpr (A == 1) {
    return merged(b, a);
  } else {
    const auto even = merged(every_second<0>(a), every_second<0>(b));
    List<Value, A + B> result;
    result.of[0] = even.of[0];
    const auto interleave = [&](const auto& odd) {
      each<(A + B) / 2>([&](int i) {
        if (i < odd.size && i + 1 < even.size) {
          result.of[2 * i + 1] = least(odd.of[i], even.of[i + 1]);
          result.of[2 * i + 2] = most(odd.of[i], even.of[i + 1]);
        } else {
          result.of[2 * i + 1] = i < odd.size ? odd.of[i] : even.of[i + 1];
        }
      });
    };
    if constexpr (B == 1)
      interleave(every_second<1>(a));
    else
      interleave(merged(every_second<1>(a), every_second<1>(b)));
    return result;
  }
}

/// list_at(First), list_at(First + 1) and so on, `Count` lists in all, as one.
template <int First, int Count, class ListAt>
__device__ auto joined(const ListAt& list_at) {
  if constexpr (Count == 1)
    return list_at(First);
  else
    return merged(joined<First, Count / 2>(list_at), joined<First + Count / 2, Count - Count / 2>(list_at));
}

/// The `Kept` values in the middle.
template <int Kept, class Value, int Size>
__device__ List<Value, Kept> middle_of(const List<Value, Size>& list) {
  static_assert((Size - Kept) % 2 == 0);
  List<Value, Kept> kept;
  each<Kept>([&](int i) { kept.of[i] = list.of[i + (Size - Kept) / 2]; });
  return kept;
}

/// The median of two lists: the smallest max(a[i - 1], b[Size - i]), as it and what is below it are Size + 1
/// values.
template <class Value, int Size>
__device__ Value median_of(const List<Value, Size + 1>& a, const List<Value, Size>& b) {
  Value median = a.of[Size];
  each<Size>([&](int i) { median = least(median, most(a.of[i], b.of[Size - 1 - i])); });
  return median;
}

/// A tile of Along x Across pixels, whose windows have `Side` pixels along both axes. The first axis is the
/// vertical one if the tile is turned. Windows see the pixels from 0 on.
template <class Value, int Side, int Along, int Across, bool turned = false>
struct Tile {
  static_assert(Along == Across || Along == 2 * Across);
  static constexpr int length = Side - Along + 1;    ///< of the core, along the first axis
  static constexpr int breadth = Side - Across + 1;  ///< of the core, along the other one
  /// A value of the core can be a median if not more than half of the window is above it, or below it.
  static constexpr int kept = std::min(length * breadth, Side* Side + 1 - length * breadth);

  int along = 0;  ///< where the first window begins
  int across = 0;
  List<Value, kept> core;
  List<Value, breadth>
      columns[2 * Along - 1];                ///< lines across, before and behind the core; the last is unused
  List<Value, length> rows[2 * Across - 1];  ///< lines along

  /// Calls store(x, y, median) for every pixel of the tile. pixel(x, y) gives a value.
  template <class Pixel, class Store>
  __device__ void find(const Pixel& pixel, const Store& store) const {
    find_half<0>(pixel, store);
    find_half<1>(pixel, store);
  }

  template <class Pixel>
  static __device__ Tile read(const Pixel& pixel) {
    Tile tile;
    tile.core = middle_of<kept>(
        joined<Along - 1, length>([&](int a) { return sorted_column(pixel, a, Across - 1); }));
    each<2 * (Along - 1)>(
        [&](int i) { tile.columns[i] = sorted_column(pixel, i < Along - 1 ? i : i + length, Across - 1); });
    each<2 * (Across - 1)>([&](int j) {
      const int b = j < Across - 1 ? j : j + breadth;
      tile.rows[j] = sorted_row<length>(pixel, Along - 1, b);
    });
    return tile;
  }

 private:
  template <class Pixel>
  static __device__ List<Value, 1> value_at(const Pixel& pixel, int a, int b) {
    return {{turned ? pixel(b, a) : pixel(a, b)}};
  }
  template <class Pixel>
  static __device__ List<Value, breadth> sorted_column(const Pixel& pixel, int a, int b) {
    return joined<0, breadth>([&](int i) { return value_at(pixel, a, b + i); });
  }
  template <int Count, class Pixel>
  static __device__ List<Value, Count> sorted_row(const Pixel& pixel, int a, int b) {
    return joined<0, Count>([&](int i) { return value_at(pixel, a + i, b); });
  }

  /// The first half along the first axis, or the second one.
  template <int part, class Pixel, class Store>
  __device__ void find_half(const Pixel& pixel, const Store& store) const {
    constexpr int half = Along / 2;
    constexpr int first_new = part == 0 ? half - 1 : Along - 1;
    if constexpr (half == 1 && Across == 1) {
      const int a = along + part;
      const Value median = median_of(core, columns[first_new]);
      turned ? store(across, a, median) : store(a, across, median);
    } else {
      using Half = Tile<Value, Side, Across, half, !turned>;
      Half found{across, along + part * half};
      found.core =
          middle_of<Half::kept>(merged(core, joined<first_new, half>([&](int i) { return columns[i]; })));
      each<2 * (half - 1)>([&](int i) {
        found.rows[i] = columns[i < half - 1 ? part * half + i : Along + part * half + i - half];
      });
      const int a = along + (part == 0 ? half - 1 : Side);
      each<2 * (Across - 1)>([&](int j) {
        const int b = across + (j < Across - 1 ? j : j + breadth);
        found.columns[j] = merged(rows[j], sorted_row<half>(pixel, a, b));
      });
      found.find(pixel, store);
    }
  }
};

}  // namespace satin::kernels::median_tiles
