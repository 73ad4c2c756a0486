#pragma once
// Brush strokes as a mask.

#include <vector>

#include "satin/image.h"

namespace satin::view {

struct StrokePoint {
  double x = 0;  ///< in pixels of the picture, from its left edge
  double y = 0;
};

/// A line of places that a round brush goes along.
struct Stroke {
  std::vector<StrokePoint> points;
  double radius = 16;  ///< of the brush, in pixels
  double hardness =
      1;  ///< within this part of the radius the brush covers fully; beyond, it fades to the edge
  bool erase = false;
};

constexpr double largest_brush = 4096;

/// The mask of the strokes, one channel of 8 bits. The brush's cover of a pixel is a function of the distance
/// of its centre to the nearest segment: 1 up to hardness times radius, then falling evenly to 0 at the
/// radius, over one pixel at least. A stroke's cover a takes a mask m to m + a (1 - m), an erasing one to m
/// (1 - a).
[[nodiscard]] Image mask_of(const std::vector<Stroke>& strokes, std::int64_t width, std::int64_t height);

}  // namespace satin::view
