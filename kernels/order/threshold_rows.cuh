#pragma once
// The rows that the marches of rank_thresholds.cu read: bit planes of their pixels, and counts of the pixels
// that windows see of them.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/order/rank_plane.cuh"

namespace satin::kernels::thresholds {

inline constexpr int strip_columns = warp_size;
inline constexpr int values = 256;
inline constexpr int value_bits = 8;
inline constexpr int plane_rows = 8;  // of which a warp makes planes
inline constexpr int row_warps = 4;
inline constexpr int row_strips = 32;  // whose counts a warp makes one after the other

struct ThresholdPass : RankArguments {
  std::uint32_t* planes = nullptr;      ///< of each row, 32 columns and bit
  std::uint16_t* row_counts = nullptr;  ///< of each row, strip and threshold
  int strips = 0;
  int words = 0;  ///< of a row and bit
  int part_rows = 0;
};

inline int strips_of(const RankJob& job) {
  return static_cast<int>((job.width + strip_columns - 1) / strip_columns);
}
/// The picture's rows, one of nothing but border, and one of nothing at all.
SATIN_HD std::int64_t counted_rows(const RankJob& job) { return job.height + 2; }
/// Planes begin at column -reach - 1 of the extended picture; one more word is read along with the last.
inline int words_of(const RankJob& job) { return strips_of(job) + (2 * job.reach.x + 1) / strip_columns + 2; }
inline std::int64_t row_counts_of(const RankJob& job) { return counted_rows(job) * strips_of(job) * values; }

/// The pixel of the extended picture: 0 to 255, or -1 where there is none.
__device__ inline int byte_at(const RankArguments& run, int from_x, int from_y) {
  if (from_x < 0 || from_y < 0) return run.job.border == Border::constant ? run.outside : -1;
  return key_at<std::uint8_t>(run, from_x, from_y);
}
__device__ inline int column_of(const RankArguments& run, int x) {
  return place_of(x, run.job.width, run.job.border);
}

/// Makes bit planes of all rows and of one of nothing but border: a warp a word, some rows each.
static __global__ void __launch_bounds__(plane_threads)
    make_planes(const __grid_constant__ ThresholdPass pass) {
  const int word = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x) / warp_size;
  if (word >= pass.words) return;
  const int lane = lane_index();
  const int column = column_of(pass, word * warp_size + lane - pass.job.reach.x - 1);
  for (int y = static_cast<int>(blockIdx.y); y <= pass.job.height; y += static_cast<int>(gridDim.y)) {
    const int value = byte_at(pass, column, y < pass.job.height ? y : -1);
    std::uint32_t own = 0;
#pragma unroll
    for (int bit = 0; bit < value_bits; ++bit) {
      const std::uint32_t plane = __ballot_sync(whole_warp, (value >> bit & 1) != 0);
      if (lane == bit) own = plane;
    }
    if (lane < value_bits) pass.planes[(std::int64_t{y} * pass.words + word) * value_bits + lane] = own;
  }
}

/// Adds a pixel to the counts of values.
__device__ inline void tally(std::uint32_t* tallies, int value, std::uint32_t amount) {
  if (value >= 0) atomicAdd(tallies + value, amount);
}

/// Writes how many pixels are <= each value.
__device__ inline void store_cumulative(const std::uint32_t* tallies, std::uint16_t* counts) {
  constexpr int of_lane = values / warp_size;
  const auto* own = reinterpret_cast<const uint4*>(tallies) + 2 * lane_index();
  const uint4 first = own[0];
  const uint4 second = own[1];
  std::uint32_t sums[of_lane] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
#pragma unroll
  for (int i = 1; i < of_lane; ++i) sums[i] += sums[i - 1];
  const std::uint32_t before = inclusive_scan(sums[of_lane - 1]) - sums[of_lane - 1];
  const auto pair = [&](int i) { return (sums[i] + before) | (sums[i + 1] + before) << 16; };
  reinterpret_cast<uint4*>(counts)[lane_index()] = {pair(0), pair(2), pair(4), pair(6)};
}

/// The counts of what a window sees of a row, for windows one pixel left of each strip. A warp has some
/// strips of a row.
static __global__ void __launch_bounds__(row_warps* warp_size)
    count_rows(const __grid_constant__ ThresholdPass pass) {
  __shared__ alignas(16) std::uint32_t tallies_of_warps[row_warps][values];
  const auto warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = lane_index();
  const int row = static_cast<int>(blockIdx.x) * row_warps + warp;
  if (row >= counted_rows(pass.job)) return;
  const bool none = row > pass.job.height;
  const int from_y = row < pass.job.height ? row : -1;
  const auto pixel = [&](int x) { return none ? -1 : byte_at(pass, column_of(pass, x), from_y); };
  std::uint32_t* tallies = tallies_of_warps[warp];
  for (int i = lane; i < values; i += warp_size) tallies[i] = 0;
  __syncwarp();
  const int reach = pass.job.reach.x;
  const int first = static_cast<int>(blockIdx.y) * row_strips;
  const int end = min(first + row_strips, pass.strips);
  const int left = first * strip_columns;
  for (int i = lane; i < 2 * reach + 1; i += warp_size) tally(tallies, pixel(left - 1 - reach + i), 1);
  std::uint16_t* counts = pass.row_counts + (std::int64_t{row} * pass.strips + first) * values;
  int entering = pixel(left + lane + reach);
  int leaving = pixel(left + lane - reach - 1);
  for (int strip = first; strip < end; ++strip, counts += values) {
    const int next = (strip + 1) * strip_columns + lane;
    const int next_entering = pixel(next + reach);
    const int next_leaving = pixel(next - reach - 1);
    __syncwarp();
    store_cumulative(tallies, counts);
    __syncwarp();
    tally(tallies, entering, 1);
    tally(tallies, leaving, 0U - 1);
    entering = next_entering;
    leaving = next_leaving;
  }
}

}  // namespace satin::kernels::thresholds
