#pragma once
// Values that the compiler is to keep in registers, or not to look through.

#include <cstdint>

namespace satin::kernels {

/// A value that is not computed again where it is used: what it came from needs no register, and what depends
/// on lanes is not computed again in every turn of a loop.
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

/// A value that is first used here: sums that it is added to are then computed where they are stored.
__device__ inline std::uint32_t used_from_here(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ inline std::uint64_t used_from_here(std::uint64_t value) {
  asm volatile("" : "+l"(value));
  return value;
}

}  // namespace satin::kernels
