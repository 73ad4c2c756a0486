#pragma once
// Resizing by its definition: exact fractions for area, double sums over two dimensions for lanczos.

#include "satin/filters/resize.h"
#include "satin/image.h"

namespace satin::test {

/// Returns the picture resized by exact areas. Integers only.
Image oracle_area(const ImageView& picture, const ResizedBox& resized, Space space);

/// Fails unless `result` is what lanczos makes of the picture: within the rounding of the result, of values
/// between rows and columns, and of weights.
void expect_lanczos(const ImageView& result, const ImageView& picture, const ResizedBox& resized,
                    Space space);

}  // namespace satin::test
