#pragma once
// Rows of bytes with straight alpha, 2 or 4 channels, to premultiplied values and back as
// core/maths/premultiplied.h has it, with a version for every SIMD target.

#include <cstddef>
#include <cstdint>

#include "core/maths/premultiplied.h"

namespace satin::cpu {

void premultiply_row(const std::uint8_t* stored, std::size_t pixels, int channels,
                     const PremultiplyRule& rule, std::uint16_t* values);

/// Without a mask. `light` has room for the row.
void store_premultiplied_row(const std::uint16_t* values, const std::uint8_t* original, std::size_t pixels,
                             int channels, const PremultiplyRule& rule, std::uint16_t* light,
                             std::uint8_t* out);

}  // namespace satin::cpu
