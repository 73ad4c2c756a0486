#pragma once
// Local statistics by their definition, window by window.

#include <cstdint>
#include <vector>

#include "satin/image.h"
#include "tests/oracles/oracle_line.h"

namespace satin::test {

using Real = long double;

/// One plane of values as stored.
struct Plane {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<double> values;
  [[nodiscard]] double at(std::int64_t x, std::int64_t y) const {
    return values[static_cast<std::size_t>(y * width + x)];
  }
};

[[nodiscard]] double stored(const ImageView& view, std::int64_t x, std::int64_t y, int c);

/// One channel.
[[nodiscard]] Plane plane_of(const ImageView& picture, int channel);
/// Channel 0, or the luminance of colours.
[[nodiscard]] Plane luminance_of(const ImageView& picture);

struct Local {
  Real mean = 0;
  Real deviation = 0;
};

/// Mean and deviation around every pixel, row by row; the deviation takes two passes.
[[nodiscard]] std::vector<Local> all_local(const Plane& plane, int window, Border border);

}  // namespace satin::test
