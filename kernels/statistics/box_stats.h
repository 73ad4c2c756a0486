#pragma once
// Launches of box_stats.cu and fixed_threshold.cu, in the manner of launch.h.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "pixels/fixed_threshold.h"
#include "pixels/pixels.h"
#include "statistics/box_stats.h"

namespace satin::kernels {

/// One plane of a picture as dense rows of u8, u16 or, for floats, u32.
struct PlaneArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PlaneRead plane;
  const Measured* measured = nullptr;
  Source picture;
  Target result;
};

void extract_plane(const PlaneArguments& arguments, StreamHandle stream);

/// Tables of the quantised plane and of its squares, modulo 2^32 or 2^64.
struct BoxStatsArguments {
  BoxStatsJob job;
  Accumulator sum_type = Accumulator::u32;
  const Measured* measured = nullptr;
  Source picture;
  Source sums;
  Source squares;  ///< u64
  Source mask;
  PictureExtremes* extremes = nullptr;
  Rectangle inner;  ///< where extremes are looked for
  Target output;
};

void clear_extremes(PictureExtremes* extremes, StreamHandle stream);
void find_extremes(const BoxStatsArguments& arguments, StreamHandle stream);
void box_stats(const BoxStatsArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
