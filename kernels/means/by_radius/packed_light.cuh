#pragma once
// Values between successive boxes, packed: the twelve values of a lane in 9 words, if they have 24 bits, or
// in 18, if they have 48.
//
// Of 24 bits, word w holds value w, and above it byte w % 3 of value 9 + w / 3. Of 48 bits, word w holds the
// low half of value w, and word 12 + w the other bits of two values. A row has planes: the first four words
// of all lanes, the next four, and so on. So the loads and stores of a warp are contiguous.

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
  /// Returns the distance of planes in a row with such a stride.
  [[nodiscard]] __device__ static int plane_of(std::int64_t row_bytes) {
    return static_cast<int>(row_bytes) / Words * 4;
  }
};

using PackedLight = PackedValues<9>;
using PackedLong = PackedValues<18>;

template <class T>
inline constexpr bool is_packed = std::is_same_v<T, PackedLight> || std::is_same_v<T, PackedLong>;

template <int WordCount, int Channels, class Sum>
struct LaneRows<PackedValues<WordCount>, Channels, Sum, lane_elements> {
  static constexpr int elements = lane_elements;
  static constexpr int pixels = elements / Channels;
  static constexpr int word_count = WordCount;
  static constexpr int bytes = word_count * 4;
  static constexpr int access = 16;
  static constexpr int pixel_bytes = bytes / pixels;
  static constexpr bool may_be_padded = false;
  using Words = PackedValues<WordCount>;
  using PaddedWords = Words;
  enum class Place { nowhere, inside, scattered };  ///< as of the other LaneRows

  const std::byte* data;
  std::int64_t row;
  const int* columns;  ///< source columns of the lane's pixels
  Fixed<pixel_bytes> pixel{};
  int offset;  ///< bytes from a row's start to the lane's first word
  Place place;
  bool aligned = true;
  int plane;    ///< bytes between two planes
  int to_last;  ///< bytes from the lane's first word to those of the last plane

  __device__ LaneRows(const Source& source, int x, int last, int width, bool clipped, const int* of_positions,
                      int /*bytes_of_pixel*/ = pixel_bytes)
      : data(source.data),
        row(source.row),
        columns(of_positions + x),
        offset(x / pixels * 16),
        plane(Words::plane_of(source.row)),
        to_last(Words::offset_of(x / pixels, word_count / 4 * 4, plane) - offset) {
    if (x > last || (clipped && (x >= width || x + pixels <= 0))) {
      place = Place::nowhere;
    } else {
      place = x >= 0 && x + pixels <= width ? Place::inside : Place::scattered;
    }
  }

  /// Loads row y of the picture; zeros if y is negative.
  __device__ void load(int y, Words& loaded) const {
    loaded = {};
    if (y < 0 || place == Place::nowhere) return;
    const std::byte* line = data + y * row;
    if (place == Place::inside) return load_aligned<access>(line + offset, loaded);
    typename Words::Value values[elements] = {};
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
