// Local mean and deviation: the plane that is summed, how the work is cut, and which kernel does it.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/device/shared_memory.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/pixels/plane_quads.cuh"
#include "kernels/statistics/box_stats_long.cuh"
#include "kernels/statistics/box_stats_running.cuh"
#include "kernels/statistics/box_stats_sinks.cuh"

namespace satin::kernels {
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

/// Elements of a lane, and those of 16-bit integers and floats as of bytes with 64-bit sums.
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

/// Columns of results of a block, whole lanes; 0 or less if the windows do not fit.
int usable_columns(const RunningStatsJob& job, int warps) {
  const int pixels = pixels_of(job);
  const int usable = warps * warp_size * pixels - 2 * job.reach_x - pixels;
  return usable < 0 ? 0 : usable / pixels * pixels;
}

template <class T, class Stored, class Action>
int with_long_sink(bool extremes, const Action& action) {
  if (extremes) return action(take_long_statistics<T, Stored, FoundExtremes>);
  return action(take_long_statistics<T, Stored, EveryResult>);
}

/// Calls action(kernel) for the job's result and types.
template <class T, class Stored, class Sum, class Action>
int with_sink(const RunningStatsArguments& arguments, bool extremes, const Action& action) {
  if (extremes) return action(take_running_statistics<T, Stored, Sum, FoundExtremes, -1>);
  if constexpr (!std::is_same_v<Stored, float>) {
    if (arguments.quick && arguments.job.result == LocalResult::binary)
      return with_shift<StatsRows<T, 1, Sum>, Sum>(arguments.running, [&](auto shift) {
        return action(take_running_statistics<T, Stored, Sum, QuickBinary, decltype(shift)::value>);
      });
  }
  return action(take_running_statistics<T, Stored, Sum, EveryResult, -1>);
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
  constexpr int most_pixels = 16;  // of a lane
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
