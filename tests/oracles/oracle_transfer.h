#pragma once
// The sRGB curve of IEC 61966-2-1 in long double, and integer tables of it.

#include <cstdint>
#include <vector>

#include "satin/image.h"

namespace satin::test {

struct OracleTransfer {
  std::vector<std::int64_t> linear;     ///< linear value of every code: 16 bits for u8, 24 bits for u16
  std::vector<std::int64_t> threshold;  ///< smallest linear value that becomes this code or a larger one

  /// Returns the largest code whose threshold is not above the value.
  [[nodiscard]] std::int64_t encode(std::int64_t value) const;
};

/// `type` is u8 or u16.
const OracleTransfer& oracle_srgb(Type type);

}  // namespace satin::test
