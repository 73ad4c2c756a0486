#pragma once
// Resolution in pixels per length, in the units of each format.

#include <optional>

#include "metadata/bytes.h"
#include "satin/metadata.h"

namespace satin::io {

/// Whole pixels per unit, as in JFIF and pHYs.
struct StoredResolution {
  std::uint32_t x = 0, y = 0;
  unsigned unit = 0;  ///< the format's number of the unit; 0: none
};

// Return nothing for numbers without information: 0, or square pixels without a unit.
[[nodiscard]] std::optional<Resolution> resolution_of_exif(Bytes exif);
[[nodiscard]] std::optional<Resolution> resolution_of_jfif(Bytes segment);
[[nodiscard]] std::optional<Resolution> resolution_of_physical(Bytes chunk);

// Return nothing if the numbers do not fit the format.
[[nodiscard]] std::optional<StoredResolution> jfif_of(const Resolution& resolution);
[[nodiscard]] std::optional<StoredResolution> physical_of(const Resolution& resolution);

/// Converts a resolution per metre to one per inch, because TIFF has only inches and centimetres.
[[nodiscard]] Resolution without_metres(const Resolution& resolution);

/// Exchanges x and y, also in the EXIF block, for a picture that is turned by 90 degrees.
void turn_resolution(Metadata& metadata);

}  // namespace satin::io
