#pragma once
// How a warp writes a row of its lanes' pixels, wherever the row begins.

#include <cstddef>
#include <cstdint>

#include "kernels/means/running_shared.cuh"

namespace satin::kernels {

template <class T, int Channels>
class StoredLane {
 public:
  static constexpr int elements = running_elements;
  static constexpr int pixel_bytes = Channels * static_cast<int>(sizeof(T));
  static constexpr int bytes = elements * static_cast<int>(sizeof(T));
  static constexpr int count = bytes / 4;

  /// The bits of the values from `Shift` on.
  template <int Shift = 0>
  __device__ void pack(const std::uint32_t (&values)[elements]) {
    static_assert(Shift % 8 == 0 && Shift + 8 * sizeof(T) <= 32);
    if constexpr (sizeof(T) == 1) {
      constexpr unsigned pair = (4 + Shift / 8) << 4 | Shift / 8;
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const std::uint32_t low = __byte_perm(values[4 * i], values[4 * i + 1], pair);
        const std::uint32_t high = __byte_perm(values[4 * i + 2], values[4 * i + 3], pair);
        words_[i] = __byte_perm(low, high, 0x5410);
      }
    } else {
      static_assert(Shift == 0);
#pragma unroll
      for (int i = 0; i < count; ++i) words_[i] = __byte_perm(values[2 * i], values[2 * i + 1], 0x5410);
    }
  }

  [[nodiscard]] __device__ std::uint32_t alpha(int pixel) const { return byte((pixel + 1) * Channels - 1); }

  /// Copies the colours of an 8-bit pixel; `source` is where the lane's first pixel lies.
  __device__ void copy_colours(int pixel, const std::byte* source) {
#pragma unroll
    for (int c = 0; c < Channels - 1; ++c) {
      const int i = pixel * Channels + c;
      const auto code = static_cast<std::uint32_t>(__ldg(reinterpret_cast<const std::uint8_t*>(source) + i));
      words_[i / 4] = (words_[i / 4] & ~(0xFFU << i % 4 * 8)) | code << i % 4 * 8;
    }
  }

  /// All lanes of a warp call this together; `to` is where the lane's first pixel goes, and it has `valid` of
  /// `pixels`.
  __device__ void store(std::byte* to, int valid, int pixels) const {
    const auto behind = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % 4);  // alike in all lanes
    const bool whole = valid == pixels;
    if (behind == 0) {
      if (whole) {
        store_words(to);
      } else {
        store_bytes(to, 0, valid * pixel_bytes);
      }
      return;
    }
    // Words that begin in the lane to the left; where a neighbour has none to share, single bytes.
    const std::uint32_t left_word = __shfl_up_sync(whole_warp, words_[count - 1], 1);
    const unsigned whole_lanes = __ballot_sync(whole_warp, whole);
    const int lane = lane_index();
    const bool left = lane != 0 && (whole_lanes >> (lane - 1) & 1U) != 0;
    const bool right = lane != warp_size - 1 && (whole_lanes >> (lane + 1) & 1U) != 0;
    if (!whole) return store_bytes(to, 0, valid * pixel_bytes);
    auto* aligned = reinterpret_cast<std::uint32_t*>(to - behind);
    if (left) __stcs(aligned, __funnelshift_l(left_word, words_[0], 8 * behind));
#pragma unroll
    for (int i = 1; i < count; ++i)
      __stcs(aligned + i, __funnelshift_l(words_[i - 1], words_[i], 8 * behind));
    if (!left) store_bytes(to, 0, 4 - behind);
    if (!right) store_bytes(to, bytes - behind, bytes);
  }

 private:
  [[nodiscard]] __device__ std::uint32_t byte(int i) const { return words_[i / 4] >> i % 4 * 8 & 0xFFU; }

  __device__ void store_words(std::byte* to) const {
    if constexpr (bytes % 8 == 0) {
      if (reinterpret_cast<std::uintptr_t>(to) % 8 == 0) {
#pragma unroll
        for (int i = 0; i < count; i += 2)
          __stcs(reinterpret_cast<uint2*>(to) + i / 2, make_uint2(words_[i], words_[i + 1]));
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < count; ++i) __stcs(reinterpret_cast<std::uint32_t*>(to) + i, words_[i]);
  }

  __device__ void store_bytes(std::byte* to, int begin, int end) const {
#pragma unroll
    for (int i = 0; i < bytes; ++i)
      if (i >= begin && i < end) to[i] = static_cast<std::byte>(byte(i));
  }

  std::uint32_t words_[count];
};

}  // namespace satin::kernels
