#pragma once
// Magnitudes of rows of floats, with a version for every SIMD target. Products of two floats are exact in
// double.

#include <cstddef>
#include <limits>

namespace satin::cpu {

/// Of finite values but 0.
struct Magnitudes {
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
};

struct FloatRange {
  Magnitudes colours;
  Magnitudes alphas;
  bool others = false;  ///< infinities or NaN among the values
};

/// Adds the magnitudes of a row's values to those of colours.
void measure_row(const float* values, std::size_t count, FloatRange& found);

/// Adds those of pixels with straight alpha, of colours times alpha where both are finite. 2 or 4 channels.
void measure_weighted_row(const float* values, std::size_t pixels, int channels, FloatRange& found);

}  // namespace satin::cpu
