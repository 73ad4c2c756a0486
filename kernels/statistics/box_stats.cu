// Local mean and deviation: extraction of the plane, tiles, the choice of the kernel, and the kernel for
// windows that are too wide for shared memory. The kernel for all other windows is in box_stats_running.cuh.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/maths/window.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/pixels/plane_quads.cuh"
#include "kernels/statistics/box_stats_running.cuh"
#include "kernels/statistics/box_stats_sinks.cuh"

namespace satin::kernels {

// Wide windows: a block computes some whole rows of the picture. It keeps the prefix sums of its column sums
// in device memory, and updates them from row to row by the prefix sums of the row that enters minus the row
// that leaves.

/// The interface of StatsWindows for wide windows, one pixel at a time. T is the type of the quantised plane.
template <class T>
class LongWindows {
 public:
  /// `totals` is shared memory for two sums of each warp.
  __device__ LongWindows(const RunningStatsArguments& arguments, void* totals)
      : arguments_(arguments),
        job_(arguments.running),
        prefixes_(static_cast<Pair*>(arguments.long_rows) + std::int64_t{blockIdx.y} * job_.width),
        totals_(static_cast<Pair*>(totals)) {}

  /// Sums the windows around row y. All threads of the block call this, a barrier before statistics().
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

  /// Moves the column sums down to row y, from row y - 1.
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

  /// Returns the plane's value in column x at a row position, or 0 where there is no row.
  [[nodiscard]] __device__ std::uint64_t value_at(int x, int position) const {
    const int row = row_at(arguments_, position);
    if (row < 0) return 0;
    return __ldg(reinterpret_cast<const T*>(arguments_.plane.data + row * arguments_.plane.row) + x);
  }

  /// Adds the prefix sums of change(x) along the row to prefixes_, or sets them if `replaces`.
  template <class Change>
  __device__ void add(bool replaces, const Change& change) {
    constexpr int warps = tuning::long_stats_warps;
    const auto thread = static_cast<int>(threadIdx.x);
    Pair left;               // sums of the columns to the left
    Pair* totals = totals_;  // two sets in turns, so that one barrier for each turn is enough
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
      const Pair before = replaces ? Pair{} : prefixes_[x];
      prefixes_[x] = {before.sum + own.sum, before.squares + own.squares};
    }
  }

  const RunningStatsArguments& arguments_;
  const RunningStatsJob& job_;
  Pair* prefixes_;  ///< [x]: sum over the window's rows of columns 0 to x, modulo 2^64
  Pair* totals_;    ///< sums of each warp, twice
  int x_ = 0;
};

/// T is the type of the quantised plane, Stored that of the picture.
template <class T, class Stored, template <class, class, class, class> class Sink>
__global__ void __launch_bounds__(tuning::long_stats_warps* warp_size)
    long_statistics(const __grid_constant__ RunningStatsArguments arguments) {
  extern __shared__ uint4 memory[];
  const StatsTile tile = stats_tile(arguments, 1);
  LongWindows<T> windows(arguments, memory);
  Sink<T, Stored, std::uint64_t, LongWindows<T>> sink(arguments, tile, windows);
  windows.start(tile.first_y);
  for (int y = tile.first_y; y < tile.last_y; ++y) {
    __syncthreads();  // all prefixes are written
    for (int x = static_cast<int>(threadIdx.x); x < arguments.running.width; x += blockDim.x) {
      windows.move_to(x);
      sink.write(y);
    }
    __syncthreads();  // all threads have read them
    if (y + 1 < tile.last_y) windows.advance(y + 1);
  }
  sink.finish();
}
namespace {

__global__ void __launch_bounds__(plane_threads)
    extract_floats(const __grid_constant__ PlaneArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const int exponent = plane_exponent(arguments.plane, arguments.measured);
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const float value = plane_value_at<float>(arguments.plane, arguments.picture, x, y);
    auto* out = reinterpret_cast<std::uint32_t*>(arguments.result.data + y * arguments.result.row);
    out[x] = quantise(value, arguments.plane, exponent);
  }
}

