#pragma once
// Launches of local statistics, in the manner of kernels/device/launch.h.

#include <cstddef>
#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "means/tiling.h"
#include "pixels/fixed_threshold.h"
#include "pixels/pixels.h"
#include "statistics/box_stats.h"
#include "statistics/maths/quick_number.h"

namespace satin::kernels {

// --- By tables: box_stats.cu ---

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

// --- With running sums: box_stats_running.cuh ---

/// What the cut into blocks depends on.
struct RunningStatsJob {
  int width = 0;
  int height = 0;
  int reach_x = 0;
  int reach_y = 0;
  bool clipped = false;  ///< only pixels of the picture count: Border::shrink
  bool wide = false;     ///< sums are modulo 2^64, otherwise 2^32
  int channels = 1;      ///< that are summed: those of an interleaved picture, or one of a plane
};

/// Positions outside of the picture that the kernels may ask for the source of, on either side.
[[nodiscard]] int running_stats_margin(const RunningStatsJob& job);

/// A block each, and a warp each span.
[[nodiscard]] SlidingTiles running_stats_tiles(const RunningStatsJob& job, int multiprocessors,
                                               std::size_t shared_limit);

struct RunningStatsArguments {
  BoxStatsJob job;
  RunningStatsJob running;
  SlidingTiles tiles;
  bool quick = false;  ///< quick_threshold(), or for numbers `number`, serves
  QuickNumber number;
  const int* rows = nullptr;     ///< [y] = row of the picture at position y, or -1; from -margin on
  const int* columns = nullptr;  ///< the same along x
  const Measured* measured = nullptr;
  Source plane;    ///< quantised: u8, u16 or, for floats, u32; the picture where all its channels are summed
  Source picture;  ///< stored
  Source mask;
  PictureExtremes* extremes = nullptr;
  Rectangle inner;  ///< where extremes are looked for
  Target output;
};

/// Numbers are found in floats. Only then the channels of a picture can be summed together.
[[nodiscard]] bool has_quick_numbers(const RunningStatsArguments& arguments);

/// To be called once for a job on its device; the code of a cudaError_t.
[[nodiscard]] int prepare_running_stats(const RunningStatsArguments& arguments);

void find_extremes(const RunningStatsArguments& arguments, StreamHandle stream);
void running_stats(const RunningStatsArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
