#pragma once
// Pixels of the single-pass table: what a lane has of a row, and its sums by channel.
//
// A row is a row of elements, the channels of a pixel one after the other. A lane has one word of a row, four
// 8-bit elements or two of 16 bits, so that its sums of 32 or 64 bits fill one store. A word may begin with
// any channel: its phase. Where what is stored needs all sums of a pixel, a lane has the three words of four
// RGB pixels.

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "kernels/device/registers.cuh"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"

namespace satin::kernels::single_pass {

/// Four bytes of each of two rows, to sums of 16 bits: even ones and odd ones.
__device__ inline void add_bytes(std::uint32_t upper, std::uint32_t lower, std::uint32_t& even,
                                 std::uint32_t& odd) {
  even += (upper & 0xFF00FF) + (lower & 0xFF00FF);
  odd += (upper >> 8 & 0xFF00FF) + (lower >> 8 & 0xFF00FF);
}

template <class T, int Channels, class SumType, bool Squared = false>
struct Pixels {
  using Element = T;
  using Sum = SumType;
  using Word = std::uint32_t;
  static constexpr int channels = Channels;
  static constexpr bool squared = Squared;
  static constexpr int elements = sizeof(T) == 1 && sizeof(Sum) == 4 && !Squared ? 4 : 2;  ///< of a lane
  static constexpr int lane_bytes = elements * static_cast<int>(sizeof(T));
  static constexpr std::uint32_t largest_stored = (1U << 8 * sizeof(T)) - 1;
  static constexpr std::uint32_t largest = Squared ? largest_stored * largest_stored : largest_stored;
  /// Sums of two rows of a warp fit one register.
  static constexpr bool pairs_rows = largest * warp_size * elements / Channels <= 0xFFFF;

  static constexpr int step = std::gcd(elements, Channels);  ///< between phases
  static constexpr int phases = Channels / step;
  static constexpr int kinds = elements < Channels ? elements : Channels;  ///< channels in one word

  static_assert(sizeof(T) == 1 || (sizeof(T) == 2 && !Squared), "what fits 16 bits");

  /// Elements of 8 bits, or of 16.
  __device__ static std::uint32_t from_stored(std::uint32_t word) {
    if constexpr (elements == 4 || sizeof(T) == 2) {
      return word;
    } else if constexpr (Squared) {
      const std::uint32_t low = word & 0xFF;
      const std::uint32_t high = word >> 8;
      return low * low | high * high << 16;
    } else {
      return __byte_perm(word, 0, 0x4140);
    }
  }
  __device__ static Sum from_one(T stored) {
    const Sum value = stored;
    return Squared ? value * value : value;
  }

  /// sum + the elements times 8-bit weights.
  __device__ static std::uint32_t weighted(std::uint32_t word, std::uint32_t weights, std::uint32_t sum) {
    if constexpr (elements == 4) return __dp4a(word, weights, sum);
    return __dp2a_lo(word, weights, sum);
  }

  /// Weights of the elements up to `last` that are of the same channel.
  __device__ static std::uint32_t weights_up_to(int last) {
    std::uint32_t weights = 0;
#pragma unroll
    for (int i = 0; i < elements; ++i)
      if (i <= last && (last - i) % Channels == 0) weights |= 1U << 8 * i;
    return weights;
  }

  // Sums of the columns over rows: four of 16 bits in two registers, or two of 32 bits.
  using ColumnSums = Vector<std::uint32_t, 2>;
  __device__ static void add_to_columns(std::uint32_t upper, std::uint32_t lower, ColumnSums& sums) {
    if constexpr (elements == 4) {
      add_bytes(upper, lower, sums.of[0], sums.of[1]);
    } else {
      sums.of[0] += (upper & 0xFFFF) + (lower & 0xFFFF);
      sums.of[1] += (upper >> 16) + (lower >> 16);
    }
  }
  __device__ static Vector<std::uint32_t, elements> of_columns(const ColumnSums& sums) {
    if constexpr (elements == 4) {
      return {{sums.of[0] & 0xFFFF, sums.of[1] & 0xFFFF, sums.of[0] >> 16, sums.of[1] >> 16}};
    } else {
      return {{sums.of[0], sums.of[1]}};
    }
  }

  /// Adds to the sums of the row above: a word, and of each of its channels what is before it in the tile
  /// and to the left of that.
  template <class Before, class Left>
  __device__ static void add_row(std::uint32_t word, const Before& before, const Left& left,
                                 Vector<Sum, elements>& sums) {
#pragma unroll
    for (int i = 0; i < elements; ++i) {
      const int k = i % channels;
      if constexpr (sizeof(Sum) == 4) {
        sums.of[i] += weighted(word, weights_up_to(i), before.of[k] + left.of[k]);
      } else {
        sums.of[i] += left.of[k] + weighted(word, weights_up_to(i), before.of[k]);
      }
    }
  }

  /// Where a lane's words begin: the channel of its first element.
  class Phase {
   public:
    __device__ explicit Phase(int lane_across)
        : phase_(phases == 1 ? 0 : lane_across * elements % Channels) {}

