#pragma once
// Expected results of blur(), computed from the definition by brute force.

#include <vector>

#include "satin/filters/blur.h"
#include "tests/oracles/oracle_sums.h"

namespace satin::test {

/// A blur with explicit radii.
struct OracleBlur {
  ImageView picture;
  std::vector<BoxRadii> boxes;  ///< successive boxes
  int largest_map_radius = 0;   ///< larger of a map's two radii, in 1/256 pixel
  Border border = Border::shrink;
  double border_value = 0;
  Space space = Space::linear;
  ImageView mask{};
  bool exclude = false;  ///< windows leave out pixels whose mask is 0
};

/// Returns the mask at a pixel, or 1 without a mask.
int mask_value(const ImageView& mask, int x, int y);

/// Returns the weighted number of pixels in the box around each pixel: those whose mask is not 0, and
/// those of a constant border.
std::vector<Wide> included_counts(const OracleBlur& blur, const BoxRadii& box);

/// Returns the radius nearest to `pixels` in 1/256 pixel, ties up.
int quantised(long double pixels);

/// Returns the radii of the boxes of a kernel that together reach `radius256`. Here and below, three boxes of
/// 4 pixels or more have whole radii except for the last.
std::vector<int> radii_of_reach(int radius256, int boxes);

/// Returns the radii of boxes whose variance is as close to sigma^2 as neighbouring radii allow.
std::vector<int> radii_of_sigma(long double sigma, int boxes);

/// Returns the radius of every pixel of a map of one channel, u8, u16 or f32.
std::vector<int> radii_of_map(const ImageView& map, int radius_at_0, int radius_at_maximum);

/// For 8- and 16-bit pictures: the exact rational mean at each pass.
Image oracle_integers(const OracleBlur& blur);

/// For float pictures: 40-bit fixed point, exact sums of boxes with whole radii, then double arithmetic in
/// the documented order.
Image oracle_floats(const OracleBlur& blur);

/// For float pictures: without any rounding except that of long double.
std::vector<long double> real_means(const OracleBlur& blur);

}  // namespace satin::test
