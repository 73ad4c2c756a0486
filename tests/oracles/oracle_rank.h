#pragma once
// median(), erode() and dilate() by brute force over all pixels of a window.

#include "satin/border.h"
#include "satin/image.h"
#include "satin/param.h"

namespace satin::test {

struct OracleRank {
  ImageView picture;  ///< one frame
  ImageView mask;     ///< may be empty
  double percent = 50;
  int radius_x = 0;
  int radius_y = 0;
  Border border = Border::shrink;
  double border_value = 0;
  ImageView radius_map{};  ///< may be empty; otherwise radii from radius_min to radius_max
  double radius_min = 0;   ///< radius in 1/256 pixel
  double radius_max = 0;
  bool excludes = false;
  double threshold = 0;  ///< as Median::threshold

  [[nodiscard]] int largest_radius_x() const;
  [[nodiscard]] int largest_radius_y() const;
};

/// A radius in whole pixels.
inline Radius pixels(int x, int y) {
  return {{static_cast<double>(x), false}, {static_cast<double>(y), false}};
}

/// The whole result.
Image oracle_rank(const OracleRank& oracle);

/// Returns "" if the result has the right bytes at `count` pixels: the corners, the middle and others at
/// random.
std::string sampled_difference(const OracleRank& oracle, const ImageView& result, int count,
                               std::uint64_t seed);

}  // namespace satin::test
