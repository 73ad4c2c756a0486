// Deviations and normalised values of integers by running sums.

#include "kernels/device/shared_memory.cuh"
#include "kernels/statistics/box_stats_numbers.cuh"
#include "kernels/statistics/box_stats_running.cuh"

namespace satin::kernels {
namespace {

/// Bytes with 32-bit sums know the shift of their windows when they are compiled.
template <class T, class Sum, int Channels, class Action>
int with_known_shift(const RunningStatsArguments& arguments, const Action& action) {
  if constexpr (sizeof(Sum) == 4)
    return with_shift<StatsRows<T, Channels, Sum>::pixels>(arguments.running, [&](auto shift) {
      return action(take_running_statistics<T, T, Sum, QuickNumbers, decltype(shift)::value, Channels>);
    });
  else
    return action(take_running_statistics<T, T, Sum, QuickNumbers, -1, Channels>);
}

template <class T, class Sum, class Action>
int with_channels(const RunningStatsArguments& arguments, const Action& action) {
  if (arguments.running.channels == 3) return with_known_shift<T, Sum, 3>(arguments, action);
  if (arguments.running.channels == 4) return with_known_shift<T, Sum, 4>(arguments, action);
  return with_known_shift<T, Sum, 1>(arguments, action);
}

/// Calls action(kernel). Bytes with 64-bit sums have one channel.
template <class Action>
int with_numbers(const RunningStatsArguments& arguments, const Action& action) {
  if (arguments.job.plane.type == Type::u16)
    return with_channels<std::uint16_t, std::uint64_t>(arguments, action);
  if (!arguments.running.wide) return with_channels<std::uint8_t, std::uint32_t>(arguments, action);
  return with_known_shift<std::uint8_t, std::uint64_t, 1>(arguments, action);
}

}  // namespace

int prepare_running_numbers(const RunningStatsArguments& arguments) {
  return with_numbers(arguments, [](auto* kernel) { return allow_all_shared_memory(kernel); });
}

void running_numbers(const RunningStatsArguments& arguments, StreamHandle stream) {
  with_numbers(arguments, [&](auto* kernel) {
    launch_running_statistics(kernel, arguments, stream);
    return 0;
  });
}

}  // namespace satin::kernels
