#include "kernels/statistics/box_stats_running.cuh"

#include <algorithm>

#include "kernels/device/shared_memory.cuh"

namespace satin::kernels {
namespace {

/// Calls action(std::type_identity<StatsPrefixes>) for what the job's lanes hold.
template <class Action>
auto with_prefixes(const RunningStatsJob& job, const Action& action) {
  const auto with_sum = [&](auto sum) {
    using Sum = decltype(sum);
    using T = std::uint8_t;
    if (job.channels == 3) return action(std::type_identity<StatsPrefixes<Sum, StatsRows<T, 3, Sum>>>{});
    if (job.channels == 4) return action(std::type_identity<StatsPrefixes<Sum, StatsRows<T, 4, Sum>>>{});
    return action(std::type_identity<StatsPrefixes<Sum, StatsRows<T, 1, Sum>>>{});
  };
  return job.wide ? with_sum(std::uint64_t{}) : with_sum(std::uint32_t{});
}
static_assert(
    elements_per_lane<std::uint8_t, 1, std::uint64_t> == elements_per_lane<std::uint32_t, 1, std::uint64_t> &&
    elements_per_lane<std::uint8_t, 3, std::uint64_t> == elements_per_lane<std::uint16_t, 3, std::uint64_t> &&
    elements_per_lane<std::uint8_t, 1, std::uint64_t> == elements_per_lane<std::uint16_t, 1, std::uint64_t>);

int pixels_of(const RunningStatsJob& job) {
  return with_prefixes(job, [](auto prefixes) {
    using Prefixes = typename decltype(prefixes)::type;
    return Prefixes::elements / Prefixes::channels;
  });
}

std::size_t shared_bytes_of(const RunningStatsJob& job, int warps) {
  return with_prefixes(job, [&](auto prefixes) { return decltype(prefixes)::type::bytes(warps); });
}

/// Columns of results of a block, whole lanes; 0 or less if the windows do not fit.
int usable_columns(const RunningStatsJob& job, int warps) {
  const int pixels = pixels_of(job);
  const int usable = warps * warp_size * pixels - 2 * job.reach_x - pixels;
  return usable < 0 ? 0 : usable / pixels * pixels;
}

/// Calls action(kernel) for the job's result and types.
template <class T, class Stored, class Sum, class Action>
int with_sink(const RunningStatsArguments& arguments, bool extremes, const Action& action) {
  if (extremes) return action(take_running_statistics<T, Stored, Sum, FoundExtremes, -1>);
  if constexpr (!std::is_same_v<Stored, float>) {
    if (arguments.quick && arguments.job.result == LocalResult::binary) {
      if constexpr (sizeof(Sum) == 4)
        return with_shift<StatsRows<T, 1, Sum>::pixels>(arguments.running, [&](auto shift) {
          return action(take_running_statistics<T, Stored, Sum, QuickBinary, decltype(shift)::value>);
        });
      else
        return action(take_running_statistics<T, Stored, Sum, QuickBinary, -1>);
    }
  }
  return action(take_running_statistics<T, Stored, Sum, EveryResult, -1>);
}

template <class Action>
int with_kernel(const RunningStatsArguments& arguments, bool extremes, const Action& action) {
  const Type type = arguments.job.plane.type;
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

bool has_quick_numbers(const RunningStatsArguments& arguments) {
  return arguments.quick && arguments.job.result != LocalResult::binary;
}

int running_stats_margin(const RunningStatsJob& job) {
  constexpr int most_pixels = 16;  // of a lane
  return std::max(job.reach_x, job.reach_y) + 1 + 2 * most_pixels;
}

SlidingTiles running_stats_tiles(const RunningStatsJob& job, int multiprocessors, std::size_t shared_limit) {
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

int prepare_running_stats(const RunningStatsArguments& arguments) {
  if (has_quick_numbers(arguments)) return prepare_running_numbers(arguments);
  const auto ask = [&](auto* kernel) { return allow_all_shared_memory(kernel); };
  const int refused = with_kernel(arguments, true, ask);
  return refused != 0 ? refused : with_kernel(arguments, false, ask);
}

void find_extremes(const RunningStatsArguments& arguments, StreamHandle stream) {
  begin_extremes(arguments.extremes, stream);
  launch(arguments, true, stream);
  end_extremes(arguments.extremes, stream);
}

void running_stats(const RunningStatsArguments& arguments, StreamHandle stream) {
  if (has_quick_numbers(arguments)) return running_numbers(arguments, stream);
  launch(arguments, false, stream);
}

}  // namespace satin::kernels
