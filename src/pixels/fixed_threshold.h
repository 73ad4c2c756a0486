#pragma once
// One threshold for all pixels.

#include <cstdint>

#include "core/maths/hd.h"
#include "core/operation.h"
#include "pixels/maths/plane.h"
#include "satin/view.h"

namespace satin {

// From a picture to black and white: which plane is looked at, and the shape of the result.

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

// One level for all pixels: black and white by the side of it that a value is on.

struct FixedThresholdRule {
  PlaneRead plane;  ///< what is compared
  double level = 0;
  bool inverted = false;
};

/// 255 where the value is above the level, otherwise 0; or the other way round.
SATIN_HD std::uint8_t side_of(double value, const FixedThresholdRule& rule) {
  return (value > rule.level) != rule.inverted ? 255 : 0;
}

struct FixedThresholdOperation;

struct FixedThresholdJob {
  using Operation = FixedThresholdOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PlaneRead plane;
  bool inverted = false;
};

/// Bits that floats are cut to before their codes are counted: 16 with the sign.
inline constexpr int level_float_bits = 15;

struct FixedThresholdOperation : Operation {
  /// How often each code of the plane occurs in the picture, or in a part of one, in host memory: 256 counts
  /// for u8, 65536 otherwise, and how codes and values belong together. Waits.
  virtual Quantised count(const ImageView& picture, const Measured* measured, std::uint64_t* counts,
                          Stream stream) = 0;
  /// 255 where the stored value is above `level`, otherwise 0.
  virtual void run(const ImageView& picture, double level, const MutableImageView& output, Stream stream) = 0;
};

}  // namespace satin
