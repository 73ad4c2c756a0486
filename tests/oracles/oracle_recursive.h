#pragma once
// Recursive smoothing as its definition says: one pixel after the other, in long double, over lines whose
// edge pixels go on until nothing is left of them.

#include <vector>

#include "satin/image.h"
#include "satin/param.h"

namespace satin::test {

struct OracleRecursive {
  ImageView picture;
  ImageView mask;  ///< empty: none
  Space space = Space::linear;
  bool guided = false;
  ImageView guide;           ///< of guided smoothing
  long double contrast = 0;  ///< sigma_s / sigma_r
  struct Pass {
    bool along_x = true;
    long double feedback = 0;  ///< between neighbours at distance 1
  };
  std::vector<Pass> passes;
};

/// Fails unless the result is the oracle's: within one code (u8, u16), within 1e-6 of the largest value
/// (f32). Pixels whose alpha is too near to 0 or to its rounding to tell are not looked at, but for how many
/// they are.
void expect_near_oracle(const OracleRecursive& oracle, const ImageView& result);

}  // namespace satin::test
