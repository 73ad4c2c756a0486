#pragma once
// What one lane of a warp holds of a row of tile: a few neighbouring pixels, such that a lane's sums fill 16
// bytes where the channels allow it.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/device/tuning.h"
#include "kernels/pixels/read.cuh"

namespace satin::kernels {

constexpr int pixels_per_lane(int channels, int sum_size) {
  const int sums = 16 / sum_size;
  return channels == 3 ? sums : sums > channels ? sums / channels : 1;
}

/// Bytes of neighbouring pixels, packed into registers as they lie in memory.
template <int Bytes>
struct Packed {
  std::uint32_t words[(Bytes + 3) / 4];
};

/// Reads `Size` bytes from aligned memory to `offset` bytes into the words, which are 0 there.
template <int Size>
__device__ void fetch(std::uint32_t* words, int offset, const std::byte* from) {
  if constexpr (Size == 16) {
    const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
    words[offset / 4] = v.x;
    words[offset / 4 + 1] = v.y;
    words[offset / 4 + 2] = v.z;
    words[offset / 4 + 3] = v.w;
  } else if constexpr (Size == 8) {
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(from));
    words[offset / 4] = v.x;
    words[offset / 4 + 1] = v.y;
  } else if constexpr (Size == 4) {
    words[offset / 4] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
  } else if constexpr (Size == 2) {
    const std::uint32_t v = __ldg(reinterpret_cast<const std::uint16_t*>(from));
    words[offset / 4] |= v << (offset % 4 * 8);
  } else {
    const std::uint32_t v = __ldg(reinterpret_cast<const std::uint8_t*>(from));
    words[offset / 4] |= v << (offset % 4 * 8);
  }
}

/// Element `index` of packed elements of type T.
template <class T>
__device__ T element(const std::uint32_t* words, int index) {
  const int offset = index * static_cast<int>(sizeof(T));
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(words[offset / 4 + 1]) << 32 | words[offset / 4];
  } else if constexpr (std::is_same_v<T, float>) {
    return __uint_as_float(words[offset / 4]);
  } else {
    return static_cast<T>(words[offset / 4] >> (offset % 4 * 8));
  }
}

template <class T, int Channels, class Sum>
struct Lane {
  static constexpr int pixels = pixels_per_lane(Channels, sizeof(Sum));
  static constexpr int elements = pixels * Channels;
  static constexpr int source_bytes = elements * static_cast<int>(sizeof(T));
  static constexpr int sum_bytes = elements * static_cast<int>(sizeof(Sum));
  /// The widest aligned access that divides a lane's bytes.
  static constexpr int access = (source_bytes & -source_bytes) > 16 ? 16 : source_bytes & -source_bytes;
  /// Rows that are loaded before the first is used: a power of two.
  static constexpr int rows = [] {
    int n = 1;
    constexpr int bytes =
        source_bytes + Channels * static_cast<int>(sizeof(Sum));  // with the carry of the row
    while (2 * n <= tuning::table_most_rows_in_flight && 2 * n * bytes <= tuning::table_bytes_in_flight)
      n *= 2;
    return n;
  }();

  using Source = Packed<source_bytes>;

  /// Loads `Lane::rows` rows; those from `existing` on, and pixels from `valid` on, are 0.
  static __device__ void load(Source (&loaded)[rows], const std::byte* from, std::int64_t row, int existing,
                              int valid, bool aligned) {
#pragma unroll
    for (int r = 0; r < rows; ++r) loaded[r] = {};
    if (aligned && valid >= pixels) {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        if (r >= existing) continue;
#pragma unroll
        for (int offset = 0; offset < source_bytes; offset += access)
          fetch<access>(loaded[r].words, offset, from + r * row + offset);
      }
      return;
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        if (r >= existing || e >= valid * Channels) continue;
        constexpr int size = static_cast<int>(sizeof(T));
        fetch<size>(loaded[r].words, e * size, from + r * row + e * size);
      }
    }
  }

  static __device__ void convert(const Source& source, const ReadRule& rule,
                                 Sum (&values)[pixels][Channels]) {
    const bool plain = !rule.weighted && !rule.squared && rule.decode == nullptr;
    if (!std::is_same_v<T, float> && plain) {
#pragma unroll
      for (int e = 0; e < elements; ++e)
        values[e / Channels][e % Channels] = static_cast<Sum>(element<T>(source.words, e));
      return;
    }
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      T stored[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) stored[c] = element<T>(source.words, p * Channels + c);
      read_working<Channels>(stored, rule, values[p]);
    }
  }
};

}  // namespace satin::kernels
