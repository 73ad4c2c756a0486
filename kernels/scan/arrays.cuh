#pragma once
// Arrays in kernels: aligned vectors of 16 bytes, loops over a grid, and calls of templates with the types of
// arrays.

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "core/with_type.h"
#include "kernels/scan/launch.h"
#include "satin/array.h"
#include "scan/maths/scan_operator.h"
#include "scan/scan.h"

namespace satin::kernels {

/// An array as a sequence of aligned vectors of 16 bytes, with a few elements before and after them.
template <class T>
struct Vectors {
  static constexpr int length = 16 / static_cast<int>(sizeof(T));

  const T* values;
  std::int64_t size;
  std::int64_t head;   ///< elements before the first vector
  std::int64_t count;  ///< vectors

  Vectors(const T* first, std::int64_t n) : values(first), size(n) {
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(first) % 16);
    const std::int64_t before = past == 0 ? 0 : (16 - past) / static_cast<std::int64_t>(sizeof(T));
    head = before < n ? before : n;
    count = (n - head) / length;
  }

  [[nodiscard]] __device__ uint4 load(std::int64_t vector) const {
    return __ldcs(reinterpret_cast<const uint4*>(values + head) + vector);
  }
  /// Number of elements outside the vectors, fewer than 2 * length.
  [[nodiscard]] __device__ std::int64_t loose() const { return size - count * length; }
  [[nodiscard]] __device__ T loose_element(std::int64_t i) const {
    return values[i < head ? i : i + count * length];
  }
};

template <class T>
__device__ T element_of(const uint4& vector, int i) {
  if constexpr (sizeof(T) == 8) {
    const unsigned low = i == 0 ? vector.x : vector.z;
    const unsigned high = i == 0 ? vector.y : vector.w;
    const auto bits = static_cast<long long>((static_cast<unsigned long long>(high) << 32) | low);
    if constexpr (std::is_floating_point_v<T>)
      return __longlong_as_double(bits);
    else
      return static_cast<T>(bits);
  } else {
    constexpr int per_word = 4 / static_cast<int>(sizeof(T));
    const int w = i / per_word;
    const unsigned word = w == 0 ? vector.x : w == 1 ? vector.y : w == 2 ? vector.z : vector.w;
    if constexpr (std::is_floating_point_v<T>)
      return __uint_as_float(word);
    else
      return static_cast<T>(word >> (i % per_word * 8 * static_cast<int>(sizeof(T))));
  }
}

/// Calls visit(element) for every element, spread over the grid. The loads of a step are in flight together.
template <int Loads, class T, class Visit>
__device__ void for_each_element(const Vectors<T>& vectors, const Visit& visit) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t first = thread; first < vectors.count; first += step * Loads) {
    uint4 loaded[Loads];
#pragma unroll
    for (int k = 0; k < Loads; ++k)
      if (first + k * step < vectors.count) loaded[k] = vectors.load(first + k * step);
#pragma unroll
    for (int k = 0; k < Loads; ++k) {
      if (first + k * step >= vectors.count) break;
#pragma unroll
      for (int i = 0; i < Vectors<T>::length; ++i) visit(element_of<T>(loaded[k], i));
    }
  }
  if (thread < vectors.loose()) visit(vectors.loose_element(thread));
}

/// Returns the number of blocks whose threads load `loads` vectors each, from 1 to `most`.
template <class T>
unsigned blocks_over(const Vectors<T>& vectors, int threads, int loads, std::int64_t most) {
  const std::int64_t per_block = static_cast<std::int64_t>(threads) * loads;
  const std::int64_t blocks = (vectors.count + per_block - 1) / per_block;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/// Calls function.operator()<Word>(test), where test(bits) is whether a value is in the interval.
template <class Function>
int with_interval(Type type, const Interval& interval, Function function) {
  if (type == Type::f32)
    return function.template operator()<std::uint32_t>(InInterval<std::uint32_t, true>(interval));
  if (type == Type::f64)
    return function.template operator()<std::uint64_t>(InInterval<std::uint64_t, true>(interval));
  return with_word(type, [&]<class Word>() {
    return function.template operator()<Word>(InInterval<Word, false>(interval));
  });
}

/// Calls function.operator()<In, Out>() for a pair of types that scan() accepts: equal ones, or a wider
/// result for sums and products.
template <class Function>
int with_types(Type in, Type out, const Function& function) {
  return with_type(in, [&]<class In>() {
    return with_type(out, [&]<class Out>() -> int {
      if constexpr (sums_into<In, Out>)
        return function.template operator()<In, Out>();
      else
        return cudaErrorInvalidValue;
    });
  });
}

/// Returns the number of blocks for `count` threads, limited to what fills any card several times.
inline unsigned blocks_of(std::int64_t count, int threads) {
  constexpr std::int64_t most = 1 << 16;
  const std::int64_t blocks = (count + threads - 1) / threads;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

/// The loop of a thread in a grid of one dimension: first item, and distance to the next one.
struct GridStride {
  std::int64_t first;
  std::int64_t step;
  __device__ GridStride()
      : first(static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x),
        step(static_cast<std::int64_t>(gridDim.x) * blockDim.x) {}
};

}  // namespace satin::kernels
