#pragma once
// Integers of 128 bits, and the root of a double, the same on host and device.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

/// An unsigned integer of 128 bits.
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

/// Exact below 2^53; above, the halves are rounded one after the other.
SATIN_HD double to_double(Wide value) {
  return static_cast<double>(value.high) * 18446744073709551616.0 + static_cast<double>(value.low);
}

/// The correctly rounded root.
SATIN_HD double square_root(double value) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(value);
#else
  return __builtin_sqrt(value);
#endif
}

}  // namespace satin
