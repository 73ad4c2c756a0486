#pragma once
// Lines of a pass of recursive smoothing that are scanned side by side.

#include <algorithm>
#include <cstdint>

#include "recursive/recursive.h"

namespace satin::cpu {

/// Bundle b of a pass, and one block of it: a rectangle of the picture.
struct Bundle {
  Axis axis = Axis::x;
  std::int64_t length = 0;  ///< of its lines
  std::int64_t first_line = 0;
  std::int64_t lines = 0;

  struct Block {
    std::int64_t x, y, width, height;
    std::int64_t first;  ///< position within the line
    int positions;
  };
  [[nodiscard]] std::int64_t blocks() const { return (length + recursive_block - 1) / recursive_block; }
  [[nodiscard]] Block block(std::int64_t index) const {
    const std::int64_t first = index * recursive_block;
    const std::int64_t positions = std::min<std::int64_t>(recursive_block, length - first);
    const auto count = static_cast<int>(positions);
    if (axis == Axis::x) return {first, first_line, positions, lines, first, count};
    return {first_line, first, lines, positions, first, count};
  }
};

}  // namespace satin::cpu
