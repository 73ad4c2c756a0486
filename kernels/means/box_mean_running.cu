// The part of the box mean with running sums that does not depend on the type of the picture: how it is cut
// into tiles, and launched.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/with_type.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/means/counted_columns.cuh"
#include "kernels/means/launch.h"
#include "kernels/means/row_groups.cuh"
#include "kernels/means/running_shared.cuh"

namespace satin::kernels {
namespace {

int table_bytes_of(const RunningMeanJob& job) {
  const int decode = job.type == Type::u8 ? DecodeTable::bytes : WideDecodeTable::bytes;
  const bool encoded = job.encoded && job.output == Type::u8;
  return (job.decoded ? decode : 0) + (encoded ? EncodeTable<std::uint8_t>::bytes : 0);
}

/// Bytes of the column sums of one lane.
int lane_bytes_of(const RunningMeanJob& job) {
  return running_elements * (job.sums == RunningSums::u64 ? 8 : 4);
}

/// A span has two warps where a block has room for them.
int warps_of_span(const RunningMeanJob& job, int spans) {
  return job.whole_windows() && 2 * spans <= paired_warps ? 2 : 1;
}

std::size_t shared_bytes_of(const RunningMeanJob& job, const SlidingTiles& tiles, int rows) {
  const bool narrow = job.sums == RunningSums::u32 || job.sums == RunningSums::u32_low;
  const int row =
      narrow ? TileMemory<std::uint32_t>::bytes(tiles.spans) : TileMemory<std::uint64_t>::bytes(tiles.spans);
  return static_cast<std::size_t>(table_bytes_of(job) + tiles.together * rows * row);
}

/// Columns behind the last one that counts, which windows that leave the picture read.
int spare_pixels(const RunningMeanJob& job) { return 36 / job.channels; }

/// Columns of a tile of `spans` that can have means.
int usable_columns(const RunningMeanJob& job, int spans) {
  const int pixels = running_elements / job.channels;
  const int columns = spans * warp_size * pixels;
  if (job.clipped && columns >= job.width + spare_pixels(job)) return job.width;
  return columns - 2 * job.x.outer_reach() - pixels - spare_pixels(job);
}

/// Tiles of several columns begin with a sector of the L2, where lanes allow it.
SlidingTiles aligned(const RunningMeanJob& job, SlidingTiles tiles) {
  const int stepped = (tiles.width + 31) / 32 * 32;
  if (tiles.columns == 1 || stepped % (running_elements / job.channels) != 0 ||
      stepped > usable_columns(job, tiles.spans))
    return tiles;
  tiles.width = stepped;
  tiles.columns = (job.width + stepped - 1) / stepped;
  return tiles;
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

namespace {

/// The cheapest tiles of at most `most_spans` spans; a block holds at most `most_together(spans)` of them.
template <class MostTogether, class SharedBytes>
SlidingTiles best_tiles(const RunningMeanJob& job, int most_spans, int multiprocessors,
                        const MostTogether& most_together, const SharedBytes& shared_bytes,
                        std::size_t shared_limit) {
  const int pixels = running_elements / job.channels;
  SlidingTileRules rules{job.width, job.height, multiprocessors, pixels};
  rules.start_cost =
      job.grouped() ? tuning::running_group_rows : std::min(2 * job.y.outer_reach() + 1, job.height);
  rules.row_cost = tuning::running_start_rows_per_row;
  rules.fewest_spans = tuning::running_warps_to_fill;
  SlidingTiler tiler(rules);
  for (int spans = 1; spans <= most_spans; ++spans) {
    const int usable = usable_columns(job, spans);
    if (usable <= 0) continue;
    tiler.consider(spans, usable, most_together(spans), shared_bytes, shared_limit);
  }
  // Where most of the columns that tiles sum only surround their windows, a table is cheaper.
  const SlidingTiles& best = tiler.best();
  const int span_pixels = warp_size * pixels;
  if (std::int64_t{best.columns} * best.spans * span_pixels > 3 * std::int64_t{job.width} + 2 * span_pixels)
    return {};
  return best.spans == 0 ? best : aligned(job, best);
}

}  // namespace

SlidingTiles tiles_of(const RunningMeanJob& job, int multiprocessors, std::size_t shared_limit) {
  if (job.wide && job.grouped()) return {};
  const bool fractions = job.x.outer != 0 || job.y.outer != 0;
  const int usual_warps = job.wide ? wide_warps(job.type, fractions) : tuning::running_warps_per_block;
  const int most_warps = job.wide ? usual_warps : tuning::running_most_warps;
  const auto most_together = [&](int spans) {
    if (warps_of_span(job, spans) == 1) return std::clamp(usual_warps / spans, 1, running_most_barriers);
    return std::clamp(paired_warps / 2 / spans, 1, running_most_barriers / paired_barriers);
  };
  const auto shared_bytes = [&](const SlidingTiles& tiles) {
    return shared_bytes_of(job, tiles, warps_of_span(job, tiles.spans) == 2 ? paired_rows : 1);
  };
  return best_tiles(job, most_warps, multiprocessors, most_together, shared_bytes, shared_limit);
}

SlidingTiles counted_tiles_of(const RunningMeanJob& job, int multiprocessors, std::size_t shared_limit) {
  constexpr int warps = tuning::running_counted_warps;
  const auto most_together = [](int spans) { return std::clamp(warps / spans, 1, running_most_barriers); };
  const auto shared_bytes = [&](const SlidingTiles& tiles) {
    const int counts = tiles.together * count_memory_bytes(tiles.spans, job.channels);
    return shared_bytes_of(job, tiles, 1) + static_cast<std::size_t>(counts);
  };
  return best_tiles(job, warps, multiprocessors, most_together, shared_bytes, shared_limit);
}

std::size_t running_groups_bytes(const RunningMeanJob& job) {
  if (!job.grouped()) return 0;
  const GroupLayout layout = GroupLayout::of(job);
  return static_cast<std::size_t>(layout.count) * static_cast<std::size_t>(layout.lanes) *
         static_cast<std::size_t>(lane_bytes_of(job));
}

namespace {

RunningKernels kernels_of(const RunningMeanArguments& arguments) {
  return with_channels(arguments.job.channels, [&]<int Channels>() {
    switch (arguments.job.type) {
      case Type::f32:
        return running_kernels_of<float, Channels>(arguments);
      case Type::u64:
        return running_kernels_of<std::uint64_t, Channels>(arguments);
      case Type::u32:
        return running_kernels_of<std::uint32_t, Channels>(arguments);
      case Type::u16:
        return running_kernels_of<std::uint16_t, Channels>(arguments);
      default:
        return running_kernels_of<std::uint8_t, Channels>(arguments);
    }
  });
}

}  // namespace

int prepare_mean(const RunningMeanArguments& arguments) {
  const RunningKernels kernels = kernels_of(arguments);
  const int code = allow_all_shared_memory(kernels.average);
  return code != 0 || !arguments.job.grouped() ? code : allow_all_shared_memory(kernels.scan_groups);
}

void launch_mean(const RunningMeanArguments& arguments, StreamHandle stream) {
  const RunningMeanJob& job = arguments.job;
  const RunningKernels kernels = kernels_of(arguments);
  if (job.grouped()) {
    constexpr int lanes = tuning::running_group_lanes;
    constexpr int threads = lanes * tuning::running_group_shares;
    const auto blocks = static_cast<unsigned>((GroupLayout::of(job).lanes + lanes - 1) / lanes);
    const int table = job.type == Type::u8 && job.decoded ? DecodeTable::bytes : 0;
    const auto shared = static_cast<std::size_t>(table + threads * lane_bytes_of(job));
    kernels.scan_groups<<<blocks, threads, shared, stream>>>(arguments);
  }
  const SlidingTiles& tiles = arguments.tiles;
  const auto blocks =
      static_cast<unsigned>((tiles.columns * tiles.rows + tiles.together - 1) / tiles.together);
  const int warps = tiles.together * tiles.spans * warps_of_span(job, tiles.spans);
  kernels.average<<<blocks, static_cast<unsigned>(warps * warp_size), tiles.shared_bytes, stream>>>(
      arguments);
}

}  // namespace satin::kernels
