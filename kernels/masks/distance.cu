// Distances in masks (masks/distance.h) in three kernels: distances down the columns, tile by tile; the
// smallest of these in each group of 32 columns; and rows. In a row each pixel searches its own group, then
// groups further and further away, and skips those that cannot hold anything nearer, until no group can. This
// is as exact as a lower envelope (Meijster, Roerdink and Hesselink 2000), and all pixels are independent.
// Outlines that move by a disc need two scans along rows instead, of the chords of the disc.

#include <algorithm>
#include <cstdint>

#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/masks/launch.h"

namespace satin::kernels {
namespace {

__device__ bool counts(MaskSide side, bool inside) {
  return side == MaskSide::both || (side == MaskSide::inside) == inside;
}

/// Returns the height of a column for pixels on one side: the distance along the column to the other side, 0
/// if it is there, reach + 1 outside the picture.
__device__ int height_of(int column, bool inside, int reach) {
  const int own = inside ? column : -column;
  return own > 0 ? own : column == 0 ? reach + 1 : 0;
}

struct MaskColumn {
  const unsigned char* top;
  std::int64_t row;
  std::int64_t height;

  [[nodiscard]] __device__ int at(std::int64_t y) const { return __ldg(top + y * row); }

  /// Returns the number of rows from y to the nearest one that differs, in the direction 1 or -1; at most
  /// reach + 1.
  [[nodiscard]] __device__ int steps_to_change(std::int64_t y, int direction, int reach) const {
    constexpr int batch = 8;
    const int own = at(y);
    for (int first = 1; first <= reach; first += batch) {
      bool differs[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const std::int64_t other = y + static_cast<std::int64_t>(direction) * (first + i);
        differs[i] = other >= 0 && other < height && at(other) != own;
      }
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (differs[i] && first + i <= reach) return first + i;
    }
    return reach + 1;
  }
};

__device__ void distances_of_column(const MaskColumn& mask, std::int64_t first, std::int64_t last, int reach,
                                    std::int16_t* columns, std::int64_t pitch) {
  const int none = reach + 1;
  int steps = mask.steps_to_change(first, -1, reach);
  int before = mask.at(first);
#pragma unroll 8
  for (std::int64_t y = first; y < last; ++y) {
    const int own = mask.at(y);
    if (y != first) steps = own == before ? min(steps + 1, none) : 1;
    columns[y * pitch] = static_cast<std::int16_t>(own != 0 ? steps : -steps);
    before = own;
  }
  steps = mask.steps_to_change(last - 1, 1, reach);
#pragma unroll 8
  for (std::int64_t y = last - 1; y >= first; --y) {
    const int own = mask.at(y);
    if (y != last - 1) steps = own == before ? min(steps + 1, none) : 1;
    const int nearer = min(abs(static_cast<int>(columns[y * pitch])), steps);
    columns[y * pitch] = static_cast<std::int16_t>(own != 0 ? nearer : -nearer);
    before = own;
  }
}

__device__ int smallest_of_warp(int value) {
#pragma unroll
  for (int apart = warp_size / 2; apart != 0; apart /= 2)
    value = min(value, __shfl_xor_sync(whole_warp, value, apart));
  return value;
}

struct ColumnRow {
  const std::int16_t* columns;
  const GroupHeights* groups;
  std::int64_t group_count;
  int reach;

  [[nodiscard]] __device__ int column(std::int64_t group) const {
    return __ldg(columns + group * distance_group + lane_index());
  }
  [[nodiscard]] __device__ int least(std::int64_t group, bool inside) const {
    const GroupHeights heights = groups[group];
    return inside ? heights.inside : heights.outside;
  }
};

/// The squared distances of one group of pixels, one per lane.
class GroupSearch {
 public:
  __device__ GroupSearch(const ColumnRow& row, std::int64_t group, MaskSide side, int most)
      : row_(row), group_(group), column_(row.column(group)), inside_(column_ > 0) {
    best_ = column_ != 0 && counts(side, inside_) ? most : 0;
  }

  [[nodiscard]] __device__ bool inside() const { return inside_; }

  [[nodiscard]] __device__ int run() {
    look_at(0, column_);
    const int lane = lane_index();
    // Distances stay below reach + 64, as a lane's best one is within the reach.
    for (int apart = 1;; ++apart) {
      const int left = lane + 1 + distance_group * (apart - 1);
      const int right = distance_group * apart - lane;
      const bool has_left = group_ - apart >= 0;
      const bool has_right = group_ + apart < row_.group_count;
      const bool looks_left = has_left && left * left < best_;
      const bool looks_right = has_right && right * right < best_;
      if (!__any_sync(whole_warp, looks_left || looks_right)) return best_;
      if (has_left) look_beyond(-apart, left, looks_left);
      if (has_right) look_beyond(apart, right, looks_right);
    }
  }

