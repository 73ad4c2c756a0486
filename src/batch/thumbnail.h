#pragma once
// Small pictures for a page that shows many.

#include <cstdint>

#include "satin/image.h"

namespace satin::batch {

/// The host picture with its longer side at most `side` pixels: f32 in linear light, 1 or 3 channels, every
/// pixel the mean of those that it stands for; alpha is laid over grey squares. Integers are read as sRGB,
/// floats as linear light; values that are not 0 to 1 are clipped, NaN is black.
[[nodiscard]] Image thumbnail(const ImageView& picture, std::int64_t side);

}  // namespace satin::batch
