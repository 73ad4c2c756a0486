#pragma once
// Pixels of a profile as a screen for sRGB shows them.

#include <optional>

#include "metadata/bytes.h"
#include "satin/image.h"

namespace satin::io {

/// The picture converted from its profile to sRGB: relative colorimetric with black point compensation, by
/// Little CMS. The picture has 3 or 4 channels of 8 bits, alpha stays. Nothing where the pixels may stay as
/// they are: for an empty profile, one of other than RGB, one that is sRGB's but for rounding, and in builds
/// without Little CMS.
[[nodiscard]] std::optional<Image> in_srgb(const ImageView& picture, Bytes profile);

}  // namespace satin::io
