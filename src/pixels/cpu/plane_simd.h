#pragma once
// One plane of rows of colours in bytes, with a version for every SIMD target.

#include <cstddef>
#include <cstdint>

#include "pixels/maths/plane.h"

namespace satin::cpu {

/// out[i] = plane_value() of pixel i, which has 3 or 4 channels.
void take_plane(const std::uint8_t* pixels, std::size_t count, const PlaneRead& plane, std::uint8_t* out);

}  // namespace satin::cpu
