#pragma once
// The MD5 digest (RFC 1321), by which JPEG files name their extended XMP. It proves nothing about who wrote
// it.

#include <string>

#include "metadata/bytes.h"

namespace satin::io {

/// The digest as 32 digits, in upper case.
[[nodiscard]] std::string md5_of(Bytes bytes);

}  // namespace satin::io
