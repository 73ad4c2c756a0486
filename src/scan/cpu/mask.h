#pragma once
// What is selected, as one byte a value: 1 or 0.

#include <cstdint>
#include <functional>

#include "scan/scan.h"

namespace satin::cpu {

/// Writes the bytes of the values [first, first + count).
using FillMask = std::function<void(std::int64_t first, std::int64_t count, std::uint8_t* mask)>;

/// The selection must stay.
[[nodiscard]] FillMask mask_of(const Selection& selection);

}  // namespace satin::cpu
