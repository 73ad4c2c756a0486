#pragma once
// Arithmetic of first-order recursive smoothing of a line, y[i] = x[i] + a[i] (y[i-1] - x[i]), with the same
// order of rounding on every backend.
//
// A line is cut into blocks of recursive_block pixels, counted from its first pixel for both directions. In a
// block, r is the first pixel of the scan and c the result before it:
//
//   z[i] = x[i] + a[i] (z[i-1] - x[i]), from z = r   the scan of the block by itself, as if c were r
//   p[i] = p[i-1] a[i], from 1                       the share of c - r that is left at pixel i
//   y[i] = z[i] + p[i] (c - r)                       the composition of affine maps (Blelloch 1990)
//
// Blocks are therefore scanned in parallel, and only c goes from block to block. Only differences are scaled:
// where all x are equal, every difference is 0 and y is exactly x.
//
// The line is extended by its first and last pixel. Forward, c - r is 0 at the first block. Backward, the
// forward result k pixels behind the end is x + a^k (y - x). Its sum with the weights (1 - a) a^k gives y +
// (x - y) a / (1 + a) at the last pixel, so p is 1 there and c - r is end_difference(). In both directions
// the line's first factor is left out.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/maths/hd.h"

namespace satin {

inline constexpr int recursive_block = 32;

/// Products below smallest_product and differences between blocks below negligible<Real> are replaced by 0.
/// They are too small to change what is stored, and so no product of the two is denormal.
inline constexpr double smallest_product = 0x1p-60;
template <class Real>
inline constexpr Real negligible = sizeof(Real) == 4 ? static_cast<Real>(0x1p-64)
                                                     : static_cast<Real>(0x1p-900);

template <class Real>
SATIN_HD Real follow(Real x, Real a, Real before) {
  return x + a * (before - x);
}

template <class Real>
SATIN_HD Real kept_product(Real product) {
  return product < static_cast<Real>(smallest_product) ? 0 : product;
}

/// Returns c - r between two blocks.
template <class Real>
SATIN_HD Real carried_difference(Real carry, Real reference) {
  const Real difference = carry - reference;
  return difference < negligible<Real> && difference > -negligible<Real> ? 0 : difference;
}

/// Returns c - r of the backward scan at the line's end. `share` is a / (1 + a) for neighbours at distance 1.
template <class Real>
SATIN_HD Real end_difference(Real x, Real forward, Real share) {
  return (x - forward) * share;
}

template <class Real>
SATIN_HD Real with_carry(Real alone, Real product, Real difference) {
  return alone + product * difference;
}

/// A distance for which decay() is 0 at any rate.
inline constexpr double largest_distance = 1e30;

/// Returns the distance between neighbours in the transformed domain, 1 + contrast * (sum of the channels'
/// differences).
SATIN_HD float transformed_distance(double differences, double contrast) {
  const double distance = 1.0 + differences * contrast;
  return static_cast<float>(distance < largest_distance ? distance : largest_distance);
}

// Powers 2^-t by operations that every backend rounds alike.

/// Exponent from which on 2^-t is 0.
inline constexpr int decay_end = 64;

/// 2^-f = 1 - f (k0 + k1 f + ... + k6 f^6) for |f| <= 1/2. The polynomial interpolates (1 - 2^-f) / f at the
/// seven Chebyshev nodes; the relative error of 2^-f is below 1.2e-10.
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

/// Returns 2^-exponent for 0 <= exponent <= decay_end.
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

/// Returns 2^-t for t >= 0, infinity included, with a relative error below 2^-21 (float) or 2^-32 (double).
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
