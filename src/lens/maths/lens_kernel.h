#pragma once
// The shape that a sample is spread over: a staircase of centred boxes (Kosloff, Tao and Barsky 2009 spread
// rectangles; several make a disc), given by the corners where its second difference is not 0.

#include <cstdint>

#include "core/maths/hd.h"
#include "lens/maths/lens_sample.h"

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

}  // namespace satin