    [[nodiscard]] __device__ int number() const { return phase_ / step; }
    [[nodiscard]] __device__ bool is_of(int channel, int element) const {
      if constexpr (phases == 1) return element % Channels == channel;
      return phase_ == (channel + Channels - element % Channels) % Channels;
    }
    /// Weights of the elements of a channel.
    [[nodiscard]] __device__ std::uint32_t weights_of(int channel) const {
      std::uint32_t weights = 0;
#pragma unroll
      for (int i = 0; i < elements; ++i) weights |= is_of(channel, i) ? 1U << 8 * i : 0U;
      return weights;
    }
    template <class Value>
    [[nodiscard]] __device__ Value sum_of(int channel, const Vector<Value, elements>& values) const {
      Value sum = 0;
#pragma unroll
      for (int i = 0; i < elements; ++i) sum += is_of(channel, i) ? values.of[i] : Value{0};
      return sum;
    }
    /// Of a value for each channel, those of the word's first `kinds` elements.
    template <class Value>
    [[nodiscard]] __device__ Vector<Value, kinds> of_word(const Value (&of_channels)[Channels]) const {
      Vector<Value, kinds> values;
#pragma unroll
      for (int k = 0; k < kinds; ++k) {
        values.of[k] = of_channels[k];
#pragma unroll
        for (int phase = step; phase < Channels; phase += step)
          if (phase_ == phase) values.of[k] = of_channels[(phase + k) % Channels];
      }
      return values;
    }

   private:
    int phase_;
  };
};

using kernels::kept;
template <int N>
__device__ Vector<std::uint32_t, N> kept(Vector<std::uint32_t, N> values) {
#pragma unroll
  for (int i = 0; i < N; ++i) values.of[i] = kernels::kept(values.of[i]);
  return values;
}

/// Four RGB pixels of bytes a lane.
struct PixelQuads {
  using Element = std::uint8_t;
  using Sum = std::uint32_t;
  using Word = Vector<std::uint32_t, 3>;
  static constexpr int channels = 3;
  static constexpr int elements = 12;
  static constexpr int lane_bytes = 12;
  static constexpr std::uint32_t largest = 0xFF;
  static constexpr bool pairs_rows = true;
  static constexpr int step = channels;
  static constexpr int phases = 1;
  static constexpr int kinds = channels;

  __device__ static Word from_stored(const Word& words) { return words; }
  __device__ static Sum from_one(std::uint8_t stored) { return stored; }

  /// sum + the bytes times weights of 0 and 1.
  __device__ static std::uint32_t weighted(const Word& words, const Word& weights, std::uint32_t sum) {
#pragma unroll
    for (int k = 0; k < 3; ++k) sum = __dp4a(words.of[k], weights.of[k], sum);
    return sum;
  }

  using ColumnSums = Vector<std::uint32_t, 6>;
  __device__ static void add_to_columns(const Word& upper, const Word& lower, ColumnSums& sums) {
#pragma unroll
    for (int k = 0; k < 3; ++k) add_bytes(upper.of[k], lower.of[k], sums.of[2 * k], sums.of[2 * k + 1]);
  }
  __device__ static Vector<std::uint32_t, elements> of_columns(const ColumnSums& sums) {
    Vector<std::uint32_t, elements> columns;
#pragma unroll
    for (int i = 0; i < elements; ++i) {
      const std::uint32_t pair = sums.of[i / 4 * 2 + i % 2];
      columns.of[i] = i % 4 < 2 ? pair & 0xFFFF : pair >> 16;
    }
    return columns;
  }

  template <class Before, class Left>
  __device__ static void add_row(const Word& words, const Before& before, const Left& left,
                                 Vector<Sum, elements>& sums) {
    Sum running[channels];
#pragma unroll
    for (int c = 0; c < channels; ++c) running[c] = before.of[c] + left.of[c];
#pragma unroll
    for (int i = 0; i < elements; ++i) {
      running[i % channels] = __dp4a(words.of[i / 4], 1U << i % 4 * 8, running[i % channels]);
      sums.of[i] += running[i % channels];
    }
  }

  class Phase {
   public:
    __device__ explicit Phase(int /*lane_across*/) {}
    [[nodiscard]] __device__ static int number() { return 0; }
    [[nodiscard]] __device__ static Word weights_of(int channel) {
      Word weights{};
#pragma unroll
      for (int i = channel; i < elements; i += channels) weights.of[i / 4] |= 1U << i % 4 * 8;
      return weights;
    }
    template <class Value>
    [[nodiscard]] __device__ static Value sum_of(int channel, const Vector<Value, elements>& values) {
      Value sum = 0;
#pragma unroll
      for (int i = channel; i < elements; i += channels) sum += values.of[i];
      return sum;
    }
    template <class Value>
    [[nodiscard]] __device__ static Vector<Value, kinds> of_word(const Value (&of_channels)[channels]) {
      return {{of_channels[0], of_channels[1], of_channels[2]}};
    }
  };
};

}  // namespace satin::kernels::single_pass
