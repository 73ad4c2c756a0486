#pragma once
// How a result of another size lies on its picture.

#include <cstdint>

#include "satin/pixel_box.h"

namespace [[gnu::visibility("default")]] satin {

/// The part of a picture that a result of another size shows: a box of the upright picture, enlarged or
/// reduced.
struct Framing {
  double width = 0;          ///< columns of the picture
  double height = 0;         ///< rows of the picture
  double x = 0;              ///< left edge of the box, in pixels of the picture
  double y = 0;              ///< upper edge of the box
  double box_width = 0;      ///< width of the box, in pixels of the picture
  double box_height = 0;     ///< height of the box
  double result_width = 0;   ///< columns of the result
  double result_height = 0;  ///< rows of the result

  /// The result shows all of a picture in its own size.
  static Framing whole(double width, double height) {
    return {width, height, 0, 0, width, height, width, height};
  }
  /// The result shows a box of whole pixels.
  static Framing of(double width, double height, const PixelBox& box, std::int64_t result_width,
                    std::int64_t result_height) {
    return {width,
            height,
            static_cast<double>(box.x),
            static_cast<double>(box.y),
            static_cast<double>(box.width),
            static_cast<double>(box.height),
            static_cast<double>(result_width),
            static_cast<double>(result_height)};
  }
  /// Whether a part of the picture was cut off.
  [[nodiscard]] bool cuts() const noexcept { return box_width != width || box_height != height; }
  /// Whether the result differs in size or position.
  [[nodiscard]] bool changes() const noexcept {
    return cuts() || result_width != width || result_height != height;
  }
};

}  // namespace satin
