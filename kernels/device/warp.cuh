#pragma once
// Sums and scans within one warp. Every function is to be called by all 32 lanes.

namespace satin::kernels {

inline constexpr int warp_size = 32;
inline constexpr unsigned whole_warp = 0xFFFFFFFFU;

__device__ inline int lane_index() { return static_cast<int>(threadIdx.x % warp_size); }

/// The sum of the values of the lanes up to this one (Hillis and Steele 1986).
template <class Sum>
__device__ Sum inclusive_scan(Sum value) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const Sum before = __shfl_up_sync(whole_warp, value, distance);
    if (lane_index() >= distance) value += before;
  }
  return value;
}

/// The sum over groups of `Lanes` neighbouring lanes, in each of them.
template <int Lanes, class Sum>
__device__ Sum sum_over(Sum value) {
#pragma unroll
  for (int distance = 1; distance < Lanes; distance *= 2)
    value += __shfl_xor_sync(whole_warp, value, distance);
  return value;
}

/// Half of the rows stays with either half of the lanes, again and again. Recursion, as a loop is not
/// unrolled and its values would leave the registers.
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

/// Sums `Rows` values over the warp at once: lane l gets the sum of values[l % Rows]. Each step halves the
/// rows that a lane is responsible for, so that it takes Rows - 1 + log2(32 / Rows) shuffles instead of 5
/// Rows.
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
