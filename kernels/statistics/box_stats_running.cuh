#pragma once
// Local mean and deviation without a table: a block slides a window down a tile with the sums of every
// column and of its squares in registers (a row enters, a row leaves), and scans both along the row into
// shared memory. The sums over a window are differences of two prefixes.
//
// A lane has a few neighbouring pixels of a plane, or of a picture with all its channels interleaved, and as
// many results. Sums are modulo 2^32 or 2^64; those over one window fit.
//
// Thresholds and numbers of integers are found in floats where those tell
// (statistics/maths/quick_threshold.h, quick_number.h); what they leave open, and every other result, goes
// through the doubles of statistics/maths/local_statistics.h.
//
// Bytes moved per value: the output, and the plane or picture three times, twice of them from the L2, and
// once more for every tile its window's rows.

#include <type_traits>
#include <utility>

#include "kernels/device/tuning.h"
#include "kernels/statistics/box_stats_columns.cuh"
#include "kernels/statistics/box_stats_sinks.cuh"

namespace satin::kernels {

/// T: of the quantised plane, or of the picture with its Channels; Stored: of the picture.
template <class T, class Stored, class Sum, template <class, class, class, class> class Sink, int Shift,
          int Channels = 1>
__global__ void __launch_bounds__(tuning::running_stats_most_warps* warp_size)
    take_running_statistics(const __grid_constant__ RunningStatsArguments arguments) {
  using Rows = StatsRows<T, Channels, Sum>;
  using Windows = StatsWindows<Sum, Rows, Shift>;
  extern __shared__ uint4 memory[];
  const StatsPart part = stats_part(arguments, Rows::pixels);
  StatsPrefixes<Sum, Rows> prefixes(memory);
  StatsColumns<Rows, T, Sum> columns(arguments, part);
  const Windows windows(arguments, part, prefixes);
  Sink<T, Stored, Sum, Windows> sink(arguments, part, windows);
  columns.start(part.first_y);
  for (int y = part.first_y; y < part.last_y; ++y) {
    const bool goes_on = y + 1 < part.last_y;
    sink.fetch(y);
    if (goes_on) columns.fetch(y + 1);
    prefixes.publish(columns.sums);
    __syncthreads();
    sink.write(y);
    if (goes_on) columns.advance();
  }
  sink.finish();
}

template <class Kernel>
void launch_running_statistics(Kernel* kernel, const RunningStatsArguments& arguments, StreamHandle stream) {
  const SlidingTiles& tiles = arguments.tiles;
  const dim3 blocks(static_cast<unsigned>(tiles.columns), static_cast<unsigned>(tiles.rows));
  kernel<<<blocks, static_cast<unsigned>(tiles.spans * warp_size), tiles.shared_bytes, stream>>>(arguments);
}

/// Calls action(std::integral_constant) with the shift of windows, reach_x modulo the pixels of a lane.
template <int Shifts, class Action>
int with_shift(const RunningStatsJob& job, const Action& action) {
  return [&]<int... Shift>(std::integer_sequence<int, Shift...>) {
    int result = 0;
    static_cast<void>(
        ((Shift == job.reach_x % Shifts && (result = action(std::integral_constant<int, Shift>{}), true)) ||
         ...));
    return result;
  }
  (std::make_integer_sequence<int, Shifts>{});
}

/// The numbers of integers in floats: box_stats_numbers.cu.
[[nodiscard]] int prepare_running_numbers(const RunningStatsArguments& arguments);
void running_numbers(const RunningStatsArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
