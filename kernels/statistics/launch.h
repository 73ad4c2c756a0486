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
#include "statistics/maths/in_floats.h"

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

/// A block each, and a warp each span. No spans where the windows are too wide for shared memory.
[[nodiscard]] SlidingTiles running_stats_tiles(const RunningStatsJob& job, int multiprocessors,
                                               std::size_t shared_limit);

/// Tiles of whole rows, whose sums lie in device memory: box_stats.cu.
[[nodiscard]] SlidingTiles long_stats_tiles(const RunningStatsJob& job, int multiprocessors);
[[nodiscard]] std::size_t long_stats_bytes(const RunningStatsJob& job, const SlidingTiles& tiles);

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
  void* long_rows = nullptr;  ///< long_stats_bytes() for long_stats_tiles(); null for running_stats_tiles()
  PictureExtremes* extremes = nullptr;  ///< as ordered bits: OrderedExtremes in box_stats_sinks.cuh
  Rectangle inner;                      ///< where extremes are looked for
  Target output;
};

/// Numbers are found in floats. Only then the channels of a picture can be summed together.
[[nodiscard]] bool has_quick_numbers(const RunningStatsArguments& arguments);

/// The caller runs this once for a job on its device; it returns the code of a cudaError_t.
[[nodiscard]] int prepare_running_stats(const RunningStatsArguments& arguments);

void clear_extremes(PictureExtremes* extremes, StreamHandle stream);
void find_extremes(const RunningStatsArguments& arguments, StreamHandle stream);
void running_stats(const RunningStatsArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
