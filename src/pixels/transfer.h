#pragma once
// The sRGB transfer tables, built on the host once and shared by every backend (IEC 61966-2-1).
//
// Code c of n has the linear value round((2^bits - 1) * decode(c / (n - 1))), bits = 16 for u8 and 24 for
// u16. A linear value v becomes the largest code whose threshold is not above v; the threshold of code c is
// the linear value of the encoded middle (c - 1/2) / (n - 1), rounded up. Every code survives the round trip.

#include <array>
#include <cstdint>
#include <vector>

#include "pixels/maths/pixel.h"
#include "pixels/pixels.h"
#include "satin/image.h"
#include "satin/param.h"

namespace satin {

/// Returns the transfer of pixels of this type whose values are averaged in this space.
[[nodiscard]] inline Transfer transfer_for(Space space, Type type) {
  return space == Space::linear && type != Type::f32 ? Transfer::srgb : Transfer::identity;
}

struct TransferTables {
  std::array<std::uint32_t, 256> decode8{};
  std::vector<std::uint8_t> encode8;  ///< 65536 entries
  std::array<std::uint16_t, 256> thresholds8{};
  std::vector<std::uint32_t> decode16;      ///< 65536
  std::vector<std::uint32_t> thresholds16;  ///< 65536
  std::vector<std::uint16_t> first_code16;  ///< 65537
};

/// Return the tables of u8 or u16, built on first use (thread-safe).
[[nodiscard]] const TransferTables& srgb_tables8();
[[nodiscard]] const TransferTables& srgb_tables16();

/// Returns the host's tables; null pointers without srgb.
[[nodiscard]] TransferView host_transfer(Type type, bool srgb);

}  // namespace satin
