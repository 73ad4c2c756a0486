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

/// steps[i] = chords[steps[i]] where the mask is `side`, chords[0] elsewhere. `chords` of u8 has `entries`
/// entries, a multiple of 16.
void cover_row(const std::uint8_t* mask, std::uint8_t side, const std::uint8_t* chords, std::size_t entries,
               std::size_t count, std::uint8_t* steps);
void cover_row(const std::uint8_t* mask, std::uint8_t side, const std::uint16_t* chords, std::size_t entries,
               std::size_t count, std::uint16_t* steps);

/// spread[i] = max of spread[j] - |i - j|, 0 at least, over all j.
void spread_row(std::uint8_t* spread, std::size_t count);
void spread_row(std::uint16_t* spread, std::size_t count);

/// out[i] = spread[i] != 0 ? reached : rest
void mark_row(const std::uint8_t* spread, std::size_t count, std::uint8_t reached, std::uint8_t rest,
              std::uint8_t* out);
void mark_row(const std::uint16_t* spread, std::size_t count, std::uint8_t reached, std::uint8_t rest,
              std::uint8_t* out);

/// A row whose squared distances fit 16 bits: (reach + 1)^2 + reach^2 < 2^16 and most <= (reach + 1)^2.
struct NearRow {
  static constexpr int most_reach = 126;
  static constexpr std::size_t block = 64;    ///< pixels
  static constexpr std::size_t margin = 256;  ///< of heights, on either side of the row

  const std::uint8_t* mask;
  const std::uint8_t* columns;  ///< distances down the columns, reach + 1 at most
  std::size_t count;
  int reach;
  std::uint16_t most;
};

/// Numbers of 16 bits in the workspace of rows of this many pixels.
[[nodiscard]] constexpr std::size_t near_row_space(std::size_t count) {
  return (count / NearRow::block + 1) * NearRow::block + 2 * NearRow::margin;
}

/// squared[i] = the smallest of (x - i)^2 + columns[x]^2, at most `most`, for pixels i that are `side`, where
/// pixels x on the other side have columns[x] = 0; for others 0 is added. `squared` has room for whole
/// blocks.
void add_near_squares(const NearRow& row, std::uint8_t side, std::uint16_t* space, std::uint16_t* squared);

}  // namespace satin::cpu
