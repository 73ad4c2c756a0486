// Host side of the box filter: how a picture is cut into tiles, how much shared memory they need, the
// choice of the kernel's instance, and its launch.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/with_type.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/means/by_radius/column_sums.cuh"
#include "kernels/means/by_radius/row_means.cuh"
#include "kernels/means/by_radius/row_prefixes.cuh"
#include "kernels/means/launch.h"

namespace satin::kernels {

ScaledDivisor scaled_divisor(std::uint64_t divisor, std::uint64_t largest) {
  ScaledDivisor scaled;
  if (divisor < 3 || divisor >= 1U << 31 || divisor * largest + divisor / 2 > 0xFFFFFFFFU) return scaled;
  scaled.divisor = static_cast<std::uint32_t>(divisor);
  scaled.shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1)) - 1;
  const std::uint64_t power = std::uint64_t{1} << (32 + scaled.shift);
  const std::uint64_t factor = (power + divisor - 1) / divisor;
  scaled.factor = static_cast<std::uint32_t>(factor);
  const std::uint64_t excess = factor * divisor - power;  // less than the divisor
  scaled.exact = excess == 0 || (divisor * largest + divisor / 2) < power / excess;
  return scaled;
}

namespace {

int table_bytes_of(const BoxFilterJob& job) {
  const int decode = job.type == Type::u8 ? DecodeTable::bytes : WideDecodeTable::bytes;
  const bool encoded = job.encodes && job.output == Type::u8;
  return (job.decodes ? decode : 0) + (encoded ? EncodeTable<std::uint8_t>::bytes : 0);
}

int lane_bytes_of(const BoxFilterJob& job) { return lane_elements * (job.sums == SumWidths::u64 ? 8 : 4); }

/// Returns 2 if the kernel of box_filter_two_warps.cuh runs two warps for each span.
int warps_per_span(const BoxFilterJob& job, int spans) {
  const bool paired = job.uses_whole_radius_kernel() || job.light == LightBox::unpremultiplies;
  return paired && 2 * spans <= most_paired_warps(job) ? 2 : 1;
}

std::size_t shared_bytes_of(const BoxFilterJob& job, const SlidingTiles& tiles, int rows) {
  const bool narrow = job.sums == SumWidths::u32 || job.sums == SumWidths::u32_low;
  const int row =
      narrow ? TileMemory<std::uint32_t>::bytes(tiles.spans) : TileMemory<std::uint64_t>::bytes(tiles.spans);
  return static_cast<std::size_t>(table_bytes_of(job) + tiles.together * rows * row);
}

/// Columns behind the last one that counts, whose prefixes are the total: clipped windows read them.
int spare_pixels(const BoxFilterJob& job) { return 36 / job.channels; }

/// Returns the number of columns that can have means in a tile of `spans` spans.
int usable_columns(const BoxFilterJob& job, int spans) {
  const int pixels = lane_elements / job.channels;
  const int columns = spans * warp_size * pixels;
  if (job.clipped && columns >= job.width + spare_pixels(job)) return job.width;
  return columns - 2 * job.x.outer_reach() - pixels - spare_pixels(job);
}

/// Aligns tiles to a sector of the L2, if lanes allow it.
SlidingTiles aligned(const BoxFilterJob& job, SlidingTiles tiles) {
  const int stepped = (tiles.width + 31) / 32 * 32;
  if (tiles.columns == 1 || stepped % (lane_elements / job.channels) != 0 ||
      stepped > usable_columns(job, tiles.spans))
    return tiles;
  tiles.width = stepped;
  tiles.columns = (job.width + stepped - 1) / stepped;
  return tiles;
}

/// Returns the cheapest tiles of at most `most_spans` spans, of which a block holds at most
/// most_together(spans).
template <class MostTogether, class SharedBytes>
SlidingTiles best_tiles(const BoxFilterJob& job, int most_spans, int multiprocessors,
                        const MostTogether& most_together, const SharedBytes& shared_bytes,
                        std::size_t shared_limit) {
  const int pixels = lane_elements / job.channels;
  SlidingTileRules rules{job.width, job.height, multiprocessors, pixels};
  rules.start_cost = job.starts_from_groups() ? tuning::running_group_rows
                                              : std::min(2 * job.y.outer_reach() + 1, job.height);
  rules.row_cost = tuning::running_start_rows_per_row;
  rules.fewest_spans = tuning::running_warps_to_fill;
  SlidingTiler tiler(rules);
  for (int spans = 1; spans <= most_spans; ++spans) {
    const int usable = usable_columns(job, spans);
    if (usable <= 0) continue;
    tiler.consider(spans, usable, most_together(spans), shared_bytes, shared_limit);
  }
  // A table is cheaper if most columns that tiles sum lie outside their results.
  const SlidingTiles& best = tiler.best();
  const int span_pixels = warp_size * pixels;
  if (std::int64_t{best.columns} * best.spans * span_pixels > 3 * std::int64_t{job.width} + 2 * span_pixels)
    return {};
  return best.spans == 0 ? best : aligned(job, best);
}

BoxFilterKernels kernels_of(const BoxFilterArguments& arguments) {
  return with_channels(arguments.job.channels, [&]<int Channels>() {
    switch (arguments.job.type) {
      case Type::f32:
        return box_filter_kernels<float, Channels>(arguments);
      case Type::u64:
        return box_filter_kernels<std::uint64_t, Channels>(arguments);
      case Type::u32:
        return box_filter_kernels<std::uint32_t, Channels>(arguments);
      case Type::u16:
        return box_filter_kernels<std::uint16_t, Channels>(arguments);
      default:
        return box_filter_kernels<std::uint8_t, Channels>(arguments);
    }
  });
}

}  // namespace

