#pragma once
// Checks of inputs and parameters that filters share. All throw Error(usage). A shape of width 0 means that
// an input is not used.

#include <algorithm>
#include <cstdint>

#include "satin/image.h"
#include "satin/param.h"

namespace satin {

[[nodiscard]] inline Shape shape_of(const ImageView& view) { return view.empty() ? Shape{} : view.shape; }

/// Checks that the side input, called `name` in messages, has the picture's size, or its aspect if
/// the filter scales it, and one frame or as many.
void check_side_size(const Shape& side, const Shape& picture, const char* name, bool scales = false);
/// Checks the size of a side input, and that it has one channel.
void check_side_map(const Shape& side, const Shape& picture, const char* name, bool scales = false);

/// Checks that a mask, called `name` in messages, has one channel of type u8 or u16. Returns its largest
/// value, 0 without a mask.
[[nodiscard]] std::uint32_t checked_mask_maximum(const Shape& mask, const Shape& picture,
                                                 const char* name = "mask");

/// Checks that a radius map, if used, has one channel of type u8, u16 or f32, and the picture's aspect.
void check_radius_map(const Shape& map, const Shape& picture);

/// Checks that an input is of type u8, u16 or f32.
void check_type(const Shape& shape, const char* name);

/// Checks that a parameter is from `minimum` to `maximum`.
void check_range(const char* name, double value, double minimum, double maximum);

/// Checks that a shape is valid and has pixels of type u8, u16 or f32.
void check_pixels(const Shape& shape);

/// Returns the longer side of a picture, of which percentages are.
[[nodiscard]] inline double longer_side(const Shape& shape) {
  return static_cast<double>(std::max(shape.width, shape.height));
}

/// Returns the larger of the radii along the two axes, in pixels.
[[nodiscard]] inline double larger_radius(const Radius& radius, const Shape& shape) {
  return std::max(radius.x.pixels(longer_side(shape)), radius.y.pixels(longer_side(shape)));
}

/// Returns a radius in whole pixels, at most `largest`. Rounds percentages, which are of the longer side.
[[nodiscard]] std::int64_t whole_pixels(const Length& radius, const Shape& shape, double largest);

}  // namespace satin
