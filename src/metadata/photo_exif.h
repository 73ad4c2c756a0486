#pragma once
// What EXIF blocks say of lens and focus (CIPA DC-008), and places in pictures that orientation turns.

#include <optional>

#include "metadata/bytes.h"
#include "satin/photo_depth.h"

namespace satin::io {

/// A place of the stored picture, as parts of its width and height, in percent of the upright one.
[[nodiscard]] Point upright_point(double x, double y, int orientation);

/// The middle of SubjectArea in a picture of this stored size, unless the block tells another, and
/// orientation; nothing if it tells no area inside.
[[nodiscard]] std::optional<PhotoFocus> exif_focus(Bytes exif, std::int64_t width, std::int64_t height,
                                                   int orientation);

/// FocalLengthIn35mmFilm, in mm.
[[nodiscard]] std::optional<double> exif_focal_length(Bytes exif);

}  // namespace satin::io
