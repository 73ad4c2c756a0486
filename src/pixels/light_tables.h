#pragma once
// A small table that encodes 16-bit linear light: along the square root of the light codes are spaced so
// evenly that a cell of it has one threshold at most.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/maths/hd.h"

namespace satin {

// About the 24-bit linear light of a 16-bit code (IEC 61966-2-1): what is missing fits 16 bits, so that a
// table of it is half as large as one of light.

inline constexpr float rough_light_base = 8388608.0F;  ///< 2^23: from there to 2^24 floats are whole

/// A quarter of the light by the best cubic polynomial, which errs by 15387 of the light, to a whole number;
/// with rough_light_base added.
SATIN_HD float rough_quarter_light(float code) {
  constexpr float most = 65535.0F;
  constexpr float first = 183417.8F / 4 / most;
  constexpr float second = 11387010.7F / 4 / most / most;
  constexpr float third = 5206786.5F / 4 / most / most / most;
  const float slope = fmaf(code, fmaf(code, third, second), first);
  return fmaf(code, slope, rough_light_base + 3846);
}

struct RootCells {
  static constexpr float per_root = 1.5F;
  static constexpr int count = 384;  ///< per_root * sqrt(65535), rounded up
};

/// Of every cell a word: with a value of the cell added, its upper half is the value's code. Values are in
/// cell floor(per_root * sqrt(value)), or where that is within 1/512 of another cell in either. `encode8`:
/// the codes of all values.
inline std::vector<std::uint32_t> cells_of(const std::vector<std::uint8_t>& encode8) {
  constexpr double doubt = 1.0 / 512;
  const auto last = static_cast<double>(encode8.size() - 1);
  const auto value_at = [&](double cells) {
    const double root = std::fmax(cells, 0) / RootCells::per_root;
    return std::fmin(root * root, last);
  };
  std::vector<std::uint32_t> cells;
  for (int i = 0; i < RootCells::count; ++i) {
    auto value = static_cast<std::size_t>(std::floor(value_at(i - doubt)));
    const auto end = static_cast<std::size_t>(std::ceil(value_at(i + 1 + doubt)));
    const std::uint8_t code = encode8[value];
    while (value < end && encode8[value + 1] == code) ++value;
    const std::size_t threshold = value < end ? value + 1 : encode8.size();
    cells.push_back(static_cast<std::uint32_t>((std::size_t{code} << 16) + encode8.size() - threshold));
  }
  return cells;
}

}  // namespace satin
