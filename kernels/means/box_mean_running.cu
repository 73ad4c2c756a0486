// The part of the box mean with running sums that does not depend on the type of the picture: how it is cut
// into blocks.

#include <algorithm>
#include <bit>

#include "core/with_type.h"
#include "kernels/means/launch.h"
#include "kernels/means/row_groups.cuh"
#include "kernels/means/running_shared.cuh"
#include "kernels/means/wide_tuning.h"

namespace satin::kernels {
namespace {

int table_bytes_of(const RunningMeanJob& job) {
  using u8 = std::uint8_t;
  using u16 = std::uint16_t;
  if (job.type == Type::u8)
    return job.output == Type::u8 ? RunningTables<u8, u8>::bytes(job.decoded, job.encoded)
                                  : RunningTables<u8, u16>::bytes(job.decoded, job.encoded);
  return job.output == Type::u8 ? RunningTables<u16, u8>::bytes(job.decoded, job.encoded)
                                : RunningTables<u16, u16>::bytes(job.decoded, job.encoded);
}

std::size_t shared_bytes_of(const RunningMeanJob& job, int warps, int teams) {
  const int team = job.sums == RunningSums::u32 ? TeamMemory<std::uint32_t>::bytes(warps)
                                                : TeamMemory<std::uint64_t>::bytes(warps);
  return static_cast<std::size_t>(table_bytes_of(job) + teams * team);
}

/// Columns behind the last one that counts, which windows that leave the picture read.
int spare_pixels(const RunningMeanJob& job) { return 36 / job.channels; }

/// Columns of a strip of `warps` warps that can have means.
int usable_columns(const RunningMeanJob& job, int warps) {
  const int pixels = running_elements / job.channels;
  return warps * warp_size * pixels - 2 * job.x.outer_reach() - pixels - spare_pixels(job);
}

/// Strips for teams of `warps` warps; 0 if their windows do not fit.
int strips_for(const RunningMeanJob& job, int warps) {
  const int columns = warps * warp_size * (running_elements / job.channels);
  if (job.clipped && columns >= job.width + spare_pixels(job)) return 1;
  const int usable = usable_columns(job, warps);
  return usable <= 0 ? 0 : (job.width + usable - 1) / usable;
}

/// What a choice costs, in rows times warps of the multiprocessor that has most to do: a row of the start of
/// a band costs a fraction of a row of means, and few warps keep a multiprocessor waiting.
struct Cut {
  int warps = 0;
  int teams = 0;
  int strips = 0;
  int bands = 0;
  std::int64_t cost = 0;
};

Cut cut_by(const RunningMeanJob& job, int warps, int strips, int teams, int start_rows, int multiprocessors) {
  Cut cut{warps, teams, strips, std::clamp(teams * multiprocessors / strips, 1, job.height)};
  const std::int64_t tiles = std::int64_t{strips} * cut.bands;
  const std::int64_t busiest = (tiles + multiprocessors - 1) / multiprocessors;
  const std::int64_t rows = (job.height + cut.bands - 1) / cut.bands;
  cut.cost = (rows * tuning::running_start_rows_per_row + start_rows) *
             std::max<std::int64_t>(busiest * warps, tuning::running_warps_to_fill);
  return cut;
}

/// All columns that the teams of a band sum, those that only surround their windows too.
std::int64_t summed_columns(const Cut& cut, int pixels) {
  return std::int64_t{cut.strips} * cut.warps * warp_size * pixels;
}

}  // namespace

ScaledDivisor scaled_divisor(std::uint64_t divisor, std::uint64_t largest) {
  ScaledDivisor scaled;
  if (divisor < 3 || divisor >= 1U << 31 || divisor * largest + divisor / 2 > 0xFFFFFFFFU) return scaled;
  scaled.divisor = static_cast<std::uint32_t>(divisor);
  scaled.shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1)) - 1;
  const std::uint64_t power = std::uint64_t{1} << (32 + scaled.shift);
  const std::uint64_t factor = (power + divisor - 1) / divisor;
  scaled.factor = static_cast<std::uint32_t>(factor);
  const std::uint64_t excess = factor * divisor - power;  // below the divisor
  scaled.exact = excess == 0 || (divisor * largest + divisor / 2) < power / excess;
  return scaled;
}

RunningMargin running_margin(const RunningWindow& window) {
  constexpr int most_pixels = 32;  // of a lane
  return {window.outer_reach() + 1 + most_pixels, window.outer_reach() + 1 + most_pixels};
}

