#pragma once
// EXIF blocks (a TIFF directory tree in one piece, CIPA DC-008): the few tags that speak of the pixels.

#include <optional>

#include "metadata/bytes.h"

namespace satin::io {

/// The orientation, 1 to 8, in an EXIF block that starts with its TIFF header; nothing if there is none or it
/// is malformed.
[[nodiscard]] std::optional<int> exif_orientation(Bytes exif) noexcept;

/// A block that says nothing but the orientation.
[[nodiscard]] FileBytes exif_of_orientation(int orientation);

/// Makes the block speak of a picture of this size and orientation, in place: those, the pixel dimensions,
/// and no picture as it was: previews of directories behind and below the first one, and values that hold an
/// encoded picture, such as maker notes. Their bytes are overwritten, not only unlinked, as are all bytes
/// that belong to no entry and no value: maker notes point at previews outside of themselves. A block that is
/// no EXIF becomes empty.
void describe_in_exif(FileBytes& exif, std::int64_t width, std::int64_t height, int orientation = 1);

}  // namespace satin::io
