#pragma once
// erode() and dilate() by brute force: every pixel that the window holds is looked at.

#include "satin/border.h"
#include "satin/image.h"

namespace satin::test {

struct OracleExtreme {
  ImageView picture;  ///< one frame
  ImageView mask;     ///< may be empty
  bool largest = false;
  int radius_x = 0;
  int radius_y = 0;
  Border border = Border::shrink;
  double border_value = 0;
};

/// The whole result.
Image oracle_extreme(const OracleExtreme& oracle);

/// "" if the result has the right bytes at `count` pixels: the corners, the middle and others at random.
std::string sampled_difference(const OracleExtreme& oracle, const ImageView& result, int count,
                               std::uint64_t seed);

}  // namespace satin::test
