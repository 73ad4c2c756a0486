#pragma once
// Base 64 (RFC 4648, section 4), as XMP holds pictures.

#include <optional>
#include <string>
#include <string_view>

#include "metadata/bytes.h"

namespace satin::io {

/// The bytes; blanks and the padding are passed over. Nothing for any other sign, or half a byte.
[[nodiscard]] std::optional<FileBytes> from_base64(std::string_view text);

/// Base 64 with padding and without blanks.
[[nodiscard]] std::string to_base64(Bytes bytes);

}  // namespace satin::io
