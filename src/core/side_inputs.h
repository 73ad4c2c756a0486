#pragma once
// Checks that filters share. Shapes of width 0 stand for inputs that are not used. All throw Error(usage).

#include <cstdint>

#include "satin/image.h"
#include "satin/param.h"

namespace satin {

[[nodiscard]] inline Shape shape_of(const ImageView& view) { return view.empty() ? Shape{} : view.shape; }

/// Throws Error(usage) unless the side input, called `name` in the message, has the picture's size and one
/// frame or as many.
void check_side_size(const Shape& side, const Shape& picture, const char* name);
/// Checks a side input that has to have one channel.
void check_side_map(const Shape& side, const Shape& picture, const char* name);

/// A mask has one channel of type u8 or u16. Returns its largest value, 0 without a mask. Throws
/// Error(usage).
[[nodiscard]] std::uint32_t checked_mask_maximum(const Shape& mask, const Shape& picture);

/// A radius map, where there is one, has one channel of type u8, u16 or f32.
void check_radius_map(const Shape& map, const Shape& picture);

/// An input, called `name` in the message, is of type u8, u16 or f32.
void check_type(const Shape& shape, const char* name);

/// A parameter of this name is at least the minimum and at most the maximum.
void check_range(const char* name, double value, double minimum, double maximum);

/// The shape has pixels of u8, u16 or f32.
void check_pixels(const Shape& shape);

/// A radius of whole pixels, up to this one; percent of the longer side are rounded.
[[nodiscard]] std::int64_t whole_pixels(const Length& radius, const Shape& shape, double largest);

}  // namespace satin
