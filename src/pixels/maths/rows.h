#pragma once
// Rows of an interleaved image in the memory of one device, for steps that host and device share.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "satin/view.h"

namespace satin {

/// Rows of elements of type T, which is const for an image that is only read.
template <class T>
struct Rows {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;

  Byte* data = nullptr;
  std::int64_t distance = 0;  ///< bytes to the next row, of any sign

  Rows() = default;
  explicit Rows(const BasicImageView<Byte>& view) : data(view.data), distance(view.strides.row) {}

  SATIN_HD T* row(std::int64_t y) const { return reinterpret_cast<T*>(data + y * distance); }
};

/// The weights of a mask of type u8 or u16, or of no mask.
struct MaskRows {
  Rows<const std::byte> rows;
  std::uint32_t maximum = 0;  ///< 255 or 65535; 0: no mask

  MaskRows(const ImageView& view, std::uint32_t mask_maximum) : rows(view), maximum(mask_maximum) {}

  /// Returns the weight of a pixel; 0 without a mask.
  SATIN_HD std::uint32_t weight(std::int64_t x, std::int64_t y) const {
    if (maximum == 0) return 0;
    const std::byte* row = rows.row(y);
    return maximum == 0xFF ? reinterpret_cast<const std::uint8_t*>(row)[x]
                           : reinterpret_cast<const std::uint16_t*>(row)[x];
  }
};

}  // namespace satin
