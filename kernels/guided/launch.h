#pragma once
// Launches of local linear models, in the manner of kernels/device/launch.h.

#include <cstddef>

#include "core/maths/fixed_point.h"
#include "guided/local_linear.h"
#include "kernels/device/launch.h"
#include "means/tiling.h"

namespace satin::kernels {

/// Planes of integers, four and four interleaved in a picture: plane i is channel i % 4 of group i / 4, and
/// the last group has as many channels as are left. Rows are multiples of 32 bytes.
struct LinearGroups {
  static constexpr int planes = 4;
  static constexpr int most = 7;
  Target group[most];
};

struct LocalLinearArguments {
  LocalLinearJob job;
  Measured* measured = nullptr;  ///< of a float picture; gets guide_not_finite
  const Measured* guide_measured = nullptr;
  Source picture;
  Source guide;
  Source mask;
  Target output;
};

/// Sums are u32 for narrow jobs and u64 otherwise; coefficients are u64.
struct TableLinearArguments : LocalLinearArguments {
  LinearGroups values;  ///< written: one pixel's part in every sum, or coefficients
  LinearGroups tables;  ///< read: summed-area tables of the values
};

struct RunningLinearArguments : LocalLinearArguments {
  SlidingTiles tiles;  ///< a thread of a block has a column
  /// Coefficients of as many rows as a window has, for every tile: a row has 8 bytes a coefficient and
  /// thread.
  std::byte* kept = nullptr;
};

/// values = what a pixel adds to the sums.
void linear_moments(const TableLinearArguments& arguments, StreamHandle stream);
/// values = coefficients, of the tables of moments.
void linear_coefficients(const TableLinearArguments& arguments, StreamHandle stream);
/// output = the filtered picture, of the tables of coefficients.
void linear_results(const TableLinearArguments& arguments, StreamHandle stream);

/// Resources of a multiprocessor that a block of running_linear() takes; it has 256 or 512 threads.
struct RunningLinearBlock {
  std::size_t shared_bytes = 0;
  int together = 0;  ///< blocks that it has at most; 0: none fits
};
[[nodiscard]] RunningLinearBlock running_linear_block(const LocalLinearJob& job, int threads);
/// output = the filtered picture, without tables. The job is narrow, its picture and guide u8, without alpha.
void running_linear(const RunningLinearArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
