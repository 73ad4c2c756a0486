#pragma once
// The pipeline of a preview: lengths are those of a smaller picture.

#include "satin/pipeline.h"

namespace satin::view {

/// Every parameter in pixels of the picture becomes 2^-level of itself, as near as the filter takes it.
[[nodiscard]] Pipeline scaled(const Pipeline& pipeline, int level);

}  // namespace satin::view
