#pragma once
// What a lens spreads: points of the scene, each with its colour and its circle of confusion.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

/// The weight of a sample that covers its pixel wholly.
inline constexpr std::uint32_t lens_full_weight = 1U << 12;

/// Radii are in 1/256 pixel. Those up to this one, 0.6 pixels, are in focus: the sample stays on its pixel.
inline constexpr std::uint32_t lens_focus_radius = 153;

/// No radius is as large.
inline constexpr std::uint32_t never_merged = ~std::uint32_t{0};
/// Radii of samples that are merged differ by no more: half a pixel.
inline constexpr std::uint32_t merged_difference = 128;

/// Visible samples of 2 x 2 pixels, at even places, that are of one group, cover their pixels wholly and are
/// no highlights: if their radii are alike and large enough, nobody sees that they are spread as one block,
/// each by the kernel of a block of their mean radius.
SATIN_HD bool can_merge(const std::uint32_t (&radii)[4], std::uint32_t merge_from) {
  std::uint32_t low = radii[0];
  std::uint32_t high = radii[0];
  for (int i = 1; i < 4; ++i) {
    low = radii[i] < low ? radii[i] : low;
    high = radii[i] > high ? radii[i] : high;
  }
  return low >= merge_from && high - low <= merged_difference;
}

/// Rounded to nearest, ties up; radii are below 2^30.
SATIN_HD std::uint32_t merged_radius_of(const std::uint32_t (&radii)[4]) {
  return (radii[0] + radii[1] + radii[2] + radii[3] + 2) / 4;
}

struct LensSample {
  std::uint32_t colour[4];  ///< linear, premultiplied by alpha; then alpha in the same unit, if there is one
  std::int32_t x, y;        ///< inside the picture; of a block its upper left pixel
  std::uint32_t radius;     ///< of the circle of confusion, in 1/256 pixel
  std::uint16_t weight;     ///< in parts of lens_full_weight; of a block the sum over its pixels
  std::uint8_t block;       ///< 1: a pixel; 2: 2 x 2 pixels
  std::uint8_t group;       ///< 0 is the nearest
};

}  // namespace satin
