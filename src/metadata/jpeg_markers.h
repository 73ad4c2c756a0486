#pragma once
// The segments of JPEG files that describe the picture: EXIF and XMP in APP1, ICC profiles in APP2,
// IPTC in APP13.

#include "metadata/bytes.h"
#include "satin/metadata.h"

namespace satin::io {

[[nodiscard]] bool sniff_jpeg(Bytes bytes, std::string_view extension);

/// The blocks before the first scan. A profile with a missing part is left out.
[[nodiscard]] Metadata jpeg_metadata(Bytes bytes);

struct JpegSegment {
  int marker = 0;  ///< 0xE1: APP1
  FileBytes content;
};

/// The blocks as segments. What does not fit (EXIF or XMP above 64 KiB) is left out.
[[nodiscard]] std::vector<JpegSegment> jpeg_segments(const Metadata& metadata);

}  // namespace satin::io
