#pragma once

#include <cstdint>

namespace satin {

/// A rectangle of whole pixels; (x, y) is its upper left one.
struct PixelBox {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;

  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

}  // namespace satin
