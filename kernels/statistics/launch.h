#pragma once
// Launch functions of local statistics. kernels/device/launch.h explains the conventions.

#include <cstddef>
#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "means/tiling.h"
#include "pixels/fixed_threshold.h"
#include "pixels/pixels.h"
#include "statistics/box_stats.h"
#include "statistics/maths/local_statistics.h"

namespace satin::kernels {

/// Copies one plane of a picture to dense rows of u8, u16 or, for floats, u32.
struct PlaneArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PlaneRead plane;
  const Measured* measured = nullptr;
  Source picture;
  Target result;
};

void extract_plane(const PlaneArguments& arguments, StreamHandle stream);

/// The parameters that the tiles depend on.
struct RunningStatsJob {
  int width = 0;
  int height = 0;
  int reach_x = 0;
  int reach_y = 0;
  bool clipped = false;  ///< Border::shrink: windows end at the picture's border
  bool wide = false;     ///< sums are modulo 2^64, otherwise 2^32
  int channels = 1;      ///< summed channels: all of an interleaved picture, or one of a plane
};

/// Returns the number of positions outside the picture, on either side, that the tables of rows and columns
/// must cover.
[[nodiscard]] int running_stats_margin(const RunningStatsJob& job);

/// Returns tiles for a block each. spans is 0 if the windows are too wide for shared memory.
[[nodiscard]] SlidingTiles running_stats_tiles(const RunningStatsJob& job, int multiprocessors,
                                               std::size_t shared_limit);

/// Returns tiles of whole rows, whose sums are in device memory.
[[nodiscard]] SlidingTiles long_stats_tiles(const RunningStatsJob& job, int multiprocessors);
[[nodiscard]] std::size_t long_stats_bytes(const RunningStatsJob& job, const SlidingTiles& tiles);

struct RunningStatsArguments {
  BoxStatsJob job;
  RunningStatsJob running;
  SlidingTiles tiles;
  bool quick = false;  ///< compute in single precision first, by quick_threshold() or `number`
  QuickNumber number;
  const int* rows = nullptr;     ///< row of the picture at each position from -margin on, or -1
  const int* columns = nullptr;  ///< column of the picture at each position from -margin on, or -1
  const Measured* measured = nullptr;
  Source plane;    ///< quantised u8, u16 or, for floats, u32; the picture if all its channels are summed
  Source picture;  ///< stored values
  Source mask;
  void* long_rows = nullptr;  ///< long_stats_bytes() for long_stats_tiles(); null for running_stats_tiles()
  PictureExtremes* extremes = nullptr;  ///< as ordered bits: OrderedExtremes in box_stats_sinks.cuh
  Rectangle inner;                      ///< area to search for extremes
  Target output;
};

/// Whether deviations or normalised values are computed in single precision first. Only then can all
/// channels of a picture be summed together.
[[nodiscard]] bool has_quick_numbers(const RunningStatsArguments& arguments);

/// Prepares the kernels of a job; call it once on its device. Returns the code of a cudaError_t.
[[nodiscard]] int prepare_running_stats(const RunningStatsArguments& arguments);

void clear_extremes(PictureExtremes* extremes, StreamHandle stream);
void find_extremes(const RunningStatsArguments& arguments, StreamHandle stream);
void running_stats(const RunningStatsArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
