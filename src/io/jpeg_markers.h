#pragma once
// The marker structure of JPEG files, for what the decoders do not tell.

#include "codec.h"

namespace satin::io {

[[nodiscard]] bool sniff_jpeg(Bytes bytes, std::string_view extension);

/// EXIF orientation of a JPEG file, 1 to 8.
[[nodiscard]] int jpeg_orientation(Bytes bytes) noexcept;

}  // namespace satin::io
