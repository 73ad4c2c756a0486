#pragma once
// Local mean and deviation without a table: a block marches down a strip of columns with the sums of every
// column and of its squares in registers (a row enters, a row leaves), and scans both along the row into
// shared memory. The sums over a window are differences of two prefixes.
//
// A lane has eight or sixteen neighbouring columns and as many results. Sums are modulo 2^32 or 2^64; those
// over one window fit.
//
// Thresholds of integers are compared in floats where those tell (core/maths/quick_threshold.h); what they
// leave open, and every other result, goes through the doubles of core/maths/local_statistics.h.
//
// Bytes moved per pixel: the output, and the plane three times, twice of them from the L2, and once more for
// every band its window's rows.

#include "kernels/box_stats_columns.cuh"
#include "kernels/box_stats_sinks.cuh"
#include "kernels/tuning.h"

namespace satin::kernels {

/// T: of the quantised plane; Stored: of the picture.
template <class T, class Stored, class Sum, template <class, class, class, class> class Sink, int Shift>
__global__ void __launch_bounds__(tuning::running_stats_most_warps* warp_size)
    take_running_statistics(const __grid_constant__ RunningStatsArguments arguments) {
  constexpr int pixels = stats_pixels<T, Sum>;
  using Windows = StatsWindows<Sum, pixels, Shift>;
  extern __shared__ uint4 memory[];
  const StatsPart part = stats_part(arguments, pixels);
  StatsPrefixes<Sum, pixels> prefixes(memory);
  StatsColumns<T, Sum> columns(arguments, part);
  const Windows windows(arguments, part, prefixes);
  Sink<T, Stored, Sum, Windows> sink(arguments, part, windows);
  columns.start(part.first_y);
  for (int y = part.first_y; y < part.last_y; ++y) {
    prefixes.publish(columns.sums);
    sink.fetch(y);
    const bool goes_on = y + 1 < part.last_y;
    if (goes_on) columns.fetch(y + 1);
    __syncthreads();
    sink.write(y);
    if (goes_on) columns.advance();
  }
  sink.finish();
}

}  // namespace satin::kernels
