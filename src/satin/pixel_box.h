#pragma once

#include <cstdint>

namespace [[gnu::visibility("default")]] satin {

/// A rectangle of whole pixels; (x, y) is its upper left pixel.
struct PixelBox {
  std::int64_t x = 0;       ///< left column
  std::int64_t y = 0;       ///< upper row
  std::int64_t width = 0;   ///< columns
  std::int64_t height = 0;  ///< rows

  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

}  // namespace satin