RunningTiles running_tiles(const RunningMeanJob& job, int multiprocessors, std::size_t shared_limit) {
  const int pixels = running_elements / job.channels;
  const bool groups = job.y.reach > tuning::running_largest_direct_reach;
  if (job.wide && groups) return {};
  const bool fractions = job.x.outer != 0 || job.y.outer != 0;
  const int usual_warps = job.wide ? wide_warps(job.type, fractions) : tuning::running_warps_per_block;
  const int most_warps = job.wide ? usual_warps : tuning::running_most_warps;
  const int start_rows =
      groups ? tuning::running_group_rows : std::min(2 * job.y.outer_reach() + 1, job.height);
  Cut best;
  for (int warps = 1; warps <= most_warps; ++warps) {
    const int strips = strips_for(job, warps);
    if (strips == 0) continue;
    const int most_teams = std::clamp(usual_warps / warps, 1, running_most_teams);
    for (int teams = 1; teams <= most_teams; ++teams) {
      if (shared_bytes_of(job, warps, teams) > shared_limit) break;
      const Cut cut = cut_by(job, warps, strips, teams, start_rows, multiprocessors);
      if (best.warps == 0 || cut.cost < best.cost) best = cut;
    }
  }
  // Where most of a team's columns only surround its windows, a table is cheaper.
  if (best.warps == 0 || summed_columns(best, pixels) > 3 * std::int64_t{job.width} + 2 * warp_size * pixels)
    return {};

  RunningTiles tiles;
  tiles.warps = best.warps;
  tiles.teams = best.teams;
  tiles.bands = best.bands;
  tiles.groups = groups;
  const int lanes = (job.width + pixels - 1) / pixels;
  tiles.strip_width = (lanes + best.strips - 1) / best.strips * pixels;
  if (best.strips > 1) {  // strips that begin with a sector of the L2
    const int stepped = (tiles.strip_width + 31) / 32 * 32;
    if (stepped % pixels == 0 && stepped <= usable_columns(job, best.warps)) tiles.strip_width = stepped;
  }
  tiles.strips = (job.width + tiles.strip_width - 1) / tiles.strip_width;
  tiles.shared_bytes = shared_bytes_of(job, tiles.warps, tiles.teams);
  return tiles;
}

std::size_t running_groups_bytes(const RunningMeanJob& job, const RunningTiles& tiles) {
  if (!tiles.groups) return 0;
  const GroupLayout layout = GroupLayout::of(job);
  return static_cast<std::size_t>(layout.count) * static_cast<std::size_t>(layout.lanes) * running_elements *
         (job.sums == RunningSums::u64 ? 8 : 4);
}

namespace {

template <class T, class Action>
auto with_output(const RunningMeanJob& job, const Action& action) {
  return with_channels(job.channels, [&]<int Channels>() {
    return job.output == Type::u8 ? action(RunningKernels<T, std::uint8_t, Channels>{})
                                  : action(RunningKernels<T, std::uint16_t, Channels>{});
  });
}

template <class T, class Action>
auto with_wide_channels(int channels, const Action& action) {
  return with_channels(channels, [&]<int Channels>() { return action(WideKernels<T, Channels>{}); });
}

template <class Action>
auto with_wide_kernels(const RunningMeanJob& job, const Action& action) {
  switch (job.type) {
    case Type::f32:
      return with_wide_channels<float>(job.channels, action);
    case Type::u64:
      return with_wide_channels<std::uint64_t>(job.channels, action);
    case Type::u32:
      return with_wide_channels<std::uint32_t>(job.channels, action);
    case Type::u16:
      return with_wide_channels<std::uint16_t>(job.channels, action);
    default:
      return with_wide_channels<std::uint8_t>(job.channels, action);
  }
}

/// Calls action(RunningKernels or WideKernels) for the job's pictures.
template <class Action>
auto with_kernels(const RunningMeanJob& job, const Action& action) {
  if (job.wide) return with_wide_kernels(job, action);
  return job.type == Type::u8 ? with_output<std::uint8_t>(job, action)
                              : with_output<std::uint16_t>(job, action);
}

}  // namespace

int prepare_running_mean(const RunningMeanArguments& arguments) {
  return with_kernels(arguments.job, [&](auto kernels) { return kernels.prepare(arguments); });
}

void running_mean(const RunningMeanArguments& arguments, StreamHandle stream) {
  with_kernels(arguments.job, [&](auto kernels) { kernels.run(arguments, stream); });
}

}  // namespace satin::kernels
