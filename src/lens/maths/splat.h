#pragma once
// Groups of samples laid one behind the other, the nearest first.

#include <cstddef>
#include <cstdint>

#include "core/maths/hd.h"
#include "lens/maths/samples.h"

namespace satin {

/// A union of boxes from the highest to the widest. Box k covers columns x - wide[k] to x + wide[k] and rows
/// y - high[k] to y + high[k]; over a block of 2 x 2 one column and one row more.
struct alignas(8) Staircase {
  static constexpr int most_boxes = 5;
  std::uint16_t wide[most_boxes];
  std::uint16_t high[most_boxes];
  std::uint16_t boxes;
  std::uint16_t reach;  ///< the farthest each way, of a block from its upper left pixel
};

/// What one radius is spread over: one staircase, or two neighbours that share the weight.
struct alignas(16) LensKernel {
  std::uint32_t weight[2];  ///< of every pixel of the staircase; 0 if there is no second one
  std::uint16_t staircase[2];
};

/// Samples of both kernels have their corners in the same places; they differ by weights alone.
SATIN_HD bool same_staircases(const LensKernel& a, const LensKernel& b) {
  return a.staircase[0] == b.staircase[0] && a.staircase[1] == b.staircase[1] &&
         (a.weight[1] != 0) == (b.weight[1] != 0);
}

/// The kernels of every radius from 0 to `largest`.
struct LensKernelView {
  static constexpr int kinds = 4;  ///< pixels, highlights; the same of blocks
  const Staircase* staircases = nullptr;
  const LensKernel* kernels = nullptr;  ///< those of one kind behind those of the one before
  std::uint32_t largest = 0;            ///< in 1/256 pixel; larger radii count as this one
  int weight_bits = 0;                  ///< the full weight of a sample is 2^weight_bits
};

SATIN_HD const LensKernel& lens_kernel(const LensKernelView& view, std::uint32_t radius, bool highlight,
                                       bool block) {
  const std::uint32_t held = radius < view.largest ? radius : view.largest;
  const std::uint32_t kind = (block ? 2U : 0U) + (highlight ? 1U : 0U);
  return view.kernels[std::uint64_t{kind} * (view.largest + 1) + held];
}

/// A weight of the table for a sample whose weight is not full: rounded to nearest, ties up. Those of blocks
/// stay below 2^32: four pixels' weight is spread over at least four pixels.
SATIN_HD std::uint32_t sample_weight(std::uint32_t table_weight, std::uint32_t weight) {
  constexpr std::uint32_t half = lens_full_weight / 2;
  return static_cast<std::uint32_t>((std::uint64_t{table_weight} * weight + half) / lens_full_weight);
}

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
