#pragma once
// XMP packets (ISO 16684-1): the few properties that speak of the pixels.

#include <optional>

#include "metadata/bytes.h"

namespace satin::io {

/// The orientation of the stored picture, 1 to 8: by EXIF, or by the packet (tiff:Orientation) where EXIF
/// says none; nothing if neither does.
[[nodiscard]] std::optional<int> stored_orientation(Bytes exif, Bytes xmp);

/// Makes the packet speak of a picture of this size and orientation: those, the pixel dimensions; no picture
/// in it, and no word of pictures that lay behind it in its file. The result is UTF-8. False for a packet
/// that is not well formed: it becomes empty, as nobody knows what it holds.
[[nodiscard]] bool describe_in_xmp(FileBytes& xmp, std::int64_t width, std::int64_t height,
                                   int orientation = 1);

}  // namespace satin::io
