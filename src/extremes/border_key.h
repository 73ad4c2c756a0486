#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "extremes/maths/extreme.h"
#include "satin/error.h"
#include "satin/param.h"
#include "satin/view.h"

namespace satin {

/// The key of what a constant border shows: 0 to 1 of white, floats as they are. Throws Error(usage) for
/// other values.
[[nodiscard]] inline std::int32_t border_key(Type type, double value) {
  if (type == Type::f32) {
    if (!(std::fabs(value) <= std::numeric_limits<float>::max()))
      throw Error(ErrorKind::usage, "border-value must be a finite number.");
    return key_of(static_cast<float>(value));
  }
  if (!(value >= 0 && value <= 1))
    throw Error(ErrorKind::usage,
                "border-value " + print_real(value) + ": must be from 0 to 1, black to white.");
  return static_cast<std::int32_t>(std::floor(value * (type == Type::u8 ? 0xFF : 0xFFFF) + 0.5));
}

}  // namespace satin
