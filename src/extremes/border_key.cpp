#include "extremes/border_key.h"

#include <cmath>
#include <limits>
#include <string>

#include "extremes/maths/extreme.h"
#include "satin/error.h"
#include "satin/param.h"

namespace satin {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

}  // namespace

std::int32_t border_key(Type type, double value) {
  if (type == Type::f32) {
    if (!(std::fabs(value) <= std::numeric_limits<float>::max()))
      refuse("border-value must be a finite number.");
    return key_of(static_cast<float>(value));
  }
  if (!(value >= 0 && value <= 1))
    refuse("border-value " + print_real(value) + ": must be from 0 to 1, black to white.");
  return static_cast<std::int32_t>(std::floor(value * (type == Type::u8 ? 0xFF : 0xFFFF) + 0.5));
}

}  // namespace satin
