#pragma once
// Launchers of the box mean by a radius map that keeps its table in shared memory (box_mean_strip.cuh).

#include <cstddef>
#include <cstdint>

#include "kernels/device/launch.h"
#include "means/box_mean.h"

namespace satin::kernels {

/// How a picture is cut into strips of columns and bands of rows, a block each.
struct StripTiles {
  int strip_width = 0;  ///< 0: this way is not for this job
  int strips = 0;
  int bands = 0;
  int ring_rows = 0;
  std::size_t shared_bytes = 0;
};

/// u8, 1 to 3 channels, encoded.
struct StripMeanJob {
  int width = 0;
  int height = 0;
  int channels = 1;
  bool clipped = false;  ///< only pixels of the picture count: Border::shrink
  int reach = 0;         ///< of the largest window, rounded up
  RadiusField radius;
};

/// Positions outside of the picture that the kernel may ask for the source of, on either side.
[[nodiscard]] int strip_margin(const StripMeanJob& job);

[[nodiscard]] StripTiles strip_tiles(const StripMeanJob& job, int multiprocessors, std::size_t shared_limit);

struct StripMeanArguments {
  StripMeanJob job;
  StripTiles tiles;
  const int* rows = nullptr;     ///< [y] = row of the picture at position y, or -1; from -margin on
  const int* columns = nullptr;  ///< the same along x
  Source source;
  Source radius_map;
  Target output;
  // Set by strip_mean().
  std::int64_t map_step = 0;     ///< bytes between the rows of a warp
  std::int64_t output_step = 0;  ///< the same
  unsigned ring_bytes = 0;
};

/// To be called once for a job on its device; the code of a cudaError_t.
[[nodiscard]] int prepare_strip_mean(const StripMeanArguments& arguments);

void strip_mean(const StripMeanArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
