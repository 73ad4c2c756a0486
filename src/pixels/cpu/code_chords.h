#pragma once
// The curve from 16-bit linear light to 8-bit sRGB codes as chords of 64 pieces, for vectors of table
// lookups.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "pixels/transfer.h"

namespace satin::cpu {

/// Values below `code_chord_split` have 32 pieces of 128, values from there on pieces of 2048, of which the
/// first two are not used. With part = the distance of a value from the start of its piece in 1/65536 of the
/// piece, (start + the high word of part * rise) / 256, rounded down, is the code or one less: the curve is
/// concave, so that no chord lies above it, and none is more than 0.6 codes below.
struct CodeChords {
  std::array<std::uint16_t, 64> start{};  ///< codes in 1/256
  std::array<std::uint16_t, 64> rise{};   ///< to the end of the piece
  std::array<std::uint16_t, 256> last{};  ///< largest value of a code
};

inline constexpr std::uint16_t code_chord_split = 4096;

inline CodeChords make_code_chords() {
  CodeChords chords;
  const auto& first = srgb_tables8().thresholds8;
  for (std::size_t code = 0; code < 255; ++code)
    chords.last[code] = static_cast<std::uint16_t>(first[code + 1] - 1);
  chords.last[255] = 0xFFFF;
  const auto curve = [&](int value) {  // codes, between thresholds by parts
    std::size_t code = 0;
    while (code < 255 && first[code + 1] <= value) ++code;
    const std::size_t from = std::min(code, std::size_t{254});
    return static_cast<double>(code) +
           static_cast<double>(value - first[code]) / (first[from + 1] - first[from]);
  };
  constexpr double below = 1.0 / 16;  // thresholds are whole numbers, so that the curve is not quite concave
  for (std::size_t piece = 0; piece < 64; ++piece) {
    const int length = piece < 32 ? 128 : 2048;
    const int value = static_cast<int>(piece % 32) * length;
    const double start = std::max(0.0, curve(value) - below);
    const double end = std::max(start, curve(value + length) - below);
    chords.start[piece] = static_cast<std::uint16_t>(start * 256);
    chords.rise[piece] = static_cast<std::uint16_t>((end - start) * 256);
  }
  return chords;
}

}  // namespace satin::cpu
