#pragma once
// From the types of arrays to templates: function.operator()<In, Out>() for the pairs that scans take.

#include <cuda_runtime.h>

#include <cstdint>

#include "core/with_type.h"
#include "kernels/scan/interval.h"
#include "satin/array.h"

namespace satin::kernels {

/// Unsigned integers of the type's size.
template <class Function>
int with_word(Type type, Function function) {
  return with_type(type, [&]<class T>() {
    if constexpr (sizeof(T) == 1) return function.template operator()<std::uint8_t>();
    if constexpr (sizeof(T) == 2) return function.template operator()<std::uint16_t>();
    if constexpr (sizeof(T) == 4) return function.template operator()<std::uint32_t>();
    if constexpr (sizeof(T) == 8) return function.template operator()<std::uint64_t>();
  });
}

/// function.operator()<Word>(test) with a test whether a value's bits are in the interval.
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

/// The type itself, or a wider one for sums and products.
template <class Function>
int with_types(Type in, Type out, Function function) {
  if (in == out) return with_type(in, [&]<class T>() { return function.template operator()<T, T>(); });
  if (in == Type::u8 && out == Type::u32) return function.template operator()<std::uint8_t, std::uint32_t>();
  if (in == Type::u8 && out == Type::u64) return function.template operator()<std::uint8_t, std::uint64_t>();
  if (in == Type::u16 && out == Type::u32)
    return function.template operator()<std::uint16_t, std::uint32_t>();
  if (in == Type::u16 && out == Type::u64)
    return function.template operator()<std::uint16_t, std::uint64_t>();
  if (in == Type::u32 && out == Type::u64)
    return function.template operator()<std::uint32_t, std::uint64_t>();
  if (in == Type::f32 && out == Type::f64) return function.template operator()<float, double>();
  return cudaErrorInvalidValue;
}

/// Blocks of `threads` for `count` threads, at most as many as fill any card a few times over.
inline unsigned blocks_of(std::int64_t count, int threads) {
  constexpr std::int64_t most = 1 << 16;
  const std::int64_t blocks = (count + threads - 1) / threads;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

/// The items of one thread in a grid of one dimension, whose threads go on in steps of the whole grid.
struct GridStride {
  std::int64_t first;
  std::int64_t step;
  __device__ GridStride()
      : first(static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x),
        step(static_cast<std::int64_t>(gridDim.x) * blockDim.x) {}
};

}  // namespace satin::kernels
