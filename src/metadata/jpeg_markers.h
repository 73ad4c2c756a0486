#pragma once
// The segments of JPEG files that describe the picture: EXIF and XMP in APP1, ICC profiles in APP2,
// IPTC in APP13; where its parts lie (ITU-T T.81, annex B), and those of several in one file (CIPA DC-007,
// MPF).

#include <vector>

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
  unsigned marker = 0;  ///< 0xE1: APP1
  FileBytes content;
};

/// The blocks as segments. EXIF that does not fit (above 64 KiB) is left out.
[[nodiscard]] std::vector<JpegSegment> jpeg_segments(const Metadata& metadata);

/// One segment before the first scan.
struct JpegPart {
  unsigned marker = 0;  ///< 0xE1: APP1
  std::size_t at = 0;   ///< of its marker
  Bytes content;        ///< behind its length
};

/// The segments before the first scan, as far as they are whole.
[[nodiscard]] std::vector<JpegPart> jpeg_parts(Bytes file);

/// Bytes of the first JPEG of the file with its end marker; 0 if it does not end.
[[nodiscard]] std::size_t jpeg_size(Bytes file);

/// True if it is coded without loss (SOF3, SOF7, SOF11, SOF15), which few decoders read.
[[nodiscard]] bool is_lossless_jpeg(Bytes file);

/// The pictures that the index of a file names, the first one too; those that do not lie in the file are
/// empty. Nothing if there is no index.
[[nodiscard]] std::vector<Bytes> mpf_pictures(Bytes file);

/// Returns the offsets of the pictures that the index names beside the first one, without thumbnails, gain
/// maps, depth and mattes.
[[nodiscard]] std::vector<std::size_t> further_jpegs(Bytes file);

/// The first JPEG of a file as one that stands alone: without its XMP and its index, which speak of what lay
/// behind it. Empty if it does not end.
[[nodiscard]] FileBytes jpeg_alone(Bytes file);

}  // namespace satin::io
