#pragma once
// Turning pictures upright.

#include "codec.h"

namespace satin::io {

/// The orientation, 1 to 8, in an EXIF block that starts with its TIFF header; 1 if there is none or it is
/// malformed.
[[nodiscard]] int exif_orientation(Bytes exif) noexcept;

/// The picture as its orientation tag (1 to 8, as in EXIF and TIFF) wants it to be seen.
[[nodiscard]] Image upright(Image image, int orientation);

}  // namespace satin::io
