#pragma once
// What the directory of a TIFF page says of its pixels.

#include "io/tiff_file.h"

namespace satin::io {

struct TiffLayout {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t samples = 1;
  std::uint16_t bits = 1;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  std::uint16_t planar = PLANARCONFIG_CONTIG;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t orientation = ORIENTATION_TOPLEFT;
  bool separate = false;  ///< planes one after the other
  Type type = Type::u8;
  Alpha alpha = Alpha::none;  ///< as stored

  /// Integers with premultiplied alpha are straightened.
  [[nodiscard]] Alpha pixel_alpha() const noexcept {
    const bool straightened = alpha == Alpha::premultiplied && (type == Type::u8 || type == Type::u16);
    return straightened ? Alpha::straight : alpha;
  }
};

/// Error(input) with what libtiff complained of, which is then forgotten.
[[noreturn]] void fail(TiffFile& file);

/// As camera RAW has it: the picture is behind a pointer.
[[nodiscard]] bool has_preview_first(TIFF* tiff);

/// The current directory. Throws Error(input) for pixels that are not read.
[[nodiscard]] TiffLayout read_layout(TIFF* tiff);

}  // namespace satin::io
