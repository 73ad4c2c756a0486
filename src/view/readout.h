#pragma once
// Depth and blur under the pointer.

#include <optional>
#include <span>

#include "satin/pipeline.h"
#include "view/open_picture.h"

namespace satin::view {

struct LensReading {
  double depth = 0;  ///< as the focus is told: scaled
  std::optional<double>
      radius;  ///< in pixels, positive for what is nearer than the focus; unknown before a run
};

/// Depth and blur at a place in the picture, by the last filter that takes depth; nothing without one.
/// `found` is what its run found. Throws as the filters do.
[[nodiscard]] std::optional<LensReading> lens_at(const Pipeline& steps, const Sides& sides,
                                                 std::span<const FoundValue> found, const Shape& picture,
                                                 double x, double y);

}  // namespace satin::view
