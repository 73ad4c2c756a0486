#pragma once
// Sums and scans within one warp. All 32 lanes must call every function.

#include <cstdint>
#include <type_traits>

#include "kernels/device/vector.cuh"

namespace satin::kernels {

inline constexpr int warp_size = 32;
inline constexpr unsigned whole_warp = 0xFFFFFFFFU;

__device__ inline int lane_index() { return static_cast<int>(threadIdx.x % warp_size); }

/// Returns the sum of the values of all lanes up to this one (Hillis and Steele, Data parallel algorithms,
/// 1986).
template <class Sum>
__device__ Sum inclusive_scan(Sum value) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const Sum before = __shfl_up_sync(whole_warp, value, distance);
    if (lane_index() >= distance) value += before;
  }
  return value;
}

/// Applies inclusive_scan() to several values at once, in each group of `Lanes` neighbouring lanes. Sum: u32,
/// u64, or integers in floats or doubles. The shuffle's predicate decides whether a lane adds integers, which
/// saves a comparison; in floating point a product with 0 or 1 takes fewer instructions.
template <int Lanes = warp_size, class Sum, int Count>
__device__ void inclusive_scans(Sum (&values)[Count]) {
  constexpr int group = (warp_size - Lanes) << 8;
#pragma unroll
  for (int distance = 1; distance < Lanes; distance *= 2) {
#pragma unroll
    for (Sum& value : values) {
      if constexpr (std::is_same_v<Sum, std::uint32_t>) {
        asm volatile(
            "{ .reg .u32 t; .reg .pred p;"
            " shfl.sync.up.b32 t|p, %0, %1, %2, 0xffffffff;"
            " @p add.u32 %0, %0, t; }"
            : "+r"(value)
            : "r"(distance), "n"(group));
      } else if constexpr (std::is_same_v<Sum, std::uint64_t>) {
        asm volatile(
            "{ .reg .u32 l, h, m, n; .reg .pred p;"
            " mov.b64 {l, h}, %0;"
            " shfl.sync.up.b32 m|p, l, %1, %2, 0xffffffff;"
            " shfl.sync.up.b32 n, h, %1, %2, 0xffffffff;"
            " @p add.cc.u32 l, l, m;"
            " @p addc.u32 h, h, n;"
            " mov.b64 %0, {l, h}; }"
            : "+l"(value)
            : "r"(distance), "n"(group));
      } else {
        // Opaque, or the compiler keeps the factors of all distances in registers between rows.
        const Sum adds = opaque(lane_index()) % Lanes >= distance ? 1 : 0;
        value = fma(__shfl_up_sync(whole_warp, value, distance, Lanes), adds, value);
      }
    }
  }
}

/// Returns the sum over all lanes, modulo 2^32 or 2^64.
__device__ inline std::uint32_t sum_of_lanes(std::uint32_t value) {
  return __reduce_add_sync(whole_warp, value);
}
__device__ inline std::uint64_t sum_of_lanes(std::uint64_t value) {
  constexpr unsigned bits = 27;  // sums of 32 lanes have five bits more
  constexpr std::uint32_t mask = (1U << bits) - 1;
  const std::uint32_t low = sum_of_lanes(static_cast<std::uint32_t>(value) & mask);
  const std::uint32_t middle = sum_of_lanes(static_cast<std::uint32_t>(value >> bits) & mask);
  const std::uint32_t high = sum_of_lanes(static_cast<std::uint32_t>(value >> 2 * bits));
  return low + (static_cast<std::uint64_t>(middle) << bits) + (static_cast<std::uint64_t>(high) << 2 * bits);
}

/// Returns the sum over groups of `Lanes` neighbouring lanes, to every lane.
template <int Lanes, class Sum>
__device__ Sum sum_over(Sum value) {
#pragma unroll
  for (int distance = 1; distance < Lanes; distance *= 2)
    value += __shfl_xor_sync(whole_warp, value, distance);
  return value;
}

/// Halves the rows of each lane, again and again: either half of the lanes keeps one half. Recursive, since a
/// loop would not be unrolled and the values would leave the registers.
template <int Half, class Sum, int Rows>
__device__ void fold_rows(Sum (&values)[Rows]) {
  if constexpr (Half >= 1) {
    const bool upper = (lane_index() & Half) != 0;
#pragma unroll
    for (int i = 0; i < Half; ++i) {
      const Sum kept = upper ? values[i + Half] : values[i];
      const Sum sent = upper ? values[i] : values[i + Half];
      values[i] = kept + __shfl_xor_sync(whole_warp, sent, Half);
    }
    fold_rows<Half / 2>(values);
  }
}

/// Sums `Rows` values over the warp at once; lane l gets the sum of values[l % Rows]. Needs
/// Rows - 1 + log2(32 / Rows) shuffles instead of 5 Rows, since each step halves the rows of a lane.
template <int Rows, class Sum>
__device__ Sum sum_rows(Sum (&values)[Rows]) {
  fold_rows<Rows / 2>(values);
  Sum sum = values[0];
#pragma unroll
  for (int distance = Rows; distance < warp_size; distance *= 2)
    sum += __shfl_xor_sync(whole_warp, sum, distance);
  return sum;
}

}  // namespace satin::kernels
