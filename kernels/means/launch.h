#pragma once
// Launches of means by a table in memory, in the manner of kernels/device/launch.h.

#include <cstddef>
#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "means/box_mean.h"
#include "means/maths/mean.h"
#include "pixels/maths/pixel.h"
#include "pixels/pixels.h"

namespace satin::kernels {

struct BoxMeanArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;  ///< of the source
  TransferView read_transfer;
  Type output_type = Type::u8;
  RadiusField radius;
  Border border = Border::shrink;
  double border_number = 0;
  Accumulator accumulator = Accumulator::u32;
  MeanRule rule;
  bool narrow =
      false;  ///< every weighted sum, all its weights included, is below 2^63, and the picture is no float
  /// By gathered_bytes.cuh: u8 of 1 to 4 channels as they are stored, by a map, without alpha and mask, boxes
  /// below 2^24 pixels, at most 65535 rows; the table has zeros to the left of it and above it.
  bool bytes_by_map = false;
  const Measured* measured = nullptr;
  const void* table = nullptr;   ///< of the source; 16-byte aligned
  std::int64_t table_row = 0;    ///< bytes, a multiple of 16
  const void* counts = nullptr;  ///< table (u32) of the pixels that count; null if all do
  std::int64_t counts_row = 0;   ///< bytes
  Source source;
  Source original;
  Source radius_map;
  Source mask;
  Target output;
};

/// For outputs of type T; defined in box_mean.cuh, which the instances alone include.
template <class T>
void box_mean_to(const BoxMeanArguments& arguments, StreamHandle stream);

void box_mean(const BoxMeanArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