template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    extract_quads(const __grid_constant__ PlaneArguments arguments) {
  for_quads<Channels, T>(
      arguments.picture, arguments.width, arguments.height, arguments.plane,
      [&](std::int64_t x, std::int64_t y, const Vector<T, quad>& values, int count) {
        store_quad(values, count, reinterpret_cast<T*>(arguments.result.data + y * arguments.result.row) + x);
      });
}

__global__ void set_extremes(PictureExtremes* extremes, PictureExtremes value) {
  *reinterpret_cast<OrderedExtremes*>(extremes) = OrderedExtremes::of(value);
}

/// Returns the elements of a lane. Planes of u16 and u32 have as many as bytes with 64-bit sums.
int elements_of(const RunningStatsJob& job) {
  const auto with_sum = [&]<class Sum>(Sum) {
    return job.channels == 3 ? elements_per_lane<std::uint8_t, 3, Sum>
                             : elements_per_lane<std::uint8_t, 1, Sum>;
  };
  return job.wide ? with_sum(std::uint64_t{}) : with_sum(std::uint32_t{});
}

int pixels_of(const RunningStatsJob& job) { return elements_of(job) / job.channels; }

std::size_t shared_bytes_of(const RunningStatsJob& job, int warps) {
  const std::size_t pair = job.wide ? sizeof(SumPair<std::uint64_t>) : sizeof(SumPair<std::uint32_t>);
  return pair * stats_prefixes(warps, job.channels, elements_of(job));
}

constexpr int largest_side = 1 << 26;  // offsets within a row are 32-bit integers

/// Returns the columns of results of a block, a multiple of a lane's pixels; 0 if the windows do not fit.
int usable_columns(const RunningStatsJob& job, int warps) {
  const int pixels = pixels_of(job);
  const int usable = warps * warp_size * pixels - 2 * job.reach_x - pixels;
  return usable < 0 ? 0 : usable / pixels * pixels;
}

template <class T, class Stored, class Action>
int with_long_sink(bool extremes, const Action& action) {
  if (extremes) return action(long_statistics<T, Stored, FoundExtremes>);
  return action(long_statistics<T, Stored, EveryResult>);
}

/// Calls action(kernel) for the job's result and types.
template <class T, class Stored, class Sum, class Action>
int with_sink(const RunningStatsArguments& arguments, bool extremes, const Action& action) {
  if (extremes) return action(running_statistics<T, Stored, Sum, FoundExtremes, -1>);
  if constexpr (!std::is_same_v<Stored, float>) {
    if (arguments.quick && arguments.job.result == LocalResult::binary)
      return with_shift<StatsRows<T, 1, Sum>, Sum>(arguments.running, [&](auto shift) {
        return action(running_statistics<T, Stored, Sum, QuickBinary, decltype(shift)::value>);
      });
  }
  return action(running_statistics<T, Stored, Sum, EveryResult, -1>);
}

template <class Action>
int with_kernel(const RunningStatsArguments& arguments, bool extremes, const Action& action) {
  const Type type = arguments.job.plane.type;
  if (arguments.long_rows != nullptr) {
    if (type == Type::u8) return with_long_sink<std::uint8_t, std::uint8_t>(extremes, action);
    if (type == Type::u16) return with_long_sink<std::uint16_t, std::uint16_t>(extremes, action);
    return with_long_sink<std::uint32_t, float>(extremes, action);
  }
  if (type == Type::u16)
    return with_sink<std::uint16_t, std::uint16_t, std::uint64_t>(arguments, extremes, action);
  if (type == Type::f32) return with_sink<std::uint32_t, float, std::uint64_t>(arguments, extremes, action);
  return arguments.running.wide
             ? with_sink<std::uint8_t, std::uint8_t, std::uint64_t>(arguments, extremes, action)
             : with_sink<std::uint8_t, std::uint8_t, std::uint32_t>(arguments, extremes, action);
}

