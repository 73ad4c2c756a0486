#pragma once
// Signed radii that a tilted lens gives to a plane: 0 in a band along a line, growing with the distance from
// it.

#include <cstdint>

#include "core/maths/hd.h"
#include "depth/maths/circle_of_confusion.h"
#include "pixels/maths/rows.h"

namespace satin {

struct PlanarFocus {
  double normal_x = 0;  ///< of the line, of length 1; points to what is near
  double normal_y = 1;
  double offset = 0;     ///< of the line: normal . place, in pixels
  double half_band = 0;  ///< pixels
  double slope = 0;      ///< 1/256 pixel of radius for a pixel of distance from the band
  double largest = 0;    ///< 1/256 pixel
};

SATIN_HD SignedRadius256 planar_radius(std::int64_t x, std::int64_t y, const PlanarFocus& focus) {
  const double along_x = focus.normal_x * (static_cast<double>(x) + 0.5);
  const double along_y = focus.normal_y * (static_cast<double>(y) + 0.5);
  const double distance = along_x + along_y - focus.offset;
  const double beyond = (distance < 0 ? -distance : distance) - focus.half_band;
  if (!(beyond > 0)) return 0;
  const double radius = beyond * focus.slope;
  const auto magnitude =
      static_cast<SignedRadius256>((radius < focus.largest ? radius : focus.largest) + 0.5);
  return distance < 0 ? -magnitude : magnitude;
}

struct RadiiOfPlane {
  PlanarFocus focus;
  Rows<SignedRadius256> radii;

  SATIN_HD void operator()(int x, int y) const { radii.row(y)[x] = planar_radius(x, y, focus); }
};

}  // namespace satin
