#pragma once
// Signed radii of a plane, without a depth image.

#include <cstdint>

#include "core/operation.h"
#include "lens/maths/planar_radius.h"

namespace satin {

struct PlanarRadiiOperation;

struct PlanarRadiiJob {
  using Operation = PlanarRadiiOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PlanarFocus focus;
};

struct PlanarRadiiOperation : Operation {
  /// `radii` (one channel, i32) by planar_radius() of core/maths.
  virtual void run(const MutableImageView& radii, Stream stream) = 0;
};

}  // namespace satin
