#pragma once
// The part of a picture that the page shows.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "satin/image.h"

namespace satin::view {

struct Viewport {
  double x = 0;  ///< of the canvas's corner, in pixels of the picture
  double y = 0;
  double zoom = 1;         ///< canvas pixels a picture pixel
  std::int64_t width = 0;  ///< of the canvas
  std::int64_t height = 0;
};

constexpr std::int64_t largest_viewport = 8192;

/// The level of the picture that has a pixel for every canvas pixel at least.
[[nodiscard]] int level_for(const Viewport& viewport, const Shape& picture);

/// RGBA. `level` is the picture's level of this number, 8 bits with straight alpha, which is composited on
/// white; outside the picture alpha is 0. Level 0 at a zoom of 1 or more is shown pixel by pixel, others are
/// interpolated.
[[nodiscard]] std::string cut(const Image& level, int number, const Shape& picture, const Viewport& viewport);

/// Red, green and blue of the pixel of this level at a place in the picture; nothing outside.
[[nodiscard]] std::optional<std::vector<int>> colour_at(const Image& level, int number, const Shape& picture,
                                                        double x, double y);

}  // namespace satin::view
