// The part of the box mean with running sums that does not depend on the type of the picture: how it is cut
// into blocks.

#include <algorithm>

#include "kernels/box_mean_running.cuh"

namespace satin::kernels {
namespace {

template <class T, class Sum>
int elements_of(int channels) {
  return channels == 3 ? elements_per_lane<T, 3, Sum> : elements_per_lane<T, 1, Sum>;
}

int elements_of(const RunningMeanJob& job) {
  const bool wide = job.accumulator == Accumulator::u64;
  if (job.type == Type::u8)
    return wide ? elements_of<std::uint8_t, std::uint64_t>(job.channels)
                : elements_of<std::uint8_t, std::uint32_t>(job.channels);
  return wide ? elements_of<std::uint16_t, std::uint64_t>(job.channels)
              : elements_of<std::uint16_t, std::uint32_t>(job.channels);
}

std::size_t shared_bytes_of(const RunningMeanJob& job, int warps) {
  const bool table = job.decoded && job.type == Type::u8;
  return job.accumulator == Accumulator::u32
             ? running_shared_bytes<std::uint32_t>(warps, elements_of(job), table)
             : running_shared_bytes<std::uint64_t>(warps, elements_of(job), table);
}

/// Strips for blocks of `warps` warps; 0 if their windows do not fit.
int strips_for(const RunningMeanJob& job, int pixels, int warps) {
  const int columns = warps * warp_size * pixels;
  if (job.clipped && columns >= job.width + pixels) return 1;
  const int usable = columns - 2 * job.x.outer_reach() - pixels;
  return usable <= 0 ? 0 : (job.width + usable - 1) / usable;
}

/// What a choice costs, in rows times warps of the multiprocessor that has most to do: a row of the start of
/// a band costs a fraction of a row of means, and few warps keep a multiprocessor waiting.
struct Cut {
  int warps = 0;
  int strips = 0;
  int bands = 0;
  std::int64_t cost = 0;
};

Cut cut_by(const RunningMeanJob& job, int warps, int strips, int wished_blocks, int start_rows,
           int multiprocessors) {
  Cut cut{warps, strips, std::clamp(wished_blocks * multiprocessors / strips, 1, job.height)};
  const std::int64_t blocks = std::int64_t{strips} * cut.bands;
  const std::int64_t busiest = (blocks + multiprocessors - 1) / multiprocessors;
  const std::int64_t rows = (job.height + cut.bands - 1) / cut.bands;
  cut.cost = (rows * tuning::running_start_rows_per_row + start_rows) *
             std::max<std::int64_t>(busiest * warps, tuning::running_warps_to_fill);
  return cut;
}

/// All columns that the blocks of a band sum, those that only surround their windows too.
std::int64_t summed_columns(const Cut& cut, int pixels) {
  return std::int64_t{cut.strips} * cut.warps * warp_size * pixels;
}

}  // namespace

RunningMargin running_margin(const RunningWindow& window) {
  constexpr int most_pixels = 32;  // of a lane
  return {window.outer_reach() + 1 + most_pixels, window.outer_reach() + 1 + most_pixels};
}

RunningTiles running_tiles(const RunningMeanJob& job, int multiprocessors, std::size_t shared_limit) {
  const int pixels = elements_of(job) / job.channels;
  const bool groups = job.y.reach > tuning::running_largest_direct_reach;
  const int start_rows =
      groups ? tuning::running_group_rows : std::min(2 * job.y.outer_reach() + 1, job.height);
  Cut best;
  for (int warps = 1; warps <= tuning::running_most_warps; ++warps) {
    const int strips = strips_for(job, pixels, warps);
    if (strips == 0) continue;
    if (shared_bytes_of(job, warps) > shared_limit) break;
    const int most_blocks = std::max(1, tuning::running_warps_per_multiprocessor / warps);
    for (int blocks = 1; blocks <= most_blocks; ++blocks) {
      const Cut cut = cut_by(job, warps, strips, blocks, start_rows, multiprocessors);
      if (best.warps == 0 || cut.cost < best.cost) best = cut;
    }
  }
  // Where most of a block's columns only surround its windows, a table is cheaper.
  if (best.warps == 0 || summed_columns(best, pixels) > 3 * std::int64_t{job.width} + 2 * warp_size * pixels)
    return {};

  RunningTiles tiles;
  tiles.warps = best.warps;
  tiles.bands = best.bands;
  tiles.groups = groups;
  tiles.strip_width = (job.width + best.strips - 1) / best.strips;
  const int usable = best.warps * warp_size * pixels - 2 * job.x.outer_reach() - pixels;
  for (const int step : {32, 8}) {  // strips that begin with a sector of the L2, or with a word
    const int stepped = (tiles.strip_width + step - 1) / step * step;
    if (best.strips != 1 && stepped > usable) continue;
    tiles.strip_width = stepped;
    break;
  }
  tiles.strips = (job.width + tiles.strip_width - 1) / tiles.strip_width;
  tiles.shared_bytes = shared_bytes_of(job, tiles.warps);
  return tiles;
}

std::size_t running_groups_bytes(const RunningMeanJob& job, const RunningTiles& tiles) {
  if (!tiles.groups) return 0;
  const int elements = elements_of(job);
  const GroupLayout layout = GroupLayout::of(job, elements / job.channels);
  return static_cast<std::size_t>(layout.count) * static_cast<std::size_t>(layout.lanes) *
         static_cast<std::size_t>(elements) * (job.accumulator == Accumulator::u32 ? 4 : 8);
}

extern template int prepare_running_mean_of<std::uint8_t>(const RunningMeanArguments&);
extern template int prepare_running_mean_of<std::uint16_t>(const RunningMeanArguments&);
extern template void running_mean_of<std::uint8_t>(const RunningMeanArguments&, StreamHandle);
extern template void running_mean_of<std::uint16_t>(const RunningMeanArguments&, StreamHandle);

int prepare_running_mean(const RunningMeanArguments& arguments) {
  return arguments.job.type == Type::u8 ? prepare_running_mean_of<std::uint8_t>(arguments)
                                        : prepare_running_mean_of<std::uint16_t>(arguments);
}

void running_mean(const RunningMeanArguments& arguments, StreamHandle stream) {
  if (arguments.job.type == Type::u8) return running_mean_of<std::uint8_t>(arguments, stream);
  running_mean_of<std::uint16_t>(arguments, stream);
}

}  // namespace satin::kernels