 private:
  /// Searches a group whose nearest pixel is `away`, if it can hold something nearer for any of the lanes.
  __device__ void look_beyond(int apart, int away, bool looks) {
    const int height = row_.least(group_ + apart, inside_);
    looks = looks && away * away + height * height < best_;
    if (__any_sync(whole_warp, looks)) look_at(apart, row_.column(group_ + apart));
  }

  __device__ void look_at(int apart, int columns) {
    const int first = distance_group * apart - lane_index();
#pragma unroll 8
    for (int i = 0; i < distance_group; ++i) {
      const int height = height_of(__shfl_sync(whole_warp, columns, i), inside_, row_.reach);
      best_ = min(best_, (first + i) * (first + i) + height * height);
    }
  }

  const ColumnRow& row_;
  std::int64_t group_;
  int column_;
  bool inside_;
  int best_;
};

/// Scan of how far the chords of a row's pixels reach: the maximum of chord(u) - |x - u| over the pixels u on
/// one side of x, for 32 pixels at a time.
class ChordScan {
 public:
  /// Returns the reach from the lane's pixel and those to its left; called from left to right. `chord` is the
  /// lane's own.
  __device__ int rightward(int chord) {
    const int lane = lane_index();
    int reach = chord;
#pragma unroll
    for (int apart = 1; apart < warp_size; apart *= 2) {
      const int other = __shfl_up_sync(whole_warp, reach, apart);
      if (lane >= apart) reach = max(reach, other - apart);
    }
    reach = max(reach, carry_ - (lane + 1));
    carry_ = __shfl_sync(whole_warp, reach, warp_size - 1);
    return reach;
  }

  __device__ int leftward(int chord) {
    const int lane = lane_index();
    int reach = chord;
#pragma unroll
    for (int apart = 1; apart < warp_size; apart *= 2) {
      const int other = __shfl_down_sync(whole_warp, reach, apart);
      if (lane + apart < warp_size) reach = max(reach, other - apart);
    }
    reach = max(reach, carry_ - (warp_size - lane));
    carry_ = __shfl_sync(whole_warp, reach, 0);
    return reach;
  }

 private:
  int carry_ = 0;
};

constexpr int column_threads = tuning::distance_column_threads;
constexpr int row_warps = tuning::distance_row_warps;

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

/// One warp per group.
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

/// One warp per group. The ramps are read from shared memory.
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

/// One warp per chunk of a row. The scan from the left stores in the output which pixels are reached; the
/// scan from the right reads this back.
__global__ void __launch_bounds__(row_warps* warp_size)
    move_outlines(const __grid_constant__ DistanceArguments arguments, std::int64_t chunk_width) {
  const bool side = arguments.side == MaskSide::inside;
  const std::int64_t begin = blockIdx.x * chunk_width;
  const std::int64_t end = begin + chunk_width < arguments.width ? begin + chunk_width : arguments.width;
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

}  // namespace

void distance(const DistanceArguments& arguments, StreamHandle stream) {
  const std::int64_t tile_rows = std::max<std::int64_t>(tuning::distance_tile_rows, arguments.reach / 4);
  const dim3 column_blocks(block_count(arguments.groups * distance_group, column_threads),
                           blocks_down(block_count(arguments.height, tile_rows)));
  find_columns<<<column_blocks, column_threads, 0, stream>>>(arguments, tile_rows);
  constexpr int threads = row_warps * warp_size;
  if (arguments.result == DistanceResult::moved) {
    // A multiple of warp_size, and long compared with the reach, which is scanned on both sides of a chunk.
    const std::int64_t chunk_width =
        std::max<std::int64_t>(tuning::distance_segment, 4LL * arguments.reach) / warp_size * warp_size;
    const dim3 blocks(block_count(arguments.width, chunk_width),
                      blocks_down(block_count(arguments.height, row_warps)));
    move_outlines<<<blocks, threads, 0, stream>>>(arguments, chunk_width);
    return;
  }
  const dim3 blocks(block_count(arguments.groups, row_warps), blocks_down(arguments.height));
  find_group_heights<<<blocks, threads, 0, stream>>>(arguments);
  find_squares<<<blocks, threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
