#pragma once
// How a result of another size lies on its picture.

#include <cstdint>

#include "satin/pixel_box.h"

namespace [[gnu::visibility("default")]] satin {

/// What a result of another size shows: a box of the upright picture, enlarged or reduced.
struct Framing {
  double width = 0, height = 0;                ///< size of the picture
  double x = 0, y = 0;                         ///< upper left corner of the box, in pixels of the picture
  double box_width = 0, box_height = 0;        ///< size of the box
  double result_width = 0, result_height = 0;  ///< size of the result

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
