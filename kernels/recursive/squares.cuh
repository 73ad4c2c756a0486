#pragma once
// Where the values of a plane lie between two passes: squares of 32 rows of 8 columns, one after the other,
// so that a thread goes down a column of 32 pixels by addresses that are known when compiled, and every row
// of a square is one sector of floats or two of doubles.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin::kernels {

struct Squares {
  static constexpr int columns = 8;
  static constexpr int rows = 32;
  static constexpr int values = columns * rows;

  std::int64_t across;
  std::int64_t down;

  SATIN_HD Squares(std::int64_t width, std::int64_t height)
      : across((width + rows - 1) / rows * (rows / columns)), down((height + rows - 1) / rows) {}

  /// Values of a plane, those of squares that stick out included.
  [[nodiscard]] SATIN_HD std::int64_t size() const { return across * down * values; }

  [[nodiscard]] SATIN_HD std::int64_t at(std::int64_t x, std::int64_t y) const {
    return (y / rows * across + x / columns) * values + y % rows * columns + x % columns;
  }
};

}  // namespace satin::kernels
