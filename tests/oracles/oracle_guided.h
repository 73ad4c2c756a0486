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

/// The value of one channel at one pixel by the equations, in stored values or, with straight alpha, in
/// colours times alpha. A relative rounding error e can change it by `sensitivity` times e.
struct GuidedValue {
  long double value = 0;
  long double steepest = 0;  ///< largest sum of |slopes| of a window that covers the pixel
};

/// Returns every channel of every pixel in the order of the picture. Colours of a guide with straight alpha
/// count times alpha.
std::vector<GuidedValue> guided_by_definition(const ImageView& picture, const ImageView& guide,
                                              const GuidedCase& settings);

/// Returns a value as the filter sums it: colours times straight alpha.
long double counted_value(const ImageView& image, std::int64_t x, std::int64_t y, int channel);

/// Returns the white of a colour in the same unit.
long double counted_white(const Shape& shape);

}  // namespace satin::test
