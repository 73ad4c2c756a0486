#pragma once
// The summed-area table: inclusive row scans, then column scans (Crow 1984).

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

/// run() fills `table` (width x height, interleaved channels, of the accumulator's type: sums modulo 2^32 or
/// 2^64; on a GPU that of bytes in linear light modulo 2^32 also a plane a channel). Floats are read as fixed
/// point with the exponents of *measured (of their squares, if squared).
struct TableOperation : Operation {
  virtual void run(const ImageView& picture, const Measured* measured, const MutableImageView& table,
                   Stream stream) = 0;
  /// Turns signed 64-bit fixed-point sums (of squares) into IEEE doubles, in place.
  virtual void to_double(const MutableImageView& table, const Measured* measured, Stream stream) = 0;
};

}  // namespace satin
