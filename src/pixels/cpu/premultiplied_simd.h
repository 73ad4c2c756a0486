#pragma once
// Rows of bytes with straight alpha, 2 or 4 channels, to premultiplied values and back as
// pixels/maths/premultiplied.h has it, with a version for every SIMD target. Values are u16, of linear light
// u32; `scratch` has room for the row.

#include <cstddef>
#include <cstdint>

#include "pixels/maths/premultiplied.h"

namespace satin::cpu {

template <class Value>
void premultiply_row(const std::uint8_t* stored, std::size_t pixels, int channels,
                     const PremultiplyRule& rule, std::uint16_t* scratch, Value* values);

/// Without a mask.
template <class Value>
void store_premultiplied_row(const Value* values, const std::uint8_t* original, std::size_t pixels,
                             int channels, const PremultiplyRule& rule, std::uint16_t* scratch,
                             std::uint8_t* out);

/// Colours times alpha, and alpha itself, of bytes; `light` has the linear light of the row, null: the codes
/// are taken.
template <class Sum>
void weigh_row(const std::uint8_t* stored, std::size_t pixels, int channels, const std::uint16_t* light,
               Sum* values);

}  // namespace satin::cpu
