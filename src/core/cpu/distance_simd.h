#pragma once
// Loops over distances that have a version for every SIMD target. A Steps is u8 or u16.

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

/// One step down or up the columns: to[i] = the distance along column i to the nearest pixel on the other
/// side among the rows passed so far; `most` where there is none that near. `from`: those of the row before,
/// which may be `to`.
void step_columns(const std::uint8_t* mask, const std::uint8_t* before, const std::uint8_t* from,
                  std::uint8_t most, std::size_t count, std::uint8_t* to);
void step_columns(const std::uint8_t* mask, const std::uint8_t* before, const std::uint16_t* from,
                  std::uint16_t most, std::size_t count, std::uint16_t* to);

/// into[i] = min(into[i], other[i])
void meet_columns(const std::uint8_t* other, std::size_t count, std::uint8_t* into);
void meet_columns(const std::uint16_t* other, std::size_t count, std::uint16_t* into);

/// spread[i] = max of spread[j] - |i - j|, 0 at least, over all j.
void spread_row(std::uint8_t* spread, std::size_t count);
void spread_row(std::uint16_t* spread, std::size_t count);

/// out[i] = spread[i] != 0 ? reached : rest
void mark_row(const std::uint8_t* spread, std::size_t count, std::uint8_t reached, std::uint8_t rest,
              std::uint8_t* out);
void mark_row(const std::uint16_t* spread, std::size_t count, std::uint8_t reached, std::uint8_t rest,
              std::uint8_t* out);

}  // namespace satin::cpu
