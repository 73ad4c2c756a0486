// Distances in masks: launches of distance.cuh.

#include "kernels/masks/distance.cuh"

#include <algorithm>

#include "kernels/device/tuning.h"

namespace satin::kernels {
namespace {

constexpr int column_threads = tuning::distance_column_threads;
constexpr int row_warps = tuning::distance_row_warps;
constexpr std::int64_t most_blocks_down = 65535;

__global__ void __launch_bounds__(column_threads)
    find_columns(const __grid_constant__ DistanceArguments arguments, std::int64_t tile_rows) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * column_threads + threadIdx.x;
  const std::int64_t pitch = arguments.groups * distance_group;
  if (x >= pitch) return;
  std::int16_t* columns = arguments.columns + x;
  const MaskColumn mask{reinterpret_cast<const unsigned char*>(arguments.mask.data) + x, arguments.mask.row,
                        arguments.height};
  for (std::int64_t first = blockIdx.y * tile_rows; first < arguments.height;
       first += gridDim.y * tile_rows) {
    const std::int64_t last = first + tile_rows < arguments.height ? first + tile_rows : arguments.height;
    if (x < arguments.width) {
      distances_of_column(mask, first, last, arguments.reach, columns, pitch);
    } else {
      for (std::int64_t y = first; y < last; ++y) columns[y * pitch] = 0;
    }
  }
}

/// One warp a group.
__global__ void __launch_bounds__(row_warps* warp_size)
    find_group_heights(const __grid_constant__ DistanceArguments arguments) {
  const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * row_warps + threadIdx.x / warp_size;
  if (group >= arguments.groups) return;
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const std::int64_t index = y * arguments.groups + group;
    const int column = arguments.columns[index * distance_group + lane_index()];
    const int inside = smallest_of_warp(height_of(column, true, arguments.reach));
    const int outside = smallest_of_warp(height_of(column, false, arguments.reach));
    if (lane_index() == 0)
      arguments.group_heights[index] = {static_cast<std::uint16_t>(inside),
                                        static_cast<std::uint16_t>(outside)};
  }
}

__device__ std::uint8_t ramp_at(const std::uint32_t* ramps, bool inside, int squared, bool inverted) {
  const std::uint32_t steps =
      ramp_value(ramps + (inside ? 0 : DistanceRamp::steps), static_cast<std::uint32_t>(squared));
  return static_cast<std::uint8_t>(inside != inverted ? steps : 255 - steps);
}

/// One warp a group. The ramps are read from shared memory.
__global__ void __launch_bounds__(row_warps* warp_size)
    find_squares(const __grid_constant__ DistanceArguments arguments) {
  __shared__ std::uint32_t ramps[2 * DistanceRamp::steps];
  const bool stored = arguments.result == DistanceResult::squared;
  if (!stored) {
    for (int i = threadIdx.x; i < 2 * DistanceRamp::steps; i += row_warps * warp_size)
      ramps[i] = arguments.ramps[i];
    __syncthreads();
  }
  const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * row_warps + threadIdx.x / warp_size;
  const std::int64_t x = group * distance_group + lane_index();
  if (group >= arguments.groups) return;
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const ColumnRow row{arguments.columns + y * arguments.groups * distance_group,
                        arguments.group_heights + y * arguments.groups, arguments.groups, arguments.reach};
    GroupSearch search(row, group, arguments.side, arguments.most);
    const int squared = search.run();
    if (x >= arguments.width) continue;
    std::byte* out = arguments.output.data + y * arguments.output.row;
    if (stored) {
      reinterpret_cast<std::uint32_t*>(out)[x] = static_cast<std::uint32_t>(squared);
    } else {
      reinterpret_cast<std::uint8_t*>(out)[x] = ramp_at(ramps, search.inside(), squared, arguments.inverted);
    }
  }
}

/// One warp a segment of a row: what the chords reach from the left is noted in the output first.
__global__ void __launch_bounds__(row_warps* warp_size)
    move_outlines(const __grid_constant__ DistanceArguments arguments, std::int64_t segment) {
  const bool side = arguments.side == MaskSide::inside;
  const std::int64_t begin = blockIdx.x * segment;
  const std::int64_t end = begin + segment < arguments.width ? begin + segment : arguments.width;
  const std::int64_t seen_begin = begin > arguments.reach ? begin - arguments.reach : 0;
  const std::int64_t seen_end =
      end + arguments.reach < arguments.width ? end + arguments.reach : arguments.width;
  const std::uint8_t other = side != arguments.inverted ? 0 : 255;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.y) * row_warps;
  for (std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * row_warps + threadIdx.x / warp_size;
       y < arguments.height; y += warps) {
    const std::int16_t* columns = arguments.columns + y * arguments.groups * distance_group;
    auto* out = reinterpret_cast<std::uint8_t*>(arguments.output.data + y * arguments.output.row);
    const auto chord_at = [&](std::int64_t x) -> int {
      return __ldg(arguments.chords + height_of(__ldg(columns + x), side, arguments.reach));
    };
    ChordScan from_left;
#pragma unroll 4
    for (std::int64_t base = seen_begin / warp_size * warp_size; base < end; base += warp_size) {
      const std::int64_t x = base + lane_index();
      const int reach = from_left.rightward(chord_at(x));
      if (x >= begin && x < end) out[x] = reach > 0 ? 1 : 0;
    }
    ChordScan from_right;
#pragma unroll 4
    for (std::int64_t base = (seen_end - 1) / warp_size * warp_size; base >= begin; base -= warp_size) {
      const std::int64_t x = base + lane_index();
      const int reach = from_right.leftward(chord_at(x));
      if (x < end) out[x] = reach > 0 || out[x] != 0 ? other : static_cast<std::uint8_t>(255 - other);
    }
  }
}

unsigned blocks_of(std::int64_t count, std::int64_t in_block) {
  return static_cast<unsigned>((count + in_block - 1) / in_block);
}

unsigned blocks_down(std::int64_t count) { return static_cast<unsigned>(std::min(count, most_blocks_down)); }

}  // namespace

void distance(const DistanceArguments& arguments, StreamHandle stream) {
  const std::int64_t tile_rows = std::max<std::int64_t>(tuning::distance_band_rows, arguments.reach / 4);
  const dim3 column_blocks(blocks_of(arguments.groups * distance_group, column_threads),
                           blocks_down((arguments.height + tile_rows - 1) / tile_rows));
  find_columns<<<column_blocks, column_threads, 0, stream>>>(arguments, tile_rows);
  constexpr int threads = row_warps * warp_size;
  if (arguments.result == DistanceResult::moved) {
    // A multiple of whole warps, long beside what is seen beyond its ends.
    const std::int64_t segment =
        std::max<std::int64_t>(tuning::distance_segment, 4LL * arguments.reach) / warp_size * warp_size;
    const dim3 blocks(blocks_of(arguments.width, segment),
                      blocks_down(blocks_of(arguments.height, row_warps)));
    move_outlines<<<blocks, threads, 0, stream>>>(arguments, segment);
    return;
  }
  const dim3 blocks(blocks_of(arguments.groups, row_warps), blocks_down(arguments.height));
  find_group_heights<<<blocks, threads, 0, stream>>>(arguments);
  find_squares<<<blocks, threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
