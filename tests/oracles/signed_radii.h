#pragma once
// Signed radii of depth images on the device under test, and pictures by formulas.

#include <functional>
#include <string>
#include <vector>

#include "satin/image.h"
#include "satin/lens_focus.h"

namespace satin::test {

struct RadiiResult {
  Image radii;  ///< bits of i32 as u32
  std::vector<std::string> warnings;
  std::string refused;  ///< message for a focus outside the depth; radii are valid all the same
  double strength = 0;  ///< pixels for a value of 1
  double focus = 0;     ///< value that is sharp

  [[nodiscard]] std::int32_t at(std::int64_t x, std::int64_t y) const {
    return radii.view().value<std::int32_t>(x, y);
  }
};

/// Returns the radii of a depth image; `depth` empty: the depth is in the picture's alpha. Checks that
/// nothing is written between the rows of the result, and on a GPU that the CPU gives the same.
RadiiResult radii_of(const Image& picture, const Image& depth, const LensFocus& focus);

/// Returns an image of one channel with the stored values of a formula, rounded for integers.
Image plane_of(std::int64_t width, std::int64_t height, Type type,
               const std::function<double(std::int64_t x, std::int64_t y)>& value);

/// Returns a black picture of three u8 channels.
Image dark_picture(std::int64_t width, std::int64_t height);

}  // namespace satin::test