void launch(const RunningStatsArguments& arguments, bool extremes, StreamHandle stream) {
  with_kernel(arguments, extremes, [&](auto* kernel) {
    launch_running_statistics(kernel, arguments, stream);
    return 0;
  });
}

}  // namespace

void extract_plane(const PlaneArguments& arguments, StreamHandle stream) {
  const bool integers = with_integer_plane(arguments.plane, [&]<class T, int Channels>() {
    extract_quads<T, Channels>
        <<<quad_grid(arguments.width, arguments.height), plane_threads, 0, stream>>>(arguments);
  });
  if (!integers)
    extract_floats<<<plane_grid(arguments.width, arguments.height), plane_threads, 0, stream>>>(arguments);
}

bool has_quick_numbers(const RunningStatsArguments& arguments) {
  return arguments.quick && arguments.job.result != LocalResult::binary;
}

int running_stats_margin(const RunningStatsJob& job) {
  constexpr int most_pixels = 16;  // largest number of pixels of a lane
  return std::max(job.reach_x, job.reach_y) + 1 + 2 * most_pixels;
}

SlidingTiles running_stats_tiles(const RunningStatsJob& job, int multiprocessors, std::size_t shared_limit) {
  if (std::max(job.width, job.height) > largest_side) return {};
  SlidingTileRules rules;
  rules.width = job.width;
  rules.height = job.height;
  rules.multiprocessors = multiprocessors;
  rules.pixels = pixels_of(job);
  rules.start_cost = std::min(2 * job.reach_y + 1, job.height);
  rules.row_cost = tuning::running_stats_start_rows_per_row;
  rules.fewest_spans = tuning::running_stats_warps_to_fill;
  rules.wished_spans = tuning::running_stats_wished_warps;
  SlidingTiler tiler(rules);
  for (int spans = 1; spans <= tuning::running_stats_most_warps; ++spans) {
    const int usable = usable_columns(job, spans);
    if (usable < spans * warp_size * rules.pixels / 4) continue;
    tiler.consider(
        spans, usable, std::max(1, tuning::running_stats_warps_per_multiprocessor / spans),
        [&](const SlidingTiles& tiles) { return shared_bytes_of(job, tiles.spans); }, shared_limit);
  }
  return tiler.best();
}

SlidingTiles long_stats_tiles(const RunningStatsJob& job, int multiprocessors) {
  SlidingTiles tiles;
  tiles.spans = tuning::long_stats_warps;
  tiles.width = job.width;
  tiles.columns = 1;
  tiles.rows = std::min(multiprocessors, job.height);
  tiles.shared_bytes = 2 * tuning::long_stats_warps * sizeof(SumPair<std::uint64_t>);
  return tiles;
}

std::size_t long_stats_bytes(const RunningStatsJob& job, const SlidingTiles& tiles) {
  return sizeof(SumPair<std::uint64_t>) * static_cast<std::size_t>(tiles.rows) *
         static_cast<std::size_t>(job.width);
}

int prepare_running_stats(const RunningStatsArguments& arguments) {
  if (has_quick_numbers(arguments)) return prepare_running_numbers(arguments);
  const auto ask = [&](auto* kernel) { return allow_all_shared_memory(kernel); };
  const int refused = with_kernel(arguments, true, ask);
  return refused != 0 ? refused : with_kernel(arguments, false, ask);
}

void clear_extremes(PictureExtremes* extremes, StreamHandle stream) {
  set_extremes<<<1, 1, 0, stream>>>(extremes, no_extremes);
}

void find_extremes(const RunningStatsArguments& arguments, StreamHandle stream) {
  launch(arguments, true, stream);
}

void running_stats(const RunningStatsArguments& arguments, StreamHandle stream) {
  if (has_quick_numbers(arguments)) return running_numbers(arguments, stream);
  launch(arguments, false, stream);
}

}  // namespace satin::kernels
