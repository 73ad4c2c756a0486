#pragma once
// Groups of samples laid one behind the other, the nearest first.

#include <cstddef>
#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

/// What the groups so far let through, and what they show. Sums are integers: every weighted colour, then the
/// weights.
///
/// With W the weights as parts of the full one and A = min(1, W), a group adds T A C / W and takes T A from
/// T. Both are T' C with T' = T / max(1, W), so that a constant colour leaves colour / covered constant but
/// for a few roundings: below half a step for colours up to 2^18 in float and up to 2^32 in double.
template <class Real, int Channels>
struct alignas(Channels % 2 == 0 ? sizeof(Real)
               : Channels == 3   ? 4 * sizeof(float)
                                 : 2 * sizeof(float)) Composite {
  Real colour[static_cast<std::size_t>(Channels)];
  Real covered;

  SATIN_HD void clear() {
    for (int c = 0; c < Channels; ++c) colour[c] = 0;
    covered = 0;
  }

  /// T' of a group of this weight.
  SATIN_HD static Real factor(Real weight, Real covered_before) {
    const Real left = 1 - covered_before;
    const Real through = left > 0 ? left : 0;
    return weight > 1 ? through / weight : through;
  }

  /// Sums are below 2^63: rounded once.
  SATIN_HD static Real real(std::uint64_t sum) { return static_cast<Real>(static_cast<std::int64_t>(sum)); }

  /// `unit` = 2^-weight_bits.
  SATIN_HD void add(const std::uint64_t* sums, Real unit) {
    const Real weight = real(sums[Channels]) * unit;
    const Real through = factor(weight, covered);
    for (int c = 0; c < Channels; ++c) colour[c] = colour[c] + through * (real(sums[c]) * unit);
    covered = covered + through * weight;
  }

  /// Nothing arrived: the sums are all 0, as no weight is.
  [[nodiscard]] SATIN_HD bool empty() const { return !(covered > 0); }

  /// The colour to the nearest integer, ties up.
  [[nodiscard]] SATIN_HD std::uint32_t result(int c) const {
    const Real half = static_cast<Real>(0.5);
    const Real value = colour[c] / covered + half;
    return value < static_cast<Real>(4294967296.0) ? static_cast<std::uint32_t>(value) : 0xFFFFFFFFU;
  }
};

/// Bits of colours up to which composites are made in single precision.
inline constexpr int most_bits_in_float = 18;

}  // namespace satin
