#pragma once
// From a picture to black and white: which plane is looked at, and the shape of the result.

#include "pixels/maths/plane.h"
#include "satin/image.h"

namespace satin {

/// The first channel of a picture of one or two, the luminance of one of three or four.
[[nodiscard]] inline PlaneRead value_plane(const Shape& shape, int float_bits = 0) {
  PlaneRead plane;
  plane.type = shape.type;
  plane.channels = shape.channels;
  plane.channel = shape.channels >= 3 ? PlaneRead::weighted : 0;
  plane.order = shape.order;
  plane.float_bits = float_bits;
  return plane;
}

/// u8, one channel, of the picture's size.
[[nodiscard]] inline Shape binary_shape(const Shape& shape) {
  Shape result = shape;
  result.channels = 1;
  result.type = Type::u8;
  result.alpha = Alpha::none;
  result.order = Order::rgb;
  return result;
}

}  // namespace satin
