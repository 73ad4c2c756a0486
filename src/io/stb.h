#pragma once
// stb_image and stb_image_write behind functions that know when a file ends too early.

#include "io/codec.h"

namespace satin::io {

/// Decodes PNG and JPEG in a build without their own libraries. stb fills what is missing from a file with
/// zeros; here every read behind the end of the data is noticed and refused. `format` is for messages.
[[nodiscard]] Image decode_with_stb(const char* format, Bytes bytes, const ReadOptions& options);

/// Baseline JPEG of 1 or 3 channels.
[[nodiscard]] FileBytes encode_jpeg_with_stb(const ImageView& image, int quality);

/// A zlib stream.
[[nodiscard]] FileBytes deflate_with_stb(Bytes bytes);

}  // namespace satin::io
