#pragma once
// Checks of the pictures that a filter takes beside the one that it filters.

#include <cstdint>

#include "satin/image.h"

namespace satin {

/// One channel, the picture's size, one frame or as many as the picture has. Throws Error(usage) that names
/// the input.
void check_side_shape(const Shape& side, const Shape& picture, const char* name);

/// A blend weight: as above, and of type u8 or u16.
void check_mask(const Shape& mask, const Shape& picture);

/// The weight that stands for the whole: 255 or 65535, or 0 if there is no mask (width 0).
[[nodiscard]] std::uint32_t mask_maximum(const Shape& mask);

/// The shape of an optional input: width 0 if it is not used.
[[nodiscard]] Shape shape_of(const ImageView& view);

}  // namespace satin