SlidingTiles tiles_of(const BoxFilterArguments& arguments, int multiprocessors, std::size_t shared_limit) {
  const BoxFilterJob& job = arguments.job;
  if (job.exceeds_16_bits && job.starts_from_groups()) return {};
  const bool fractions = job.x.outer != 0 || job.y.outer != 0;
  const int usual_warps = job.exceeds_16_bits ? long_policy_warps(job.type, job.weights_by_alpha, fractions)
                                              : tuning::running_warps_per_block;
  const int most_warps = job.light != LightBox::none ? most_paired_warps(job) / 2
                         : job.exceeds_16_bits       ? usual_warps
                                                     : tuning::running_most_warps;
  const auto most_together = [&](int spans) {
    if (warps_per_span(job, spans) == 1) return std::clamp(usual_warps / spans, 1, most_tile_barriers);
    return std::clamp(most_paired_warps(job) / 2 / spans, 1, most_tile_barriers / paired_barriers);
  };
  const auto shared_bytes = [&](const SlidingTiles& tiles) {
    return shared_bytes_of(job, tiles, warps_per_span(job, tiles.spans) == 2 ? paired_rows : 1);
  };
  return best_tiles(job, most_warps, multiprocessors, most_together, shared_bytes, shared_limit);
}

SlidingTiles tiles_of(const MaskedFilterArguments& arguments, int multiprocessors, std::size_t shared_limit) {
  const BoxFilterJob& job = arguments.job;
  constexpr int warps = tuning::running_counted_warps;
  const auto most_together = [](int spans) { return std::clamp(warps / spans, 1, most_tile_barriers); };
  const auto shared_bytes = [&](const SlidingTiles& tiles) {
    const int counts = tiles.together * count_memory_bytes(tiles.spans, job.channels);
    return shared_bytes_of(job, tiles, 1) + static_cast<std::size_t>(counts);
  };
  return best_tiles(job, warps, multiprocessors, most_together, shared_bytes, shared_limit);
}

std::size_t row_groups_bytes(const BoxFilterJob& job) {
  if (!job.starts_from_groups()) return 0;
  const GroupLayout layout = GroupLayout::of(job);
  return static_cast<std::size_t>(layout.count) * static_cast<std::size_t>(layout.lanes) *
         static_cast<std::size_t>(lane_bytes_of(job));
}

int prepare_mean(const BoxFilterArguments& arguments) {
  const BoxFilterKernels kernels = kernels_of(arguments);
  const int code = allow_all_shared_memory(kernels.average);
  return code != 0 || !arguments.job.starts_from_groups() ? code
                                                          : allow_all_shared_memory(kernels.scan_groups);
}

void launch_mean(const BoxFilterArguments& arguments, StreamHandle stream) {
  const BoxFilterJob& job = arguments.job;
  const BoxFilterKernels kernels = kernels_of(arguments);
  if (job.starts_from_groups()) {
    constexpr int lanes = tuning::running_group_lanes;
    constexpr int threads = lanes * tuning::running_group_shares;
    const auto blocks = static_cast<unsigned>((GroupLayout::of(job).lanes + lanes - 1) / lanes);
    const int table = job.type == Type::u8 && job.decodes ? DecodeTable::bytes : 0;
    const auto shared = static_cast<std::size_t>(table + threads * lane_bytes_of(job));
    kernels.scan_groups<<<blocks, threads, shared, stream>>>(arguments);
  }
  const SlidingTiles& tiles = arguments.tiles;
  const auto blocks =
      static_cast<unsigned>((tiles.columns * tiles.rows + tiles.together - 1) / tiles.together);
  const int warps = tiles.together * tiles.spans * warps_per_span(job, tiles.spans);
  kernels.average<<<blocks, static_cast<unsigned>(warps * warp_size), tiles.shared_bytes, stream>>>(
      arguments);
}

}  // namespace satin::kernels
