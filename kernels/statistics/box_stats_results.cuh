#pragma once
// What is made of the statistics of one window, and the extremes of a picture.

#include <cstddef>
#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/pixels/plane.cuh"
#include "statistics/box_stats.h"

namespace satin::kernels {

/// The value of the plane at a pixel, as stored.
template <class T>
__device__ double stored_value(const BoxStatsJob& job, const Source& picture, std::int64_t x,
                               std::int64_t y) {
  return static_cast<double>(plane_value_at<T>(job.plane, picture, x, y));
}

/// The mask's weight of a pixel; 0 without a mask.
__device__ inline std::uint32_t mask_weight(const BoxStatsJob& job, const Source& mask, std::int64_t x,
                                            std::int64_t y) {
  if (job.mask_maximum == 0) return 0;
  return job.mask_maximum == 0xFF ? row_of<std::uint8_t>(mask, y)[x] : row_of<std::uint16_t>(mask, y)[x];
}

/// Bits that order as the doubles do, all signs.
__device__ inline std::uint64_t ordered_bits(double value) {
  const std::uint64_t bits = bits_of(value);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

__device__ inline double of_ordered_bits(std::uint64_t ordered) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return double_of((ordered & sign) != 0 ? ordered ^ sign : ~ordered);
}

/// The extremes of a picture on the device: bits that order as the numbers do, for atomics.
struct OrderedExtremes {
  unsigned long long largest_deviation = 0;
  unsigned long long smallest_value = ~0ULL;

  __device__ static OrderedExtremes of(const PictureExtremes& extremes) {
    return {ordered_bits(extremes.largest_deviation), ordered_bits(extremes.smallest_value)};
  }

  /// All lanes of a warp call this together.
  __device__ void merge_into(PictureExtremes* all) {
    auto* ordered = reinterpret_cast<OrderedExtremes*>(all);
#pragma unroll
    for (int distance = warp_size / 2; distance > 0; distance /= 2) {
      largest_deviation = max(largest_deviation, __shfl_xor_sync(whole_warp, largest_deviation, distance));
      smallest_value = min(smallest_value, __shfl_xor_sync(whole_warp, smallest_value, distance));
    }
    if (lane_index() != 0) return;
    atomicMax(&ordered->largest_deviation, largest_deviation);
    atomicMin(&ordered->smallest_value, smallest_value);
  }
};
static_assert(sizeof(OrderedExtremes) == sizeof(PictureExtremes));

/// What has been found; zeros without a search.
__device__ inline PictureExtremes found_extremes(const PictureExtremes* extremes) {
  if (extremes == nullptr) return {};
  const OrderedExtremes found = *reinterpret_cast<const OrderedExtremes*>(extremes);
  return {of_ordered_bits(found.largest_deviation), of_ordered_bits(found.smallest_value)};
}

/// Results of one thread and row, in words as they lie in the output.
template <class T, int Elements>
struct alignas(Elements * sizeof(T) % 16 == 0 ? 16 : 8) StatsResults {
  static constexpr int per_word = 4 / static_cast<int>(sizeof(T));
  static constexpr int count = Elements / per_word;
  static_assert(Elements * sizeof(T) % 8 == 0);

  std::uint32_t words[count];

  /// Bits of the elements of one word.
  [[nodiscard]] __device__ static std::uint32_t of_word(int w) {
    return ((1U << per_word) - 1) << (w * per_word);
  }
  /// The bits of an element within its word.
  [[nodiscard]] __device__ static std::uint32_t place_of(int i) {
    return std::uint32_t{static_cast<T>(~T{0})} << (i % per_word * 8 * static_cast<int>(sizeof(T)));
  }

  /// Sets an element that is not known when this is compiled: without branches, which would put the words
  /// into memory.
  __device__ void put(int i, T value) {
    const std::uint32_t place = place_of(i);
    const std::uint32_t bits = std::uint32_t{value} << (i % per_word * 8 * static_cast<int>(sizeof(T)));
#pragma unroll
    for (int w = 0; w < count; ++w) {
      const bool here = w == i / per_word;
      words[w] = (words[w] & (here ? ~place : ~0U)) | (here ? bits : 0U);
    }
  }

  /// Streaming, `existing` elements, which lie side by side.
  __device__ void store(T* to, int existing) const {
    if (existing == Elements && reinterpret_cast<std::uintptr_t>(to) % alignof(StatsResults) == 0)
      return store_whole(reinterpret_cast<std::byte*>(to));
#pragma unroll
    for (int i = 0; i < Elements; ++i)
      if (i < existing) to[i] = at(i);
  }
  /// Stores `existing` elements that lie `stride` apart.
  __device__ void store(T* to, int existing, int stride) const {
#pragma unroll
    for (int i = 0; i < Elements; ++i)
      if (i < existing) to[i * stride] = at(i);
  }

 private:
  [[nodiscard]] __device__ T at(int i) const {
    return static_cast<T>(words[i / per_word] >> (i % per_word * 8 * static_cast<int>(sizeof(T))));
  }

  __device__ void store_whole(std::byte* to) const {
#pragma unroll
    for (int w = 0; w < count; w += static_cast<int>(alignof(StatsResults)) / 4) {
      if constexpr (alignof(StatsResults) == 16)
        __stcs(reinterpret_cast<uint4*>(to + 4 * w),
               make_uint4(words[w], words[w + 1], words[w + 2], words[w + 3]));
      else
        __stcs(reinterpret_cast<uint2*>(to + 4 * w), make_uint2(words[w], words[w + 1]));
    }
  }
};

}  // namespace satin::kernels
