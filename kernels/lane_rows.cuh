#pragma once
// A lane's few neighbouring pixels of one row after another, kept as they lie in memory, and weighted sums of
// them down the columns.

#include <cstddef>
#include <cstdint>

#include "kernels/lane.cuh"
#include "kernels/launch.h"
#include "kernels/warp.cuh"

namespace satin::kernels {

/// How many elements a lane holds: its pixels fill 8, 12, 16 or 24 bytes, and groups of 4 elements.
template <class T, int Channels, class Sum>
constexpr int elements_per_lane = sizeof(T) == 1 && sizeof(Sum) == 4 ? (Channels == 3 ? 24 : 16)
                                                                     : (Channels == 3 ? 12 : 8);

/// c + a.low * b.byte0 + a.high * b.byte1 for a pair of signed 16-bit weights.
__device__ inline int add_weighted_low(std::uint32_t weights, std::uint32_t bytes, int sum) {
  int result = 0;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
  return result;
}
/// The same with bytes 2 and 3.
__device__ inline int add_weighted_high(std::uint32_t weights, std::uint32_t bytes, int sum) {
  int result = 0;
  asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
  return result;
}

/// Linear values of stored ones. The 256 of 8-bit pixels are kept in shared memory once for each lane, so
/// that no two lanes of a warp want different words of one bank: 32 KiB.
class Decoder {
 public:
  static constexpr std::size_t shared_bytes = 256 * warp_size * sizeof(std::uint32_t);

  __device__ Decoder(const std::uint32_t* of_codes, std::uint32_t* shared)
      : of_codes_(of_codes), shared_(shared + lane_index()) {}

  /// To be called by all threads of a block of one dimension, with a barrier before the first value.
  __device__ static void fill(const std::uint32_t* of_codes, std::uint32_t* shared) {
    for (int i = static_cast<int>(threadIdx.x); i < 256 * warp_size; i += static_cast<int>(blockDim.x))
      shared[i] = __ldg(of_codes + i / warp_size);
  }

  [[nodiscard]] __device__ bool used() const { return of_codes_ != nullptr; }
  [[nodiscard]] __device__ std::uint32_t value(std::uint8_t code) const { return shared_[code * warp_size]; }
  [[nodiscard]] __device__ std::uint32_t value(std::uint16_t code) const { return __ldg(of_codes_ + code); }

 private:
  const std::uint32_t* of_codes_;
  const std::uint32_t* shared_;
};

template <class T, int Channels, class Sum>
struct LaneRows {
  static constexpr int elements = elements_per_lane<T, Channels, Sum>;
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

  /// sums += weight_a * a + weight_b * b, for weights between -256 and 256.
  __device__ static void add(const Words& a, int weight_a, const Words& b, int weight_b,
                             const Decoder& decoder, Sum (&sums)[elements]) {
    if (decoder.used()) {
#pragma unroll
      for (int e = 0; e < elements; ++e)
        add_one(decoder.value(element<T>(a.words, e)), weight_a, decoder.value(element<T>(b.words, e)),
                weight_b, sums[e]);
    } else if constexpr (sizeof(T) == 1) {
      const std::uint32_t weights =
          (static_cast<std::uint32_t>(weight_a) & 0xFFFFU) | static_cast<std::uint32_t>(weight_b) << 16;
#pragma unroll
      for (int i = 0; i < word_count; ++i) {
        const std::uint32_t lower = __byte_perm(a.words[i], b.words[i], 0x5140);  // a0 b0 a1 b1
        const std::uint32_t upper = __byte_perm(a.words[i], b.words[i], 0x7362);  // a2 b2 a3 b3
        add_pair(weights, lower, sums[4 * i], sums[4 * i + 1]);
        add_pair(weights, upper, sums[4 * i + 2], sums[4 * i + 3]);
      }
    } else {
#pragma unroll
      for (int e = 0; e < elements; ++e)
        add_one(element<T>(a.words, e), weight_a, element<T>(b.words, e), weight_b, sums[e]);
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

  __device__ static void add_pair(std::uint32_t weights, std::uint32_t bytes, Sum& first, Sum& second) {
    if constexpr (sizeof(Sum) == 4) {
      first = static_cast<Sum>(add_weighted_low(weights, bytes, static_cast<int>(first)));
      second = static_cast<Sum>(add_weighted_high(weights, bytes, static_cast<int>(second)));
    } else {
      first += static_cast<Sum>(static_cast<std::int64_t>(add_weighted_low(weights, bytes, 0)));
      second += static_cast<Sum>(static_cast<std::int64_t>(add_weighted_high(weights, bytes, 0)));
    }
  }

  __device__ static void add_one(std::uint32_t a, int weight_a, std::uint32_t b, int weight_b, Sum& sum) {
    if constexpr (sizeof(Sum) == 4) {
      sum += a * static_cast<std::uint32_t>(weight_a) + b * static_cast<std::uint32_t>(weight_b);
    } else {
      sum +=
          static_cast<Sum>(static_cast<std::int64_t>(a) * weight_a + static_cast<std::int64_t>(b) * weight_b);
    }
  }
};

}  // namespace satin::kernels
