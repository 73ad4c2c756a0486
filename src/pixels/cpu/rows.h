#pragma once
// Rows of stored pixels as working values, and weights of masks.

#include <cstddef>
#include <cstdint>

#include "core/maths/fixed_point.h"
#include "pixels/maths/pixel.h"
#include "pixels/pixels.h"

namespace satin::cpu {

/// Returns the mask's weight of a pixel; 1 without a mask.
template <class T>
std::uint32_t mask_at(const ImageView& mask, std::int64_t x, std::int64_t y) {
  return mask.row<T>(y)[x];
}

inline std::uint32_t mask_at(const ImageView& mask, std::int64_t x, std::int64_t y) {
  if (mask.empty()) return 1;
  return mask.shape.type == Type::u8 ? mask_at<std::uint8_t>(mask, x, y) : mask_at<std::uint16_t>(mask, x, y);
}

/// How a row of stored pixels becomes working values.
struct RowReader {
  PixelRead read;
  TransferView transfer;
  FixedExponents exponents;  ///< for floats
  bool squared = false;      ///< only without alpha

  /// Whether stored colours are multiplied by alpha.
  [[nodiscard]] bool multiplies() const noexcept {
    return read.weighted || (read.premultiplied && read.type == Type::u8);
  }
  /// Whether the working values are the stored integers.
  [[nodiscard]] bool plain() const noexcept {
    return transfer.decode == nullptr && !squared &&
           (!multiplies() || read.type == Type::u32 || read.type == Type::u64);
  }
};

/// Returns the reader of one run. Floats need `measured`.
[[nodiscard]] RowReader row_reader(const PixelRead& read, const Measured* measured, bool squared = false);

/// Does what read_row() does for a Sum of 4 or 8 bytes.
void read_row_of(const RowReader& reader, const std::byte* source, std::size_t pixels, std::size_t sum_bytes,
                 void* values);

/// Reads the working values of one row, interleaved. Sum is u32 or u64. Floats that are not finite count as
/// 0.
template <class Sum>
void read_row(const RowReader& reader, const std::byte* source, std::size_t pixels, Sum* values) {
  read_row_of(reader, source, pixels, sizeof(Sum), values);
}

/// Calls use(values) with the working values of one row: the stored integers where these are the same,
/// otherwise `buffer`.
template <class Sum, class Use>
void with_values(const RowReader& reader, const std::byte* source, std::size_t pixels, Sum* buffer,
                 const Use& use) {
  if (reader.plain() && reader.read.type == Type::u8)
    return use(reinterpret_cast<const std::uint8_t*>(source));
  if (reader.plain() && reader.read.type == Type::u16)
    return use(reinterpret_cast<const std::uint16_t*>(source));
  read_row(reader, source, pixels, buffer);
  use(buffer);
}

}  // namespace satin::cpu
