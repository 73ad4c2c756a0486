#pragma once
// What the pixels of a lane add to the sums of their columns: codes as they are stored or their linear light,
// times alpha where that is asked for; floats in fixed point; working values.

#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/means/running_shared.cuh"
#include "kernels/pixels/lane.cuh"
#include "means/maths/mean.h"

namespace satin::kernels {

/// c + a.low * b.byte0 + a.high * b.byte1 for a pair of signed 16-bit weights.
__device__ inline int add_weighted_low(std::uint32_t weights, std::uint32_t bytes, int sum) {
  int result = 0;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));
  return result;
}
/// c + a.low * b.byte2 + a.high * b.byte3 for a pair of signed 16-bit weights.
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

/// `WideInShared`: values of 16-bit codes come from a table in shared memory, as those of bytes always do.
template <class T, int Channels, class Column, bool Weighted = false, bool WideInShared = true>
class RunningValues {
 public:
  static constexpr int elements = running_elements;
  static constexpr bool byte_codes = sizeof(T) == 1;
  using Sum = Column;
  using Rows = LaneRows<T, Channels, Column, elements>;
  using Words = typename Rows::Words;
  using WithoutWideTable = RunningValues<T, Channels, Column, Weighted, false>;

  __device__ explicit RunningValues(const RunningMeanArguments& arguments)
      : of_codes_(arguments.transfer.decode) {
    if constexpr (std::is_same_v<T, float>)
      factor_ = power_of_two(fixed_exponents(*arguments.measured, arguments.job.fixed_bits).colour);
  }

  /// sums += a + Sign b.
  template <int Sign>
  __device__ void add(const Words& a, const Words& b, Column (&sums)[elements]) const {
    if constexpr (sizeof(T) <= 2 && sizeof(Column) == 4 && !Weighted) {
      if (of_codes_ == nullptr) return add_codes<Sign>(a, b, sums);
    }
    if constexpr (Weighted) {
      if (of_codes_ == nullptr) {
        add_weighted<false, 1>(a, sums);
        return add_weighted<false, Sign>(b, sums);
      }
      add_weighted<true, 1>(a, sums);
      return add_weighted<true, Sign>(b, sums);
    }
    for_each<Sign>(a, b, [&](int e, Column of_a, Column of_b) {
      sums[e] += of_a;
      sums[e] += of_b;
    });
  }

  /// use(e, value of a, Sign times the value of b) for every element e.
  template <int Sign, class Use>
  __device__ void for_each(const Words& a, const Words& b, const Use& use) const {
    if constexpr (sizeof(T) <= 2) {
      if (of_codes_ != nullptr) return for_each_value<true, Sign>(a, b, use);
    }
    for_each_value<false, Sign>(a, b, use);
  }

 private:
  template <bool Decoded, int Sign, class Use>
  __device__ void for_each_value(const Words& a, const Words& b, const Use& use) const {
#pragma unroll
    for (int e = 0; e < elements; ++e) use(e, value<Decoded, 1>(a, e), value<Decoded, Sign>(b, e));
  }

  template <bool Decoded, int Sign>
  [[nodiscard]] __device__ Column value(const Words& row, int e) const {
    if constexpr (Weighted) {
      const int alpha_at = e / Channels * Channels + Channels - 1;
      const auto alpha = static_cast<Column>(Sign * static_cast<int>(element<T>(row.words, alpha_at)));
      return e == alpha_at ? alpha : unweighted<Decoded>(row, e) * alpha;
    } else {
      return Sign > 0 ? unweighted<Decoded>(row, e) : 0 - unweighted<Decoded>(row, e);
    }
  }

  template <bool Decoded>
  [[nodiscard]] __device__ Column unweighted(const Words& row, int e) const {
    if constexpr (std::is_same_v<T, float>) {
      return fixed(element<T>(row.words, e));
    } else if constexpr (!Decoded) {
      return element<T>(row.words, e);
    } else if constexpr (sizeof(T) == 1) {
      return DecodeTable::value(row.words[e / 4], e % 4);
    } else if constexpr (WideInShared) {
      return WideDecodeTable::value(element<T>(row.words, e));
    } else {
      return __ldg(of_codes_ + element<T>(row.words, e));
    }
  }

  /// sums += Sign row. One instruction multiplies and adds, where the compiler would add the products first.
  template <bool Decoded, int Sign>
  __device__ void add_weighted(const Words& row, std::uint32_t (&sums)[elements]) const {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      const int alpha_at = e / Channels * Channels + Channels - 1;
      const std::uint32_t alpha = element<T>(row.words, alpha_at);
      if (e == alpha_at) {
        sums[e] += Sign > 0 ? alpha : 0 - alpha;
      } else {
        asm("mad.lo.u32 %0, %1, %2, %0;"
            : "+r"(sums[e])
            : "r"(unweighted<Decoded>(row, e)), "r"(Sign > 0 ? alpha : 0 - alpha));
      }
    }
  }

  /// to_fixed() of core/maths/fixed_point.h: the product is exact, and so is the sum with 1/2 unless its
  /// floor is 0 or -1 anyway.
  [[nodiscard]] __device__ std::uint64_t fixed(float stored) const {
    const auto value = static_cast<double>(fabsf(stored) <= FLT_MAX ? stored : 0.0F);
    return static_cast<std::uint64_t>(floor_of(__fma_rn(value, factor_, 0.5)));
  }

  /// add() of codes as they are stored, two products an instruction.
  template <int Sign>
  __device__ static void add_codes(const Words& a, const Words& b, std::uint32_t (&sums)[elements]) {
    if constexpr (sizeof(T) == 1) {
      constexpr std::uint32_t weights = Sign > 0 ? 0x00010001U : 0xFFFF0001U;
#pragma unroll
      for (int i = 0; i < Rows::word_count; ++i) {
        const std::uint32_t lower = __byte_perm(a.words[i], b.words[i], 0x5140);  // a0 b0 a1 b1
        const std::uint32_t upper = __byte_perm(a.words[i], b.words[i], 0x7362);  // a2 b2 a3 b3
        add_pair(weights, lower, sums[4 * i], sums[4 * i + 1]);
        add_pair(weights, upper, sums[4 * i + 2], sums[4 * i + 3]);
      }
    } else {
      constexpr std::uint32_t weights = Sign > 0 ? 0x0101U : 0xFF01U;
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        const std::uint32_t pair = __byte_perm(a.words[e / 2], b.words[e / 2], e % 2 == 0 ? 0x5410 : 0x7632);
        sums[e] = add_pair_weighted(pair, weights, sums[e]);
      }
    }
  }

  __device__ static void add_pair(std::uint32_t weights, std::uint32_t bytes, std::uint32_t& first,
                                  std::uint32_t& second) {
    first = static_cast<std::uint32_t>(add_weighted_low(weights, bytes, static_cast<int>(first)));
    second = static_cast<std::uint32_t>(add_weighted_high(weights, bytes, static_cast<int>(second)));
  }

  const std::uint32_t* of_codes_;  ///< null where values count as they are stored
  double factor_ = 1;
};

}  // namespace satin::kernels
