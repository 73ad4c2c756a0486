#pragma once
// Relaxed atomic operations for host and GPU, on numbers that several threads change at the same time.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

/// Adds `value` and returns the previous number.
SATIN_HD std::uint32_t add_shared(std::uint32_t* number, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(number, value);
#else
  return __atomic_fetch_add(number, value, __ATOMIC_RELAXED);
#endif
}

SATIN_HD void set_shared(std::uint8_t* flag) {
#ifdef __CUDA_ARCH__
  *flag = 1;
#else
  __atomic_store_n(flag, std::uint8_t{1}, __ATOMIC_RELAXED);
#endif
}

/// Raises the number to at least `value`. All threads of a warp that call this together pass the same
/// address, so that one atomic operation serves all.
SATIN_HD void raise_shared(std::int32_t* number, std::int32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned lanes = __activemask();
  const std::int32_t largest = __reduce_max_sync(lanes, value);
  if (static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(lanes)) - 1) atomicMax(number, largest);
#elif defined(__CUDA_ARCH__)
  atomicMax(number, value);
#else
  std::int32_t current = __atomic_load_n(number, __ATOMIC_RELAXED);
  while (current < value &&
         !__atomic_compare_exchange_n(number, &current, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

}  // namespace satin
