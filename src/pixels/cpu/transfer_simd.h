#pragma once
// Rows of 8-bit codes to 16-bit linear light and back, with a version for every SIMD target.

#include <cstddef>
#include <cstdint>

#include "pixels/maths/pixel.h"

namespace satin::cpu {

/// values[i] = decode(codes[i], transfer)
void decode_row(const std::uint8_t* codes, std::size_t count, const TransferView& transfer,
                std::uint16_t* values);

/// codes[i] = encode(values[i], transfer), of 24-bit linear light.
void encode_row16(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                  std::uint16_t* codes);

/// codes[i] = encode(values[i], transfer)
void encode_row(const std::uint16_t* values, std::size_t count, const TransferView& transfer,
                std::uint8_t* codes);

}  // namespace satin::cpu
