#pragma once
// Powers of two with negative exponents, by operations that every backend rounds alike.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/maths/hd.h"

namespace satin {

/// From here on 2^-t counts as 0.
inline constexpr int decay_end = 64;

/// 2^-f = 1 - f (k0 + k1 f + ... + k6 f^6) for |f| <= 1/2: (1 - 2^-f) / f interpolated at the seven Chebyshev
/// nodes, with a relative error of 2^-f below 1.2e-10.
template <class Real>
struct DecayTerms {
  static constexpr Real k0 = static_cast<Real>(0.6931471805599453);
  static constexpr Real k1 = static_cast<Real>(-0.24022650922288757);
  static constexpr Real k2 = static_cast<Real>(0.055504108839096185);
  static constexpr Real k3 = static_cast<Real>(-0.009618056678524637);
  static constexpr Real k4 = static_cast<Real>(0.001333350238616277);
  static constexpr Real k5 = static_cast<Real>(-0.0001546144469856913);
  static constexpr Real k6 = static_cast<Real>(1.5297323760701075e-05);
};

/// 2^-exponent for 0 <= exponent <= decay_end.
template <class Real>
SATIN_HD Real inverse_power_of_two(int exponent) {
  if constexpr (std::is_same_v<Real, float>) {
    const auto bits = static_cast<std::uint32_t>(127 - exponent) << 23;
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    const auto bits = static_cast<std::uint64_t>(1023 - exponent) << 52;
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
}

/// 2^-t for t >= 0, infinity included: relative error below 2^-21 (float) or 2^-32 (double), 0 from decay_end
/// on.
template <class Real>
SATIN_HD Real decay(Real t) {
  using K = DecayTerms<Real>;
  if (!(t < static_cast<Real>(decay_end))) return 0;
  const int whole = static_cast<int>(t + static_cast<Real>(0.5));
  const Real f = t - static_cast<Real>(whole);
  Real q = K::k6;
  q = q * f + K::k5;
  q = q * f + K::k4;
  q = q * f + K::k3;
  q = q * f + K::k2;
  q = q * f + K::k1;
  q = q * f + K::k0;
  return (static_cast<Real>(1) - f * q) * inverse_power_of_two<Real>(whole);
}

}  // namespace satin
