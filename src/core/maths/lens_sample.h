#pragma once
// What a lens spreads: points of the scene, each with its colour and its circle of confusion.

#include <cstdint>

namespace satin {

/// The weight of a sample that covers its pixel wholly.
inline constexpr std::uint32_t lens_full_weight = 1U << 12;

/// Radii are in 1/256 pixel. Those up to this one, 0.6 pixels, are in focus: the sample stays on its pixel.
inline constexpr std::uint32_t lens_focus_radius = 153;

struct LensSample {
  std::uint32_t colour[4];  ///< linear, premultiplied by alpha; then alpha in the same unit, if there is one
  std::int32_t x, y;        ///< inside the picture; of a block its upper left pixel
  std::uint32_t radius;     ///< of the circle of confusion, in 1/256 pixel
  std::uint16_t weight;     ///< in parts of lens_full_weight; of a block the sum over its pixels
  std::uint8_t block;       ///< 1: a pixel; 2: 2 x 2 pixels
  std::uint8_t group;       ///< 0 is the nearest
};

}  // namespace satin
