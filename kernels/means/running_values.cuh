#pragma once
// Weighted sums of stored values of rows down the columns, as linear light and times alpha where asked for.

#include <cstdint>

#include "kernels/means/running_shared.cuh"
#include "kernels/pixels/lane_rows.cuh"

namespace satin::kernels {

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
/// c + a.low * b.byte0 + a.high * b.byte1 for a pair of 16-bit values and signed bytes.
__device__ inline std::uint32_t add_pair_weighted(std::uint32_t pair, std::uint32_t weights,
                                                  std::uint32_t sum) {
  int result = 0;
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(weights), "r"(static_cast<int>(sum)));
  return static_cast<std::uint32_t>(result);
}

/// `WideInShared`: values of 16-bit codes come from a table in shared memory, too.
template <class T, int Channels, class Column, bool Weighted, bool WideInShared = true>
class RunningValues {
 public:
  static constexpr int elements = running_elements;
  using Rows = LaneRows<T, Channels, Column, elements>;
  using Words = typename Rows::Words;

  /// `of_codes`: null where values count as they are stored. The table of bytes is in shared memory.
  __device__ explicit RunningValues(const std::uint32_t* of_codes) : of_codes_(of_codes) {}

  /// sums += a + sign b.
  template <int Sign>
  __device__ void add(const Words& a, const Words& b, Column (&sums)[elements]) const {
    if constexpr (sizeof(T) == 2 && sizeof(Column) == 4 && !Weighted) {
      if (of_codes_ == nullptr) {
        constexpr std::uint32_t weights = Sign > 0 ? 0x0101U : 0xFF01U;
#pragma unroll
        for (int e = 0; e < elements; ++e) {
          const std::uint32_t pair =
              __byte_perm(a.words[e / 2], b.words[e / 2], e % 2 == 0 ? 0x5410 : 0x7632);
          sums[e] = add_pair_weighted(pair, weights, sums[e]);
        }
        return;
      }
    }
    add(a, 1, b, Sign, sums);
  }

  /// sums += weight_a * a + weight_b * b, for weights between -256 and 256.
  __device__ void add(const Words& a, int weight_a, const Words& b, int weight_b,
                      Column (&sums)[elements]) const {
    if constexpr (Weighted) {
      if (of_codes_ != nullptr)
        add_times_alpha<true>(a, weight_a, b, weight_b, sums);
      else
        add_times_alpha<false>(a, weight_a, b, weight_b, sums);
    } else if (of_codes_ != nullptr) {
      add_values<true>(a, weight_a, b, weight_b, sums);
    } else if constexpr (sizeof(T) == 1) {
      add_bytes(a, weight_a, b, weight_b, sums);
    } else {
      add_values<false>(a, weight_a, b, weight_b, sums);
    }
  }

 private:
  template <bool Decoded, int E>
  [[nodiscard]] __device__ std::uint32_t value(const Words& row) const {
    if constexpr (!Decoded) {
      return element<T>(row.words, E);
    } else if constexpr (sizeof(T) == 1) {
      return DecodeTable::value(row.words[E / 4], E % 4);
    } else if constexpr (WideInShared) {
      return WideDecodeTable::value(element<T>(row.words, E));
    } else {
      return __ldg(of_codes_ + element<T>(row.words, E));
    }
  }

  __device__ static void add_product(std::uint32_t a, int weight, Column& sum) {
    if constexpr (sizeof(Column) == 4) {
      sum += a * static_cast<std::uint32_t>(weight);
    } else {
      sum += static_cast<Column>(static_cast<std::int64_t>(a) * weight);
    }
  }

  template <bool Decoded, int E = 0>
  __device__ void add_values(const Words& a, int weight_a, const Words& b, int weight_b,
                             Column (&sums)[elements]) const {
    if constexpr (E < elements) {
      const std::uint32_t of_a = value<Decoded, E>(a);
      const std::uint32_t of_b = value<Decoded, E>(b);
      add_product(of_a, weight_a, sums[E]);
      add_product(of_b, weight_b, sums[E]);
      add_values<Decoded, E + 1>(a, weight_a, b, weight_b, sums);
    }
  }

  template <bool Decoded, int E = 0>
  __device__ void add_times_alpha(const Words& a, int weight_a, const Words& b, int weight_b,
                                  Column (&sums)[elements]) const {
    if constexpr (E < elements) {
      constexpr int alpha = E / Channels * Channels + Channels - 1;
      const int alpha_a = static_cast<int>(value<false, alpha>(a)) * weight_a;
      const int alpha_b = static_cast<int>(value<false, alpha>(b)) * weight_b;
      if constexpr (E == alpha) {
        sums[E] += static_cast<Column>(static_cast<std::int64_t>(alpha_a + alpha_b));
      } else {
        add_product(value<Decoded, E>(a), alpha_a, sums[E]);
        add_product(value<Decoded, E>(b), alpha_b, sums[E]);
      }
      add_times_alpha<Decoded, E + 1>(a, weight_a, b, weight_b, sums);
    }
  }

  __device__ static void add_bytes(const Words& a, int weight_a, const Words& b, int weight_b,
                                   Column (&sums)[elements]) {
    const std::uint32_t weights =
        (static_cast<std::uint32_t>(weight_a) & 0xFFFFU) | static_cast<std::uint32_t>(weight_b) << 16;
#pragma unroll
    for (int i = 0; i < Rows::word_count; ++i) {
      const std::uint32_t lower = __byte_perm(a.words[i], b.words[i], 0x5140);  // a0 b0 a1 b1
      const std::uint32_t upper = __byte_perm(a.words[i], b.words[i], 0x7362);  // a2 b2 a3 b3
      add_pair(weights, lower, sums[4 * i], sums[4 * i + 1]);
      add_pair(weights, upper, sums[4 * i + 2], sums[4 * i + 3]);
    }
  }

  __device__ static void add_pair(std::uint32_t weights, std::uint32_t bytes, Column& first, Column& second) {
    if constexpr (sizeof(Column) == 4) {
      first = static_cast<Column>(add_weighted_low(weights, bytes, static_cast<int>(first)));
      second = static_cast<Column>(add_weighted_high(weights, bytes, static_cast<int>(second)));
    } else {
      first += static_cast<Column>(static_cast<std::int64_t>(add_weighted_low(weights, bytes, 0)));
      second += static_cast<Column>(static_cast<std::int64_t>(add_weighted_high(weights, bytes, 0)));
    }
  }

  const std::uint32_t* of_codes_;
};

}  // namespace satin::kernels
