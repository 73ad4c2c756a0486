#pragma once
// A small table that encodes 16-bit linear light: along the square root of the light codes are spaced so
// evenly that a cell of it has one threshold at most.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace satin {

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
