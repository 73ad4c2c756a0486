#pragma once
// Pixels per length, in the units of each format.

#include <optional>

#include "metadata/bytes.h"
#include "satin/metadata.h"

namespace satin::io {

/// Whole numbers of pixels, as JFIF and pHYs have them.
struct StoredResolution {
  std::uint32_t x = 0, y = 0;
  unsigned unit = 0;  ///< as the format counts units; 0: none
};

/// Nothing where the numbers say nothing: 0, or square pixels without a unit.
[[nodiscard]] std::optional<Resolution> resolution_of_exif(Bytes exif);
[[nodiscard]] std::optional<Resolution> resolution_of_jfif(Bytes segment);
[[nodiscard]] std::optional<Resolution> resolution_of_physical(Bytes chunk);

/// Nothing if the numbers do not fit.
[[nodiscard]] std::optional<StoredResolution> jfif_of(const Resolution& resolution);
[[nodiscard]] std::optional<StoredResolution> physical_of(const Resolution& resolution);

/// Per inch if it was per metre: TIFF knows inches and centimetres.
[[nodiscard]] Resolution without_metres(const Resolution& resolution);

/// Exchanges both directions, in the EXIF block too, for a picture that lay on its side.
void turn_resolution(Metadata& metadata);

}  // namespace satin::io
