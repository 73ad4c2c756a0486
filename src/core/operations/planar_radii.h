#pragma once
// Signed radii of a plane, without a depth image.

#include <cstdint>

#include "core/maths/planar_radius.h"
#include "core/operations/operation.h"

namespace satin {

struct PlanarRadiiJob {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PlanarFocus focus;
};

struct PlanarRadiiOperation : Operation {
  /// `radii` (one channel, i32) by planar_radius() of core/maths.
  virtual void run(const MutableImageView& radii, Stream stream) = 0;
};

}  // namespace satin
