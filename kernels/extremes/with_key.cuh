#pragma once
// The C++ type of a picture's keys.

#include <cstdint>

#include "extremes/maths/extreme.h"
#include "satin/view.h"

namespace satin::kernels {

/// Calls action.template operator()<Key>().
template <class Action>
auto with_key(Type type, const Action& action) {
  switch (type) {
    case Type::u8:
      return action.template operator()<std::uint8_t>();
    case Type::u16:
      return action.template operator()<std::uint16_t>();
    default:
      return action.template operator()<FloatKey>();
  }
}

}  // namespace satin::kernels
