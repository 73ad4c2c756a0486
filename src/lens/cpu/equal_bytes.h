#pragma once
// Runs of equal bytes, eight at a time.

#include <cstdint>
#include <cstring>

namespace satin::cpu {

/// Whether the eight bytes from `bytes` on are all `value`.
inline bool eight_equal(const std::uint8_t* bytes, std::uint8_t value) {
  constexpr std::uint64_t every_byte = 0x0101010101010101U;
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  return eight == value * every_byte;
}

}  // namespace satin::cpu
