#pragma once
// Pixels of the single-pass table: what a lane has of a row, and its sums by channel.
//
// A row is a row of elements, the channels of a pixel one after the other. A lane has one word of a row, four
// 8-bit elements or two of 16 bits, so that its sums of 32 or 64 bits fill one store. A word may begin with
// any channel: its phase.

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

}  // namespace satin::kernels::single_pass
