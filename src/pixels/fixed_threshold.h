#pragma once
// Black and white by one threshold for all pixels: the plane that is compared, the rule, and the operation.

#include <cstdint>

#include "core/maths/hd.h"
#include "core/operation.h"
#include "pixels/maths/plane.h"
#include "satin/view.h"

namespace satin {

/// Returns the plane of a picture that thresholds compare: the first of one or two channels, otherwise
/// luminance.
[[nodiscard]] inline PlaneRead value_plane(const Shape& shape, int float_bits = 0) {
  PlaneRead plane;
  plane.type = shape.type;
  plane.channels = shape.channels;
  plane.channel = shape.channels >= 3 ? PlaneRead::weighted : 0;
  plane.order = shape.order;
  plane.float_bits = float_bits;
  return plane;
}

/// Returns the shape of a black and white result: u8, one channel, of the picture's size.
[[nodiscard]] inline Shape binary_shape(const Shape& shape) {
  Shape result = shape;
  result.channels = 1;
  result.type = Type::u8;
  result.alpha = Alpha::none;
  result.order = Order::rgb;
  return result;
}

struct FixedThresholdRule {
  PlaneRead plane;
  double level = 0;
  bool inverted = false;
};

/// Returns 255 for values above the level and 0 for others, or the reverse if inverted.
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

/// Bits of a float's magnitude that are kept when codes are counted; 16 bits with the sign.
inline constexpr int level_float_bits = 15;

struct FixedThresholdOperation : Operation {
  /// Counts the codes of the plane in a picture or a chunk of one, into host memory: 256 counts for u8, 65536
  /// otherwise. Returns how codes map to values. Waits.
  virtual Quantised count(const ImageView& picture, const Measured* measured, std::uint64_t* counts,
                          Stream stream) = 0;
  /// Compares every pixel with the level, by side_of().
  virtual void run(const ImageView& picture, double level, const MutableImageView& output, Stream stream) = 0;
};

}  // namespace satin
