#pragma once
// Depth images to radii on the device under test, and pictures made from formulas.

#include <functional>
#include <string>
#include <vector>

#include "satin/image.h"
#include "satin/lens_focus.h"

namespace satin::test {

struct RadiiResult {
  Image radii;  ///< bits of i32 as u32
  std::vector<std::string> warnings;
  std::string refused;  ///< why, for a focus outside the depth: radii are made all the same
  double strength = 0;  ///< in pixels for a value of 1

  [[nodiscard]] std::int32_t at(std::int64_t x, std::int64_t y) const {
    return radii.view().value<std::int32_t>(x, y);
  }
};

/// `depth` empty: it is in the picture's alpha. Rows of the result lie apart, and what is between them is
/// checked; on a GPU so is that the CPU gives the same.
RadiiResult radii_of(const Image& picture, const Image& depth, const LensFocus& focus);

/// One channel by a formula; what it gives is stored as it is (integers rounded).
Image plane_of(std::int64_t width, std::int64_t height, Type type,
               const std::function<double(std::int64_t x, std::int64_t y)>& value);

/// A black picture of three channels of u8.
Image dark_picture(std::int64_t width, std::int64_t height);

}  // namespace satin::test
