#pragma once
// A lane's few neighbouring pixels of one row after another, kept as they lie in memory.

#include <cstddef>
#include <cstdint>

#include "kernels/device/launch.h"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/lane.cuh"

namespace satin::kernels {

/// How many elements a lane holds: its pixels fill 8, 12, 16 or 24 bytes, and groups of 4 elements.
template <class T, int Channels, class Sum>
constexpr int elements_per_lane = sizeof(T) == 1 && sizeof(Sum) == 4 ? (Channels == 3 ? 24 : 16)
                                                                     : (Channels == 3 ? 12 : 8);

template <class T, int Channels, class Sum, int Elements = elements_per_lane<T, Channels, Sum>>
struct LaneRows {
  static constexpr int elements = Elements;
  static constexpr int pixels = elements / Channels;
  static constexpr int bytes = elements * static_cast<int>(sizeof(T));
  static constexpr int word_count = bytes / 4;
  static constexpr int access = (bytes & -bytes) > 16 ? 16 : bytes & -bytes;
  static constexpr int pixel_bytes = Channels * static_cast<int>(sizeof(T));
  static_assert(elements % 4 == 0 && pixels * Channels == elements && bytes % 4 == 0);

  struct Words {
    std::uint32_t words[word_count];
  };

  enum class Place {
    nowhere,   ///< all its pixels are 0
    inside,    ///< in the picture, with a word to spare unless rows are aligned
    scattered  ///< some pixels are outside of the picture: each is looked for
  };

  const std::byte* data;
  std::int64_t row;
  const int*
      columns;  ///< the column of the picture that stands at the lane's first pixel, and those after it
  int offset;   ///< bytes from a row's beginning to the lane's first pixel
  Place place;
  bool aligned;

  /// The lane's first pixel is at x, a multiple of `pixels`, of the picture extended by its border; what lies
  /// beyond `last` is not needed. `of_positions`: the column at every x, -1 where there is none.
  __device__ LaneRows(const Source& source, int x, int last, int width, bool clipped, const int* of_positions)
      : data(source.data),
        row(source.row),
        columns(of_positions + x),
        offset(x * pixel_bytes),
        aligned((reinterpret_cast<std::uintptr_t>(source.data) | static_cast<std::uintptr_t>(source.row)) %
                    access ==
                0) {
    const int margin = aligned ? 0 : 4;
    if (x > last || (clipped && (x >= width || x + pixels <= 0))) {
      place = Place::nowhere;
    } else if (offset >= margin && offset + bytes + margin <= width * pixel_bytes) {
      place = Place::inside;
    } else {
      place = Place::scattered;
    }
  }

  /// Row y of the picture; zeros if y is negative.
  __device__ void load(int y, Words& loaded) const {
    loaded = {};
    if (y < 0 || place == Place::nowhere) return;
    const std::byte* line = data + y * row;
    if (place == Place::scattered) return load_scattered(line, loaded.words);
    const std::byte* from = line + offset;
    if (aligned) {
#pragma unroll
      for (int i = 0; i < bytes; i += access) fetch<access>(loaded.words, i, from + i);
      return;
    }
    const auto behind = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % 4);
    const auto* words = reinterpret_cast<const std::uint32_t*>(from - behind);
    std::uint32_t low = __ldg(words);
#pragma unroll
    for (int i = 0; i < word_count; ++i) {
      const std::uint32_t high = __ldg(words + i + 1);
      loaded.words[i] = __funnelshift_r(low, high, 8 * behind);
      low = high;
    }
  }

 private:
  __device__ void load_scattered(const std::byte* line, std::uint32_t (&words)[word_count]) const {
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      const int column = __ldg(columns + p);
      if (column < 0) continue;
      const std::byte* from = line + column * pixel_bytes;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        constexpr int size = static_cast<int>(sizeof(T));
        fetch<size>(words, (p * Channels + c) * size, from + c * size);
      }
    }
  }
};

}  // namespace satin::kernels
