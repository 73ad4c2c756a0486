#pragma once
// Connected components by flood fill, and their statistics by brute force.

#include <cstdint>
#include <string>
#include <vector>

#include "satin/image.h"
#include "satin/regions.h"

namespace satin::test {

struct FloodedRegions {
  std::vector<std::uint32_t> labels;  ///< dense
  std::uint32_t count = 0;
};

FloodedRegions flood(const ImageView& mask, int connectivity, bool zeros);

/// Returns "" if positions and sizes are those of the labels and, with an image, values are those under them;
/// otherwise the difference. Integers, minima and maxima are compared exactly, means and deviations to
/// 1e-15 of the largest value for u8 and u16 and to 1e-9 for floats.
std::string wrong_statistics(const Regions& found, const FloodedRegions& expected, const Shape& mask,
                             const ImageView& image);

}  // namespace satin::test
