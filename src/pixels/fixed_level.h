#pragma once
// The filter that is one comparison a pixel, for filters that can do it before they store.

#include <optional>

#include "pixels/maths/fixed_threshold.h"
#include "satin/filter.h"

namespace satin {

/// What `threshold` with a fixed level does to pictures of this shape; nothing if these are the parameters of
/// another filter or method. Throws as its plan.
[[nodiscard]] std::optional<FixedThresholdRule> fixed_level(const Parameters& parameters, const Shape& shape);

}  // namespace satin
