#pragma once
// Recursive smoothing by its definition: pixel after pixel, in long double, over lines whose edge pixels are
// repeated until their weight is negligible.

#include <vector>

#include "satin/image.h"
#include "satin/param.h"

namespace satin::test {

struct OracleRecursive {
  ImageView picture;
  ImageView mask;  ///< empty: none
  Space space = Space::linear;
  bool guided = false;
  ImageView guide;           ///< guide of edge_smooth()
  long double contrast = 0;  ///< sigma_s / sigma_r
  struct Pass {
    bool along_x = true;
    long double feedback = 0;  ///< coefficient at distance 1
  };
  std::vector<Pass> passes;
};

/// Fails unless the result is the oracle's within one code (u8, u16) or 1e-6 of the largest value (f32).
/// Pixels whose alpha is too close to 0 or to a tie are only counted.
void expect_near_oracle(const OracleRecursive& oracle, const ImageView& result);

}  // namespace satin::test
