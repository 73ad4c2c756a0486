#pragma once
// Launches of box_stats.cu and level.cu, in the manner of launch.h.

#include <cstdint>

#include "core/operations/box_stats.h"
#include "core/operations/level.h"
#include "kernels/launch.h"

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

struct LevelArguments {
  LevelJob job;
  const Measured* measured = nullptr;
  Source picture;
  double level = 0;
  Target output;
};

/// Adds to `counts`, which is cleared first.
void count_codes(const LevelArguments& arguments, std::uint64_t* counts, StreamHandle stream);
void apply_level(const LevelArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
