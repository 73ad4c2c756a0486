#pragma once
// Launchers of the box mean of bytes with one small whole radius (box_mean_packed.cuh).

#include <cstddef>

#include "kernels/device/launch.h"

namespace satin::kernels {

/// u8, encoded, whole radii.
struct PackedMeanJob {
  int width = 0;
  int height = 0;
  int channels = 1;
  bool clipped = false;  ///< only pixels of the picture count: Border::shrink
  int reach_x = 0;
  int reach_y = 0;

  /// What the kernel's 16-bit column sums and 24-bit floats hold.
  static constexpr int largest_rows = 257;        ///< of a window: 257 * 255 < 2^16
  static constexpr int largest_divisor = 0x7FFF;  ///< pixels of a window: 255.5 * 2^15 < 2^23
};

/// How a picture is cut into strips of columns and bands of rows, a block each.
struct PackedTiles {
  int strip_width = 0;  ///< 0: this way is not for this job
  int strips = 0;
  int segments = 0;  ///< of 32 lanes, which a warp goes through in a row of a strip
  int bands = 0;
  std::size_t shared_bytes = 0;
};

/// Positions outside of the picture that the kernel may ask for the source of, on either side.
[[nodiscard]] int packed_margin(const PackedMeanJob& job);

[[nodiscard]] PackedTiles packed_tiles(const PackedMeanJob& job, int multiprocessors,
                                       std::size_t shared_limit);

/// As many as a lane reads at once.
inline constexpr std::size_t packed_zero_bytes = 32;

struct PackedMeanArguments {
  PackedMeanJob job;
  PackedTiles tiles;
  const int* rows = nullptr;     ///< [y] = row of the picture at position y, or -1; from -margin on
  const int* columns = nullptr;  ///< the same along x
  const void* zeros = nullptr;   ///< packed_zero_bytes of them, aligned to 16
  Source source;
  Target output;
};

/// To be called once for a job on its device; the code of a cudaError_t.
[[nodiscard]] int prepare_packed_mean(const PackedMeanArguments& arguments);

void packed_mean(const PackedMeanArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
