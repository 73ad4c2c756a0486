#pragma once
// Thumbnails for the gallery.

#include <cstdint>

#include "satin/image.h"

namespace satin::batch {

/// Reduces a host picture until its longer side is at most `side` pixels. The result is f32 in linear light
/// with 1 or 3 channels. Every pixel is the mean of the pixels that it covers, and alpha is composited over a
/// checkerboard. Integers are decoded as sRGB, floats are linear light. Values are clipped to 0 to 1, and NaN
/// becomes black.
[[nodiscard]] Image thumbnail(const ImageView& picture, std::int64_t side);

}  // namespace satin::batch
