#pragma once
// Unsigned integers of 128 bits, and square roots, with the same bits on host and device.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

struct Wide {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

SATIN_HD Wide multiply(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return {__umul64hi(a, b), a * b};
#else
  __extension__ using u128 = unsigned __int128;
  const u128 product = static_cast<u128>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#endif
}

SATIN_HD Wide operator-(Wide a, Wide b) {
  return {a.high - b.high - (a.low < b.low ? 1U : 0U), a.low - b.low};
}

/// Converts to double: exact below 2^53; above, the two halves are rounded separately.
SATIN_HD double to_double(Wide value) {
  return static_cast<double>(value.high) * 18446744073709551616.0 + static_cast<double>(value.low);
}

/// Returns the correctly rounded square root.
SATIN_HD double square_root(double value) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(value);
#else
  return __builtin_sqrt(value);
#endif
}

}  // namespace satin
