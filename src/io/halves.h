#pragma once
// Pictures of half the size: the levels of a pyramid.

#include <vector>

#include "satin/view.h"

namespace satin::io {

/// The shapes of a picture and of the levels behind it, each half as wide and high as the one before, rounded
/// up, until `most` holds both sides.
[[nodiscard]] std::vector<Shape> pyramid_of(const Shape& picture, std::int64_t most);

/// Writes a row of the next level, of u8, u16 or f32: the mean of each two by two pixels of one or two dense
/// rows, rounded to nearest, ties up. At odd edges it is the mean of the pixels that exist. Straight colours
/// are weighted by alpha; where all of that is 0, every pixel counts the same.
void halve(const ImageView& rows, std::byte* target);

}  // namespace satin::io
