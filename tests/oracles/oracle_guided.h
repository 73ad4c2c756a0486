#pragma once
// The guided filter straight from its equations, in long double over every window.

#include <cstdint>
#include <vector>

#include "satin/border.h"
#include "satin/image.h"

namespace satin::test {

struct GuidedCase {
  std::int64_t reach_x = 0;
  std::int64_t reach_y = 0;
  double eps = 0;
  Border border = Border::shrink;
};

/// What the equations give for one channel at one pixel, in stored values (of colours times alpha, with
/// straight alpha), and how far rounding errors of a relative size of 1 can move it: by `sensitivity` times
/// that size.
struct GuidedValue {
  long double value = 0;
  long double steepest = 0;  ///< largest sum of |slopes| of the windows that cover the pixel
};

/// Every pixel, every channel in the order of the picture. Colours of a guide with straight alpha count times
/// alpha.
std::vector<GuidedValue> guided_by_definition(const ImageView& picture, const ImageView& guide,
                                              const GuidedCase& settings);

/// A value as the filter counts it: colours times straight alpha.
long double counted_value(const ImageView& image, std::int64_t x, std::int64_t y, int channel);

/// White of a colour, counted so.
long double counted_white(const Shape& shape);

}  // namespace satin::test
