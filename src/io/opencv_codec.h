#pragma once
// Decoding and encoding by the OpenCV module.

#include "io/codec.h"

namespace satin::io {

/// Loads the module. Throws Error(environment) if it is not installed.
void require_opencv();

/// `format` is for messages.
[[nodiscard]] Image decode_with_opencv(const char* format, Bytes bytes, const ReadOptions& options);

/// A u8 picture; `extension` with its dot.
[[nodiscard]] FileBytes encode_with_opencv(const char* format, const ImageView& image, const char* extension,
                                           int quality);

}  // namespace satin::io
