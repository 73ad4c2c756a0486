#pragma once
// XMP packets (ISO 16684-1): the few properties that speak of the pixels.

#include "metadata/bytes.h"

namespace satin::io {

/// Makes the packet speak of a picture of this size and orientation: those, the pixel dimensions; no picture
/// in it, and no word of pictures that lay behind it in its file. The result is UTF-8. False for a packet
/// that is not well formed: it becomes empty, as nobody knows what it holds.
[[nodiscard]] bool describe_in_xmp(FileBytes& xmp, std::int64_t width, std::int64_t height,
                                   int orientation = 1);

}  // namespace satin::io
