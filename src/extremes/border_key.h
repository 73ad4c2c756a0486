#pragma once

#include <cstdint>

#include "satin/view.h"

namespace satin {

/// The key of what a constant border shows: 0 to 1 of white, floats as they are. Throws Error(usage) for
/// other values.
[[nodiscard]] std::int32_t border_key(Type type, double value);

}  // namespace satin
