#pragma once
// Gain maps in JPEG files, not decoded, and their parameters in three forms: binary (ISO 21496-1, annex C),
// XMP (Ultra HDR 1.1, `hdrgm:`), and Apple's.
//
// The map is a JPEG file behind the picture, named by the MPF index or by a container in the picture's XMP.
// Its own segments hold the parameters.

#include <optional>
#include <span>
#include <string>
#include <variant>

#include "metadata/bytes.h"
#include "metadata/jpeg_markers.h"
#include "metadata/xmp.h"
#include "satin/gain_map.h"

namespace satin::io {

/// Throws Error(input): the gain map cannot be used.
[[noreturn]] void refuse_gain_map(const std::string& what);

/// Reads binary parameters. Throws Error(input) for versions above 0, denominators of 0 and missing bytes.
[[nodiscard]] GainMapMetadata read_iso_gain_map(Bytes block);

/// Returns binary parameters of version 0. Numbers are multiples of 2^-24.
[[nodiscard]] FileBytes iso_gain_map(const GainMapMetadata& metadata);

/// Reads parameters from the XMP of a map; nothing if it has none. Throws Error(input) for versions other
/// than 1, missing parameters and texts that are not numbers.
[[nodiscard]] std::optional<GainMapMetadata> read_xmp_gain_map(const XmpNode& xmp);

/// Returns the XMP packet of a map.
[[nodiscard]] std::string xmp_gain_map(const GainMapMetadata& metadata);

/// Returns the XMP packet of a picture whose map is a JPEG file of this many bytes.
[[nodiscard]] std::string xmp_with_gain_map(std::size_t map_bytes);

/// Returns the headroom of Apple's map from its own XMP, or else from the maker notes of its picture, in
/// which a missing number counts as 0. Throws Error(input) if none has it.
[[nodiscard]] double apple_headroom_of(const std::optional<XmpNode>& xmp, Bytes exif);

/// A gain map in a JPEG file.
struct GainMapItem {
  Bytes jpeg;  ///< the map as a JPEG file
  GainMapOrigin origin = GainMapOrigin::ultra_hdr_xmp;
  std::variant<GainMapMetadata, double> terms;  ///< parameters, or Apple's headroom
  std::optional<int> orientation;               ///< orientation of the stored picture, if its file says it
};

/// Returns the gain map of a JPEG file; nothing if it has none. Binary parameters have precedence over XMP.
/// Throws Error(input) for a map that is named but is not in the file, and for invalid parameters.
[[nodiscard]] std::optional<GainMapItem> find_gain_map(Bytes file);

/// Returns the JPEG file with these segments behind the metadata that it has.
[[nodiscard]] FileBytes with_segments(Bytes jpeg, std::span<const JpegSegment> segments);

/// Returns both JPEG files as one, with an MPF index.
[[nodiscard]] FileBytes joined_jpegs(Bytes picture, Bytes map);

}  // namespace satin::io
