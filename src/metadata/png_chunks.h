#pragma once
// The chunk structure of PNG files, for what the decoders do not tell.

#include "metadata/bytes.h"

namespace satin::io {

struct PngChunks {
  bool animated = false;  ///< has an acTL chunk
  bool complete = false;  ///< reaches its IEND chunk
  std::string bad_chunk;  ///< name of the first chunk with a wrong checksum; only looked for on request
  Bytes exif;             ///< content of the eXIf chunk
};

[[nodiscard]] bool sniff_png(Bytes bytes, std::string_view extension);
[[nodiscard]] PngChunks scan_png(Bytes bytes, bool check_sums);
[[nodiscard]] std::uint32_t crc32_of(Bytes bytes) noexcept;

/// Throws if the file is an animation.
void refuse_animation(const PngChunks& chunks);

}  // namespace satin::io
