#pragma once
// Values in registers: short vectors that one access loads or stores, and barriers against the compiler's
// rematerialization and reordering.

#include <cstdint>

namespace satin::kernels {

/// Returns the value, which the compiler then keeps in a register: it neither keeps the operands alive to
/// compute the value again, nor computes it again in every iteration of a loop, nor uses it before this
/// point.
__device__ inline std::uint32_t opaque(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ inline int opaque(int value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ inline std::int64_t opaque(std::int64_t value) {
  asm volatile("" : "+l"(value));
  return value;
}

/// N values, aligned for the widest access that divides their size.
template <class T, int N>
struct alignas(sizeof(T) * (N & -N)) Vector {
  static constexpr int count = N;
  T of[N];
};

template <class T, int N>
__device__ Vector<T, N> operator+(const Vector<T, N>& a, const Vector<T, N>& b) {
  Vector<T, N> sums;
#pragma unroll
  for (int i = 0; i < N; ++i) sums.of[i] = a.of[i] + b.of[i];
  return sums;
}

template <class T, int N>
__device__ Vector<T, N> operator-(const Vector<T, N>& a, const Vector<T, N>& b) {
  Vector<T, N> differences;
#pragma unroll
  for (int i = 0; i < N; ++i) differences.of[i] = a.of[i] - b.of[i];
  return differences;
}

template <class To, class T, int N>
__device__ Vector<To, N> converted(const Vector<T, N>& v) {
  Vector<To, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) result.of[i] = v.of[i];
  return result;
}

template <class T, int N>
__device__ T sum_of(const Vector<T, N>& v) {
  T sum = v.of[0];
#pragma unroll
  for (int i = 1; i < N; ++i) sum += v.of[i];
  return sum;
}

}  // namespace satin::kernels
