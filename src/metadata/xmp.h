#pragma once
// XMP packets (ISO 16684-1): the few properties that speak of the pixels.

#include "metadata/bytes.h"

namespace satin::io {

/// Makes the packet speak of an upright picture of this size: orientation 1, the pixel dimensions, no
/// thumbnails.
void describe_in_xmp(FileBytes& xmp, std::int64_t width, std::int64_t height);

}  // namespace satin::io
