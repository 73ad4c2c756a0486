#pragma once
// Launch functions of the guided filter. kernels/device/launch.h explains the conventions.

#include <cstddef>

#include "core/maths/fixed_point.h"
#include "guided/local_linear.h"
#include "kernels/device/launch.h"
#include "means/tiling.h"

namespace satin::kernels {

/// Planes of integers, interleaved in pictures of four channels: plane i is channel i % 4 of picture i / 4.
/// The last picture has the remaining channels. Rows are multiples of 32 bytes.
struct InterleavedPlanes {
  static constexpr int channels = 4;
  static constexpr int most_pictures = 7;
  Target pictures[most_pictures];
};

/// Powers of two that convert fixed-point coefficients.
struct LinearScales {
  double slope, slope_step;    ///< steps of a slope in 1, and the inverse
  double offset, offset_step;  ///< steps of an offset in 1, and the inverse
  double limit;                ///< largest slope in its steps
  double slope_in_offsets;     ///< one step of a slope in steps of an offset

  explicit LinearScales(const LinearFormat& format)
      : slope(power_of_two(format.slope_fraction)),
        slope_step(power_of_two(-format.slope_fraction)),
        offset(power_of_two(format.offset_fraction)),
        offset_step(power_of_two(-format.offset_fraction)),
        limit(power_of_two(format.slope_range + format.slope_fraction)),
        slope_in_offsets(power_of_two(format.offset_fraction - format.slope_fraction)) {}
};

struct LocalLinearArguments {
  LocalLinearJob job;
  LinearScales scales{{}};
  Measured* measured = nullptr;  ///< measurements of a float picture; the filter sets guide_not_finite
  const Measured* guide_measured = nullptr;
  Source picture;
  Source guide;
  Source mask;
  Target output;
};

/// Sums are u32 if they fit 32 bits and otherwise u64; coefficients are u64.
struct TableLinearArguments : LocalLinearArguments {
  InterleavedPlanes values;  ///< written: moments of each pixel, or coefficients of its window
  InterleavedPlanes tables;  ///< read: summed-area tables of the values
};

struct RunningLinearArguments : LocalLinearArguments {
  SlidingTiles tiles;  ///< each thread of a block has a column
  double eps = 0;      ///< linear_eps() of the guide
  std::byte* kept =
      nullptr;  ///< coefficients of a window's rows for every tile: 8 bytes each per row and thread
};

/// Writes the moments of each pixel to `values`.
void linear_moments(const TableLinearArguments& arguments, StreamHandle stream);
/// Writes coefficients to `values`, from the tables of moments.
void linear_coefficients(const TableLinearArguments& arguments, StreamHandle stream);
/// Writes the output, from the tables of coefficients.
void linear_results(const TableLinearArguments& arguments, StreamHandle stream);

/// Resources of a block of running_linear(), which has 256 or 512 threads.
struct RunningLinearBlock {
  std::size_t shared_bytes = 0;
  int blocks_per_multiprocessor = 0;  ///< 0: no block fits
};
[[nodiscard]] RunningLinearBlock running_linear_block(const LocalLinearJob& job, int threads);
/// Writes the output without tables. Picture and guide are both u8 or both u16 without alpha. Sums of u8
/// without alpha fit 32 bits, and others have numerators that fit a double.
void running_linear(const RunningLinearArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
