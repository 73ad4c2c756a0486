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

/// "" if places and sizes are those of the labels and, where there is an image, values are those under them;
/// otherwise what is not. Integers and minima and maxima exactly; means and deviations of u8 and u16 to 1e-15
/// of the largest value, of floats to 1e-9.
std::string wrong_statistics(const Regions& found, const FloodedRegions& expected, const Shape& mask,
                             const ImageView& image);

}  // namespace satin::test
