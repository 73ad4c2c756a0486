#pragma once
// Arithmetic of the splat: the kernels that spread a sample, and how groups of depth are composited.
//
// A kernel is a staircase of centred boxes, given by the corners where its second difference is not 0; two
// prefix sums turn corners into the shape (Kosloff, Tao and Barsky, Depth of field postprocessing for layered
// scenes using constant-time rectangle spreading, 2009).

#include <cstddef>
#include <cstdint>

#include "core/maths/hd.h"
#include "lens/maths/samples.h"

namespace satin {

/// Union of boxes, from the highest to the widest. Box k covers columns x - wide[k] to x + wide[k] and rows y
/// - high[k] to y + high[k]; around a block of 2 x 2 pixels one column and one row more.
struct alignas(8) Staircase {
  static constexpr int most_boxes = 5;
  std::uint16_t wide[most_boxes];
  std::uint16_t high[most_boxes];
  std::uint16_t boxes;
  std::uint16_t reach;  ///< largest half-extent
};

/// Kernel of one radius: one staircase, or two of neighbouring variance that share the weight.
struct alignas(16) LensKernel {
  std::uint32_t weight[2];  ///< weight per pixel of the staircase; the second is 0 if there is one staircase
  std::uint16_t staircase[2];
};

/// Whether samples of both kernels have their corners in the same places and differ by weights alone.
SATIN_HD bool same_staircases(const LensKernel& a, const LensKernel& b) {
  return a.staircase[0] == b.staircase[0] && a.staircase[1] == b.staircase[1] &&
         (a.weight[1] != 0) == (b.weight[1] != 0);
}

/// Kernels of all radii from 0 to `largest`.
struct LensKernelView {
  static constexpr int kinds = 4;  ///< pixels, highlights, blocks, highlights of blocks
  const Staircase* staircases = nullptr;
  const LensKernel* kernels = nullptr;  ///< [kind][radius]
  std::uint32_t largest = 0;            ///< largest radius in 1/256 pixel; larger ones count as this one
  int weight_bits = 0;                  ///< the full weight of a sample is 2^weight_bits
};

SATIN_HD const LensKernel& lens_kernel(const LensKernelView& view, std::uint32_t radius, bool highlight,
                                       bool block) {
  const std::uint32_t held = radius < view.largest ? radius : view.largest;
  const std::uint32_t kind = (block ? 2U : 0U) + (highlight ? 1U : 0U);
  return view.kernels[std::uint64_t{kind} * (view.largest + 1) + held];
}

/// Scales a weight of the table by a sample's weight, rounded to nearest, ties up. The result is below 2^32,
/// also for blocks, whose weight of four pixels is spread over at least four pixels.
SATIN_HD std::uint32_t sample_weight(std::uint32_t table_weight, std::uint32_t weight) {
  constexpr std::uint32_t half = lens_full_weight / 2;
  return static_cast<std::uint32_t>((std::uint64_t{table_weight} * weight + half) / lens_full_weight);
}

/// Colour and coverage of one pixel, composited front to back from sums of groups: the weighted colours, then
/// the weights.
///
/// With weight W in units of the full one and A = min(1, W), a group adds T A C / W and reduces the
/// transmittance T by T A. Both equal T' times a sum, T' = T / max(1, W), so that colour / covered of a
/// constant colour is that colour up to rounding: below half a step for colours up to 2^18 in float and 2^32
/// in double.
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

  /// Returns T' for a group of weight `weight`.
  SATIN_HD static Real factor(Real weight, Real covered_before) {
    const Real left = 1 - covered_before;
    const Real through = left > 0 ? left : 0;
    return weight > 1 ? through / weight : through;
  }

  /// Rounds once, as sums are below 2^63.
  SATIN_HD static Real real(std::uint64_t sum) { return static_cast<Real>(static_cast<std::int64_t>(sum)); }

  /// Adds the next group; `unit` is 2^-weight_bits.
  SATIN_HD void add(const std::uint64_t* sums, Real unit) {
    const Real weight = real(sums[Channels]) * unit;
    const Real through = factor(weight, covered);
    for (int c = 0; c < Channels; ++c) colour[c] = colour[c] + through * (real(sums[c]) * unit);
    covered = covered + through * weight;
  }

  /// Whether nothing arrived: all sums are 0 then, as each sample has a weight.
  [[nodiscard]] SATIN_HD bool empty() const { return !(covered > 0); }

  /// Returns colour `c`, rounded to nearest, ties up.
  [[nodiscard]] SATIN_HD std::uint32_t result(int c) const {
    const Real half = static_cast<Real>(0.5);
    const Real value = colour[c] / covered + half;
    return value < static_cast<Real>(4294967296.0) ? static_cast<std::uint32_t>(value) : 0xFFFFFFFFU;
  }
};

/// Largest bits of colours for which float composites are exact enough.
inline constexpr int most_bits_in_float = 18;

}  // namespace satin
