#pragma once
// Local mean and deviation where the windows are too wide for shared memory (box_stats_running.cuh): a block
// has some whole rows of the picture, and in device memory the prefixes of the sums of its columns. From a
// row to the next, prefixes change by those of the row that enters less the row that leaves.

#include <cstdint>

#include "core/maths/window.h"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/statistics/box_stats_running.cuh"

namespace satin::kernels {

/// Windows of a thread's pixels, one after another, as the sinks of box_stats_sinks.cuh ask for them. T: of
/// the quantised plane.
template <class T>
class LongWindows {
 public:
  /// `totals`: shared memory for two sums of each warp.
  __device__ LongWindows(const RunningStatsArguments& arguments, void* totals)
      : arguments_(arguments),
        job_(arguments.running),
        prefixes_(static_cast<Pair*>(arguments.long_rows) + std::int64_t{blockIdx.y} * job_.width),
        totals_(static_cast<Pair*>(totals)) {}

  /// Sums the windows around row y. To be called by all threads of the block, a barrier before statistics().
  __device__ void start(int y) {
    const int first = job_.clipped ? max(y - job_.reach_y, 0) : y - job_.reach_y;
    const int last = job_.clipped ? min(y + job_.reach_y, job_.height - 1) : y + job_.reach_y;
    add(true, [&](int x) {
      Pair sums;
#pragma unroll 8
      for (int position = first; position <= last; ++position) {
        const std::uint64_t value = value_at(x, position);
        sums.sum += value;
        sums.squares += value * value;
      }
      return sums;
    });
  }

  /// Moves the column sums to row y, which follows the row of the last call.
  __device__ void advance(int y) {
    add(false, [&](int x) {
      const std::uint64_t enters = value_at(x, y + job_.reach_y);
      const std::uint64_t leaves = value_at(x, y - 1 - job_.reach_y);
      return Pair{enters - leaves, (enters - leaves) * (enters + leaves)};
    });
  }

  __device__ void move_to(int x) { x_ = x; }
  [[nodiscard]] __device__ int x() const { return x_; }
  [[nodiscard]] __device__ int count() const { return 1; }

  [[nodiscard]] __device__ LocalStatistics statistics(int, int y, const Quantised& quantised) const {
    const Border border = arguments_.job.border;
    const Window columns = window_around(x_, job_.reach_x);
    const PrefixTerms terms = prefix_terms(columns, job_.width, border);
    WindowSums sums;
    sums.count = static_cast<std::uint64_t>(counted(columns, job_.width, border) *
                                            counted(window_around(y, job_.reach_y), job_.height, border));
#pragma unroll
    for (int i = 0; i < PrefixTerms::count; ++i) {
      if (terms.coefficient[i] == 0) continue;
      const auto times = static_cast<std::uint64_t>(std::int64_t{terms.coefficient[i]});
      const Pair prefix = prefixes_[terms.index[i]];
      sums.sum += times * prefix.sum;
      sums.squares += times * prefix.squares;
    }
    return local_statistics(sums, quantised);
  }

 private:
  using Pair = SumPair<std::uint64_t>;

  /// The plane at a position of column x; 0 where there is no row.
  [[nodiscard]] __device__ std::uint64_t value_at(int x, int position) const {
    const int row = row_at(arguments_, position);
    if (row < 0) return 0;
    return __ldg(reinterpret_cast<const T*>(arguments_.plane.data + row * arguments_.plane.row) + x);
  }

  /// Adds the prefixes of change(x) along the row to those that are there, or to nothing.
  template <class Change>
  __device__ void add(bool to_nothing, const Change& change) {
    constexpr int warps = tuning::long_stats_warps;
    const auto thread = static_cast<int>(threadIdx.x);
    Pair left;               // sums of the columns that are done
    Pair* totals = totals_;  // of the warps: two sets in turns, so that one barrier a turn is enough
    for (int first = 0; first < job_.width; first += warps * warp_size) {
      const int x = first + thread;
      Pair own;
      if (x < job_.width) own = change(x);
      own = {inclusive_scan(own.sum), inclusive_scan(own.squares)};
      if (lane_index() == warp_size - 1) totals[thread / warp_size] = own;
      __syncthreads();
      own = {left.sum + own.sum, left.squares + own.squares};
      for (int w = 0; w < warps; ++w) {
        const Pair total = totals[w];
        left = {left.sum + total.sum, left.squares + total.squares};
        if (w < thread / warp_size) own = {own.sum + total.sum, own.squares + total.squares};
      }
      totals = totals == totals_ ? totals_ + warps : totals_;
      if (x >= job_.width) continue;
      const Pair before = to_nothing ? Pair{} : prefixes_[x];
      prefixes_[x] = {before.sum + own.sum, before.squares + own.squares};
    }
  }

  const RunningStatsArguments& arguments_;
  const RunningStatsJob& job_;
  Pair* prefixes_;  ///< of the block's row: [x] sums the window's rows of columns 0 to x, modulo 2^64
  Pair* totals_;
  int x_ = 0;
};

/// T: of the quantised plane; Stored: of the picture.
template <class T, class Stored, template <class, class, class, class> class Sink>
__global__ void __launch_bounds__(tuning::long_stats_warps* warp_size)
    take_long_statistics(const __grid_constant__ RunningStatsArguments arguments) {
  extern __shared__ uint4 memory[];
  const StatsPart part = stats_part(arguments, 1);
  LongWindows<T> windows(arguments, memory);
  Sink<T, Stored, std::uint64_t, LongWindows<T>> sink(arguments, part, windows);
  windows.start(part.first_y);
  for (int y = part.first_y; y < part.last_y; ++y) {
    __syncthreads();  // the prefixes are there
    for (int x = static_cast<int>(threadIdx.x); x < arguments.running.width; x += blockDim.x) {
      windows.move_to(x);
      sink.write(y);
    }
    __syncthreads();  // and all have read them
    if (y + 1 < part.last_y) windows.advance(y + 1);
  }
  sink.finish();
}

}  // namespace satin::kernels
