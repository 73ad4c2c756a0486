#pragma once
// Local statistics by their definition, window by window.

#include <cstdint>
#include <vector>

#include "satin/image.h"
#include "tests/oracles/oracle_line.h"

namespace satin::test {

using Real = long double;

/// A plane of stored values.
struct Plane {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<double> values;
  [[nodiscard]] double at(std::int64_t x, std::int64_t y) const {
    return values[static_cast<std::size_t>(y * width + x)];
  }
};

[[nodiscard]] double stored(const ImageView& view, std::int64_t x, std::int64_t y, int c);

/// Returns one channel as a plane.
[[nodiscard]] Plane plane_of(const ImageView& picture, int channel);
/// Returns channel 0, or the luminance of colours.
[[nodiscard]] Plane luminance_of(const ImageView& picture);

struct Local {
  Real mean = 0;
  Real deviation = 0;
};

/// Returns mean and deviation around every pixel, row by row. The deviation is computed in two passes.
[[nodiscard]] std::vector<Local> all_local(const Plane& plane, int window, Border border);

}  // namespace satin::test
