#pragma once
// Compact tables for linear light, for the shared memory of a GPU: a table of 384 words that encodes 16-bit
// light (RootCells), and a polynomial that halves the table which decodes 16-bit codes (rough_quarter_light).

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/maths/hd.h"

namespace satin {

inline constexpr float rough_light_base = 8388608.0F;  ///< 2^23: floats from there to 2^24 are integers

/// Returns rough_light_base plus a quarter of the approximate 24-bit linear light of a 16-bit code (IEC
/// 61966-2-1), as an integer. The cubic polynomial errs by at most 15387 units of light, so the difference
/// from the exact light fits 16 bits.
SATIN_HD float rough_quarter_light(float code) {
  constexpr float most = 65535.0F;
  constexpr float first = 183417.8F / 4 / most;
  constexpr float second = 11387010.7F / 4 / most / most;
  constexpr float third = 5206786.5F / 4 / most / most / most;
  const float slope = fmaf(code, fmaf(code, third, second), first);
  return fmaf(code, slope, rough_light_base + 3846);
}

/// Cells of equal width along the square root of linear light. Codes are spaced so evenly along it that a
/// cell has at most one threshold.
struct RootCells {
  static constexpr float per_root = 1.5F;
  static constexpr int count = 384;  ///< per_root * sqrt(65535), rounded up
};

/// Returns a word for every cell, such that the upper half of word + value is the code of a value in the
/// cell. Value v is in cell floor(per_root * sqrt(v)); both cells hold it where the argument of floor() is
/// within 1/512 of an integer, so an approximate root will do. `encode8` has the codes of all values.
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
