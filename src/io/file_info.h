#pragma once
// What satin/file_info.h tells of a file.

#include "io/codec.h"
#include "satin/file_info.h"

namespace satin::io {

/// By the codec of the file.
[[nodiscard]] FileInfo file_info(const Codec& codec, Bytes bytes, const ReadOptions& options);

}  // namespace satin::io
