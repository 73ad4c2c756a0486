#pragma once
// Values between successive boxes, packed: the twelve values of a lane in 9 words, if they have 24 bits, or
// in 18, if they have 48.
//
// If values have 24 bits, word w holds value w, and above it byte w % 3 of value 9 + w / 3. If they have 48,
// word w holds the low 32 bits of value w, and word 12 + w the upper 16 of values 2 w and 2 w + 1. A row
// consists of planes: the first four words of all lanes, the next four, and so on. So the loads and stores of
// a warp are contiguous.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/means/launch.h"
#include "kernels/pixels/lane.cuh"

namespace satin::kernels {

/// Words: 9 or 18.
template <int Words>
struct PackedValues {
  static constexpr int value_count = lane_elements;
  using Value = std::conditional_t<Words == 9, std::uint32_t, std::uint64_t>;

  std::uint32_t words[Words];

  __device__ void pack(const Value (&values)[value_count]) {
    if constexpr (Words == 9) {
#pragma unroll
      for (int w = 0; w < Words; ++w)
        words[w] =
            __byte_perm(values[w], values[Words + w / 3], static_cast<unsigned>(4 + w % 3) << 12 | 0x210);
    } else {
      const auto high = [&](int e) { return static_cast<std::uint32_t>(values[e] >> 32); };
#pragma unroll
      for (int e = 0; e < value_count; ++e) words[e] = static_cast<std::uint32_t>(values[e]);
#pragma unroll
      for (int e = 0; e < value_count; e += 2)
        words[value_count + e / 2] = __byte_perm(high(e), high(e + 1), 0x5410);
    }
  }

  /// Returns value e of the words word(0) to word(Words - 1). `high_bits`: those that the upper word of a
  /// value of 48 bits keeps of its sign-extended 16: 0xFFFF if values are not signed.
  template <class Word>
  [[nodiscard]] __device__ static Value value(const Word& word, int e, std::uint32_t high_bits = 0xFFFF) {
    if constexpr (Words == 9) {
      if (e < Words) return word(e) & 0xFFFFFFU;
      const int first = 3 * (e - Words);
      return __byte_perm(__byte_perm(word(first), word(first + 1), 0x73), word(first + 2) >> 24, 0x5410);
    } else {
      const auto both = static_cast<std::int32_t>(word(value_count + e / 2));
      const auto high =
          static_cast<std::uint32_t>(e % 2 == 0 ? std::int32_t{static_cast<std::int16_t>(both)} : both >> 16);
      return static_cast<Value>(high & high_bits) << 32 | word(e);
    }
  }

  /// Returns the offset of a word of lane `lane` in a row whose planes are `plane` bytes apart.
  [[nodiscard]] __device__ static int offset_of(int lane, int word, int plane) {
    const int lane_bytes = word / 4 == Words / 4 ? Words % 4 * 4 : 16;
    return word / 4 * plane + lane * lane_bytes + word % 4 * 4;
  }

  /// Stores lane `lane` of a row with this stride.
  __device__ void store(std::byte* line, int lane, std::int64_t row_bytes) const {
    const auto to = [&](int w) { return line + offset_of(lane, w, plane_of(row_bytes)); };
#pragma unroll
    for (int w = 0; w + 4 <= Words; w += 4)
      __stcs(reinterpret_cast<uint4*>(to(w)), make_uint4(words[w], words[w + 1], words[w + 2], words[w + 3]));
#pragma unroll
    for (int w = Words / 4 * 4; w < Words; ++w) __stcs(reinterpret_cast<std::uint32_t*>(to(w)), words[w]);
  }

  /// Returns the distance of planes in a row with this stride.
  [[nodiscard]] __device__ static int plane_of(std::int64_t row_bytes) {
    return static_cast<int>(row_bytes) / Words * 4;
  }
};

using PackedLight = PackedValues<9>;
using PackedLong = PackedValues<18>;

template <class T>
inline constexpr bool is_packed = std::is_same_v<T, PackedLight> || std::is_same_v<T, PackedLong>;

/// Rows of packed values in the memory of this backend, which is aligned.
template <int WordCount, int Channels, class Sum>
struct LaneRows<PackedValues<WordCount>, Channels, Sum, lane_elements>
    : LaneRows<typename PackedValues<WordCount>::Value, Channels, Sum, lane_elements> {
  using Words = PackedValues<WordCount>;
  using Base = LaneRows<typename Words::Value, Channels, Sum, lane_elements>;
  using Base::data, Base::row, Base::columns, Base::place, Base::pixels;
  static constexpr int word_count = WordCount;

  int plane;    ///< bytes between two planes
  int offset;   ///< bytes from a row's start to the lane's first word
  int to_last;  ///< bytes from there to the words of the last plane

  __device__ LaneRows(const Source& source, int x, int last, int width, bool clipped, const int* of_positions,
                      int /*bytes_of_pixel*/ = 0)
      : Base(source, x, last, width, clipped, of_positions),
        plane(Words::plane_of(source.row)),
        offset(Words::offset_of(x / pixels, 0, plane)),
        to_last(Words::offset_of(x / pixels, word_count / 4 * 4, plane) - offset) {}

  /// Loads row y of the picture; zeros if y is negative.
  __device__ void load(int y, Words& loaded) const {
    loaded = {};
    if (y < 0 || place == Base::Place::nowhere) return;
    const std::byte* line = data + y * row;
    if (place == Base::Place::inside) return load_aligned<Base::access>(line + offset, loaded);
    typename Words::Value values[Base::elements] = {};
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const int column = __ldg(columns + p);
      if (column < 0) continue;
      const auto word = [&](int w) {
        const int at = Words::offset_of(column / pixels, w, plane);
        return __ldg(reinterpret_cast<const std::uint32_t*>(line + at));
      };
#pragma unroll
      for (int c = 0; c < Channels; ++c)
        values[p * Channels + c] = Words::value(word, column % pixels * Channels + c);
    }
    loaded.pack(values);
  }

  /// Loads the words of a lane whose first one is at `from`.
  template <int Access>
  __device__ void load_aligned(const std::byte* from, Words& loaded) const {
#pragma unroll
    for (int w = 0; w + 4 <= word_count; w += 4) fetch<Access>(loaded.words, 4 * w, from + w / 4 * plane);
    fetch<word_count % 4 * 4>(loaded.words, word_count / 4 * 16, from + to_last);
  }
};

}  // namespace satin::kernels
