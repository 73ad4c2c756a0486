#pragma once
// Pictures that are out of focus everywhere, by one radius.

#include <cstdint>

#include "satin/filters/dof.h"
#include "satin/image.h"

namespace satin::test {

/// Blurs `picture` by `radius` pixels except for one corner. On a GPU, also checks that the CPU gives the
/// same.
Image out_of_focus(const Image& picture, double radius, const LensStyle& style, const Image& aperture = {});

/// Side of a picture of a lamp of this radius.
inline std::int64_t size_for(double radius) { return 4 * static_cast<std::int64_t>(radius) + 41; }

/// Black, with one white pixel.
Image point_at(std::int64_t size, Type type, std::int64_t x, std::int64_t y);

}  // namespace satin::test
