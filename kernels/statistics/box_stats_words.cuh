#pragma once
// Results of one thread and row, in words as they lie in the output.

#include <cstddef>
#include <cstdint>

namespace satin::kernels {

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
  /// The same of elements `stride` apart.
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
