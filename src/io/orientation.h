#pragma once
// Turning pictures upright.

#include "io/codec.h"

namespace satin::io {

/// The picture as its orientation tag (1 to 8, as in EXIF and TIFF) wants it to be seen.
[[nodiscard]] Image upright(Image image, int orientation, const Allocator& allocator);

}  // namespace satin::io
