#pragma once
// Sums of every column over the rows of the picture, extended by its border unless windows are clipped, up to
// every `running_group_rows`th position: from two of them and a few rows comes the sum over a window of any
// size.
//
// Bytes per pixel: the pixel once, and a sum written, read and written again for every running_group_rows.

#include <cstdint>

#include "kernels/device/shared_memory.cuh"
#include "kernels/device/tuning.h"
#include "kernels/means/launch.h"
#include "kernels/means/running_rows.cuh"
#include "kernels/means/running_values.cuh"

namespace satin::kernels {

/// Where the groups lie: group g holds the positions before first + g * rows. Sums of a row of groups are
/// interleaved as pixels are, and padded to whole lanes.
struct GroupLayout {
  static constexpr int rows = tuning::running_group_rows;
  int first = 0;
  int end = 0;  ///< positions from here on are in no group
  int count = 0;
  int lanes = 0;

  [[nodiscard]] SATIN_HD static GroupLayout of(const RunningMeanJob& job) {
    const int pixels_per_lane = running_elements / job.channels;
    GroupLayout layout;
    const int beyond = job.clipped ? 0 : job.y.outer_reach() + 1;
    layout.first = -beyond;
    layout.end = job.height + (job.clipped ? 0 : beyond);
    layout.count = (job.height + 2 * beyond + rows - 1) / rows + 1;
    layout.lanes = (job.width + pixels_per_lane - 1) / pixels_per_lane;
    return layout;
  }

  [[nodiscard]] __device__ int begin_of(int group) const { return first + group * rows; }
  /// The group that begins nearest to a position.
  [[nodiscard]] __device__ int nearest(int position) const { return (position - first + rows / 2) / rows; }
};

/// A lane's sums over some rows.
template <class Column>
struct alignas(16) GroupSums {
  Column sums[running_elements];
};

/// Exclusive scans of what every column has in each share of the groups. To be called by all of a block.
template <class Column>
__device__ void scan_shares(Column* of_first_share) {
  constexpr int columns = tuning::running_group_lanes * running_elements;
  for (auto column = static_cast<int>(threadIdx.x); column < columns;
       column += static_cast<int>(blockDim.x)) {
    Column* of_shares = of_first_share + column;
    Column before = 0;
#pragma unroll 8
    for (int s = 0; s < tuning::running_group_shares; ++s) {
      const Column own = of_shares[s * columns];
      of_shares[s * columns] = before;
      before += own;
    }
  }
}

/// Exclusive scans of the groups of every column. A block has a few lanes; of its threads with one lane each
/// first sums a share of the groups, and then adds what the shares before have. Values: 16-bit codes without
/// their table in shared memory.
template <class Values>
__global__ void __launch_bounds__(tuning::running_group_lanes* tuning::running_group_shares, 1)
    scan_row_groups(const __grid_constant__ RunningMeanArguments arguments) {
  constexpr int lanes = tuning::running_group_lanes;
  constexpr int shares = tuning::running_group_shares;
  int table_bytes = 0;
  if (Values::byte_codes && arguments.transfer.decode != nullptr) {
    DecodeTable::fill(arguments.transfer.decode);
    table_bytes = DecodeTable::bytes;
    __syncthreads();
  }
  const GroupLayout layout = GroupLayout::of(arguments.job);
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = static_cast<int>(blockIdx.x) * lanes + thread % lanes;
  const int share = thread / lanes;
  const int length = (layout.count + shares - 1) / shares;
  const int begin = min(share * length, layout.count);
  const int end = lane < layout.lanes ? min(begin + length, layout.count) : begin;

  using Sums = GroupSums<typename Values::Sum>;
  Sums* groups = static_cast<Sums*>(arguments.groups) + lane;
  Sums sums{};
  using Rows = typename Values::Rows;
  const int width = arguments.job.width;
  const Rows columns(arguments.source, lane * Rows::pixels, width, width, true, arguments.columns);
  const RunningRows<Rows> rows(arguments, columns);
  const Values values(arguments);
  constexpr int batch = tuning::running_group_batch_words / Rows::word_count;
  for (int group = begin; group < end; ++group) {
    groups[static_cast<std::int64_t>(group) * layout.lanes] = sums;
    const int first = layout.begin_of(group);
    add_rows<batch>(rows, values, first, min(first + layout.rows, layout.end), sums.sums);
  }

  shared_at<Sums>(table_bytes)[thread] = sums;
  __syncthreads();
  scan_shares(shared_at<typename Values::Sum>(table_bytes));
  __syncthreads();
  const Sums before = shared_at<Sums>(table_bytes)[thread];
  for (int group = begin; group < end; ++group) {
    Sums& to = groups[static_cast<std::int64_t>(group) * layout.lanes];
    sums = to;
#pragma unroll
    for (int e = 0; e < running_elements; ++e) sums.sums[e] += before.sums[e];
    to = sums;
  }
}

}  // namespace satin::kernels
