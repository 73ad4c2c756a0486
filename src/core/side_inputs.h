#pragma once
// Checks that filters with side inputs share. Shapes of width 0 stand for inputs that are not used.

#include <cstdint>

#include "satin/image.h"

namespace satin {

[[nodiscard]] inline Shape shape_of(const ImageView& view) { return view.empty() ? Shape{} : view.shape; }

/// Throws Error(usage) unless the side input, called `name` in the message, has the picture's size and one
/// frame or as many.
void check_side_size(const Shape& side, const Shape& picture, const char* name);
/// The same for one that has to have one channel.
void check_side_map(const Shape& side, const Shape& picture, const char* name);

/// A mask has one channel of type u8 or u16. Returns its largest value, 0 without a mask. Throws
/// Error(usage).
[[nodiscard]] std::uint32_t checked_mask_maximum(const Shape& mask, const Shape& picture);

}  // namespace satin
