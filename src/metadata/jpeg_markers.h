#pragma once
// The segments of JPEG files (ITU-T T.81, annex B): EXIF and XMP in APP1, ICC profiles in APP2, IPTC in
// APP13, and the index of several pictures in one file (MPF, CIPA DC-007).

#include <vector>

#include "metadata/bytes.h"
#include "satin/metadata.h"

namespace satin::io {

/// Largest content of a segment.
constexpr std::size_t jpeg_segment_limit = 65533;
/// Longest EXIF block in a segment, after its name.
constexpr std::size_t longest_jpeg_exif = jpeg_segment_limit - 6;
/// Start of the content of a segment with an EXIF block.
constexpr std::string_view exif_name{"Exif\0\0", 6};
/// Start of the content of a segment with an XMP packet.
constexpr std::string_view xmp_name{"http://ns.adobe.com/xap/1.0/\0", 29};

/// Start of the content of an APP2 segment about a gain map (ISO 21496-1, annex C).
constexpr std::string_view iso_gain_map_name{"urn:iso:std:iso:ts:21496:-1\0", 28};

[[nodiscard]] bool sniff_jpeg(Bytes bytes, std::string_view extension);

/// Reads the metadata before the first scan. An incomplete profile is dropped; incomplete extended XMP is
/// dropped with a warning.
[[nodiscard]] Metadata jpeg_metadata(Bytes bytes, std::vector<std::string>& warnings);

struct JpegSegment {
  unsigned marker = 0;  ///< 0xE1: APP1
  FileBytes content;
};

/// Returns the metadata as segments. EXIF above 64 KiB does not fit and is dropped.
[[nodiscard]] std::vector<JpegSegment> jpeg_segments(const Metadata& metadata);

/// Returns the offset of the next marker from `at` on, or the file's size if there is none.
[[nodiscard]] std::size_t marker_from(Bytes file, std::size_t at);

/// A segment in a file.
struct PlacedSegment {
  unsigned marker = 0;  ///< 0xE1: APP1
  std::size_t at = 0;   ///< offset of its marker
  Bytes content;        ///< bytes after its length
};

/// Returns the segments before the first scan, up to the first incomplete one.
[[nodiscard]] std::vector<PlacedSegment> placed_segments(Bytes file);

/// Returns the size of the first JPEG of the file including its end marker, or 0 if that is missing.
[[nodiscard]] std::size_t jpeg_size(Bytes file);

/// Whether the coding is lossless (SOF3, SOF7, SOF11, SOF15), which few decoders read.
[[nodiscard]] bool is_lossless_jpeg(Bytes file);

/// Returns the pictures that the index of a file names, including the first one; empty entries for those that
/// are not inside the file. Returns nothing if there is no index.
[[nodiscard]] std::vector<Bytes> mpf_pictures(Bytes file);

/// Returns the offsets of the pictures that the index names beside the first one, without thumbnails, gain
/// maps, depth and mattes.
[[nodiscard]] std::vector<std::size_t> further_jpegs(Bytes file);

/// Returns the first JPEG of a file without its XMP, its index and the mark of its gain map, which refer to
/// other pictures in the file.
/// Empty if its end marker is missing.
[[nodiscard]] FileBytes jpeg_alone(Bytes file);

}  // namespace satin::io
