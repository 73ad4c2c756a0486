#pragma once
// The segments of JPEG files that describe the picture: EXIF and XMP in APP1, ICC profiles in APP2,
// IPTC in APP13.

#include "metadata/bytes.h"
#include "satin/metadata.h"

namespace satin::io {

/// The largest content of a segment.
constexpr std::size_t jpeg_segment_limit = 65533;
/// The longest EXIF block in a segment, behind its name.
constexpr std::size_t longest_jpeg_exif = jpeg_segment_limit - 6;
/// What the content of a segment with an XMP packet begins with.
constexpr std::string_view xmp_name{"http://ns.adobe.com/xap/1.0/\0", 29};

[[nodiscard]] bool sniff_jpeg(Bytes bytes, std::string_view extension);

/// The blocks before the first scan. A profile with a missing part is left out; extended XMP whose parts do
/// not make a whole is left out with a warning.
[[nodiscard]] Metadata jpeg_metadata(Bytes bytes, std::vector<std::string>& warnings);

struct JpegSegment {
  int marker = 0;  ///< 0xE1: APP1
  FileBytes content;
};

/// The blocks as segments. EXIF that does not fit (above 64 KiB) is left out.
[[nodiscard]] std::vector<JpegSegment> jpeg_segments(const Metadata& metadata);

}  // namespace satin::io
