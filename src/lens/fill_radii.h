#pragma once
// Unknown radii from the known ones around them.

#include <cstdint>

#include "core/operation.h"
#include "lens/maths/fill_radii.h"

namespace satin {

struct FillRadiiOperation;

struct FillRadiiJob {
  using Operation = FillRadiiOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  SignedRadius256 largest = 0;  ///< magnitude of the known radii
};

struct FillRadiiOperation : Operation {
  /// In place: filled_radius() of core/maths for every unknown_radius. Counts them in *state, and tells there
  /// if all are unknown, in which case all become 0.
  virtual void run(const MutableImageView& radii, LensState* state, Stream stream) = 0;
};

}  // namespace satin
