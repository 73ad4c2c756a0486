#pragma once
// What blur() must give, from its definition and by brute force.

#include <vector>

#include "satin/filters/blur.h"
#include "tests/oracles/oracle_sums.h"

namespace satin::test {

/// A blur with all its radii worked out.
struct OracleBlur {
  ImageView picture;
  std::vector<BoxRadii> boxes;  ///< one after the other
  int largest_map_radius = 0;   ///< of a map: the larger of its two ends, in 1/256 pixel
  Border border = Border::shrink;
  double border_value = 0;
  Space space = Space::linear;
  ImageView mask{};
  bool exclude = false;  ///< pixels whose mask is 0 count in no window
};

/// The mask's value at a pixel; without a mask 1.
int mask_value(const ImageView& mask, int x, int y);

/// Weighted number of the pixels that count in the box around each pixel: those whose mask is not 0, and what
/// a constant border adds.
std::vector<Wide> included_counts(const OracleBlur& blur, const BoxRadii& box);

/// The radius nearest to `pixels` in 1/256 pixel, ties up.
int quantised(long double pixels);

/// Radii of the boxes of a kernel that reach `radius256` together. Here and below three boxes of 4 pixels or
/// more have whole radii, but for the last.
std::vector<int> radii_of_reach(int radius256, int boxes);

/// Radii of boxes whose variances come as near to sigma^2 as is possible with neighbouring radii.
std::vector<int> radii_of_sigma(long double sigma, int boxes);

/// Radius of every pixel of a map of one channel, u8, u16 or f32.
std::vector<int> radii_of_map(const ImageView& map, int radius_at_0, int radius_at_maximum);

/// 8- and 16-bit pictures: the exact rational mean at each pass.
Image oracle_integers(const OracleBlur& blur);

/// Float pictures: 40-bit fixed point, exact sums of whole boxes, then double arithmetic in the order that is
/// stated.
Image oracle_floats(const OracleBlur& blur);

/// Float pictures without any rounding but that of long double.
std::vector<long double> real_means(const OracleBlur& blur);

}  // namespace satin::test
