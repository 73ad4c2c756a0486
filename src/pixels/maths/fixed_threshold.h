#pragma once
// One level for all pixels: black and white by the side of it that a value is on.

#include <cstdint>

#include "core/maths/hd.h"
#include "pixels/maths/plane.h"

namespace satin {

struct FixedThresholdRule {
  PlaneRead plane;  ///< what is compared
  double level = 0;
  bool inverted = false;
};

/// 255 where the value is above the level, otherwise 0; or the other way round.
SATIN_HD std::uint8_t side_of(double value, const FixedThresholdRule& rule) {
  return (value > rule.level) != rule.inverted ? 255 : 0;
}

}  // namespace satin
