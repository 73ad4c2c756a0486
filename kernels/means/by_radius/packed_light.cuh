#pragma once
// Light of 24 bits between successive boxes of bytes with alpha, packed: the twelve values of a lane in nine
// words. Word w holds value w, and above it byte w % 3 of value 9 + w / 3.
//
// A row has three planes: the first four words of all lanes, the next four, and the ninth. So the loads and
// stores of a warp are contiguous.

#include <cstddef>
#include <cstdint>

#include "kernels/means/launch.h"
#include "kernels/pixels/lane.cuh"

namespace satin::kernels {

struct PackedLight {
  static constexpr int value_count = lane_elements;
  static constexpr int word_count = 9;
  static constexpr std::uint32_t most = 0xFFFFFF;

  std::uint32_t words[word_count];

  __device__ void pack(const std::uint32_t (&values)[value_count]) {
#pragma unroll
    for (int w = 0; w < word_count; ++w)
      words[w] =
          __byte_perm(values[w], values[word_count + w / 3], static_cast<unsigned>(4 + w % 3) << 12 | 0x210);
  }

  [[nodiscard]] __device__ static std::uint32_t value(const std::uint32_t (&words)[word_count], int e) {
    if (e < word_count) return words[e] & most;
    const int first = 3 * (e - word_count);
    const std::uint32_t low = __byte_perm(words[first], words[first + 1], 0x73);
    return __byte_perm(low, words[first + 2] >> 24, 0x5410);
  }

  /// Returns the offset of a word of lane `lane` in a row whose planes are `plane` bytes apart.
  [[nodiscard]] __device__ static int offset_of(int lane, int word, int plane) {
    return word < 8 ? word / 4 * plane + lane * 16 + word % 4 * 4 : 2 * plane + lane * 4;
  }
};

template <int Channels, class Sum>
struct LaneRows<PackedLight, Channels, Sum, PackedLight::value_count> {
  static constexpr int elements = PackedLight::value_count;
  static constexpr int pixels = elements / Channels;
  static constexpr int word_count = PackedLight::word_count;
  static constexpr int bytes = word_count * 4;
  static constexpr int access = 16;
  static constexpr int pixel_bytes = bytes / pixels;
  static constexpr bool may_be_padded = false;
  using Words = PackedLight;
  using PaddedWords = Words;
  enum class Place { nowhere, inside, scattered };  ///< as of the other LaneRows

  const std::byte* data;
  std::int64_t row;
  const int* columns;  ///< source columns of the lane's pixels
  Fixed<pixel_bytes> pixel{};
  int offset;  ///< bytes from a row's start to the lane's first word
  Place place;
  bool aligned = true;
  int plane;    ///< bytes between the first two planes
  int to_last;  ///< bytes from the lane's first word to its last one

  __device__ LaneRows(const Source& source, int x, int last, int width, bool clipped, const int* of_positions,
                      int /*bytes_of_pixel*/ = pixel_bytes)
      : data(source.data),
        row(source.row),
        columns(of_positions + x),
        offset(x / pixels * 16),
        plane(packed_plane_of(static_cast<int>(source.row))),
        to_last(PackedLight::offset_of(x / pixels, 8, plane) - offset) {
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
    std::uint32_t values[elements] = {};
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const int column = __ldg(columns + p);
      if (column < 0) continue;
#pragma unroll
      for (int c = 0; c < Channels; ++c)
        values[p * Channels + c] = value_at(line, column / pixels, column % pixels * Channels + c);
    }
    loaded.pack(values);
  }

  /// Loads the words of a lane whose first one is at `from`.
  template <int Access>
  __device__ void load_aligned(const std::byte* from, Words& loaded) const {
    fetch<Access>(loaded.words, 0, from);
    fetch<Access>(loaded.words, 16, from + plane);
    fetch<4>(loaded.words, 32, from + to_last);
  }

 private:
  [[nodiscard]] __device__ std::uint32_t value_at(const std::byte* line, int lane, int e) const {
    const auto word = [&](int w) {
      return __ldg(reinterpret_cast<const std::uint32_t*>(line + PackedLight::offset_of(lane, w, plane)));
    };
    if (e < word_count) return word(e) & PackedLight::most;
    const int first = 3 * (e - word_count);
    return word(first) >> 24 | word(first + 1) >> 24 << 8 | word(first + 2) >> 24 << 16;
  }
};

}  // namespace satin::kernels
