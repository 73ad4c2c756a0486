#pragma once
// Pictures that are out of focus everywhere, by one radius.

#include <cstdint>

#include "satin/filters/dof.h"
#include "satin/image.h"

namespace satin::test {

/// `picture`, out of focus by `radius` pixels but for its corner; on a GPU the CPU must make the same.
Image out_of_focus(const Image& picture, double radius, const LensStyle& style, const Image& aperture = {});

/// A side of the pictures of a lamp of that radius.
inline std::int64_t size_for(double radius) { return 4 * static_cast<std::int64_t>(radius) + 41; }

/// Black, with one white pixel.
Image point_at(std::int64_t size, Type type, std::int64_t x, std::int64_t y);

}  // namespace satin::test
