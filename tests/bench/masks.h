#pragma once
// Masks that are active in a share of a picture.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "satin/image.h"

namespace satin::bench {

enum class Active {
  together,  ///< one rectangle in the middle
  scattered  ///< squares of 48 pixels anywhere
};

/// 8 bits, 255 in `percent` of the area and 0 elsewhere.
inline Image mask_of(std::int64_t width, std::int64_t height, double percent, Active where) {
  Image mask(Shape{width, height, 1, Type::u8});
  std::fill_n(mask.data(), byte_size(mask.shape()), std::byte{0});
  const auto wanted = static_cast<std::int64_t>(percent / 100 * static_cast<double>(width * height));
  std::int64_t active = 0;
  const auto fill = [&](std::int64_t left, std::int64_t top, std::int64_t right, std::int64_t bottom) {
    for (std::int64_t y = top; y < bottom; ++y)
      for (std::int64_t x = left; x < right; ++x) {
        auto& value = mask.view().value<std::uint8_t>(x, y);
        active += value == 0 ? 1 : 0;
        value = 255;
      }
  };
  if (where == Active::together) {
    const double side = std::sqrt(percent / 100);
    const auto half_width = static_cast<std::int64_t>(side * static_cast<double>(width) / 2);
    const auto half_height = static_cast<std::int64_t>(side * static_cast<double>(height) / 2);
    fill(width / 2 - half_width, height / 2 - half_height, width / 2 + half_width, height / 2 + half_height);
    return mask;
  }
  std::uint32_t state = 1;
  const auto below = [&state](std::int64_t end) {
    state = state * 1664525U + 1013904223U;
    return static_cast<std::int64_t>(state >> 8) % end;
  };
  while (active < wanted) {
    const std::int64_t left = below(width);
    const std::int64_t top = below(height);
    fill(left, top, std::min(left + 48, width), std::min(top + 48, height));
  }
  return mask;
}

}  // namespace satin::bench
