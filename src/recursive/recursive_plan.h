#pragma once
// What the filters on recursive smoothing share: their pictures, and the plan of the one operation.

#include <vector>

#include "recursive/recursive.h"
#include "satin/device.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace satin {

struct RecursiveSettings {
  Space space = Space::linear;
  std::vector<RecursivePass> passes;
  bool guided = false;
  double contrast = 0;  ///< of a guide: what a difference of white in one channel adds to a distance
};

/// `inputs` are the shapes of the picture, of the guide if `guided` (width 0: the picture itself), and of the
/// mask (width 0: none), as the plan's run() takes them. Throws Error(usage) for shapes that do not fit.
[[nodiscard]] Plan plan_recursive(const Device& device, const std::vector<Shape>& inputs,
                                  const RecursiveSettings& settings);

}  // namespace satin
