#pragma once
// What the filters on recursive smoothing share: their pictures, and the plan of the one operation.

#include <span>
#include <vector>

#include "core/prepared_filter.h"
#include "recursive/recursive.h"
#include "satin/param.h"

namespace satin {

struct RecursiveSettings {
  Space space = Space::linear;
  std::vector<RecursivePass> passes;
  bool guided = false;
  double contrast = 0;  ///< of a guide: what a difference of white in one channel adds to a distance
};

/// `inputs` are the shapes of the picture, of the guide if `guided` (width 0: the picture itself), and of the
/// mask (width 0: none), as the plan's run() takes them. Throws Error(usage) for shapes that do not fit.
[[nodiscard]] FilterPlan plan_recursive(const Device& device, std::span<const Shape> inputs,
                                        const RecursiveSettings& settings);

}  // namespace satin
