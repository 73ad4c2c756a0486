#pragma once
// The summed-area table (Crow, Summed-area tables for texture mapping, 1984): every entry is the sum of all
// pixels above and to the left, its own included.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "pixels/pixels.h"

namespace satin {

struct TableOperation;

struct TableJob {
  using Operation = TableOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;
  bool squared = false;
  Accumulator accumulator = Accumulator::u32;
};

/// Tables have the accumulator's type, sums modulo 2^32 or 2^64, and interleaved channels. Floats are read in
/// fixed point with the exponents of *measured (those of squares if squared).
struct TableOperation : Operation {
  virtual void run(const ImageView& picture, const Measured* measured, const MutableImageView& table,
                   Stream stream) = 0;
  /// Converts signed 64-bit fixed-point sums to doubles, in place.
  virtual void to_double(const MutableImageView& table, const Measured* measured, Stream stream) = 0;
};

}  // namespace satin
