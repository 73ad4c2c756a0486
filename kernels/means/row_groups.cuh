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
#include "kernels/means/running_values.cuh"

namespace satin::kernels {

/// Where the groups lie: group g holds the positions before first + g * rows. Sums of a row of groups are
/// interleaved as pixels are, and padded to whole lanes.
struct GroupLayout {
  static constexpr int rows = tuning::running_group_rows;
  static_assert(rows % tuning::running_group_batch == 0);
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

/// One lane's sums of the rows of one group after another.
template <class Values>
class GroupReader {
 public:
  using Column = typename Values::Sum;
  using Rows = typename Values::Rows;

  __device__ GroupReader(const RunningMeanArguments& arguments, int lane)
      : arguments_(arguments),
        reader_(arguments.source, lane * Rows::pixels, arguments.job.width, arguments.job.width, true,
                arguments.columns),
        adder_(arguments) {}

  /// sums += the rows of the positions [begin, begin + GroupLayout::rows).
  __device__ void add(int begin, Column (&sums)[running_elements]) const {
    constexpr int batch = tuning::running_group_batch;
#pragma unroll 1
    for (int y = begin; y < begin + GroupLayout::rows; y += batch) {
      int rows[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) rows[i] = row_at(y + i);
      typename Rows::Words words[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) reader_.load(rows[i], words[i]);
#pragma unroll
      for (int i = 0; i < batch; i += 2) adder_.template add<1>(words[i], words[i + 1], sums);
    }
  }

 private:
  /// The row of the picture at a position, or -1.
  [[nodiscard]] __device__ int row_at(int position) const {
    const RunningMeanJob& job = arguments_.job;
    if (job.clipped) return position < job.height ? position : -1;
    return position <= job.height + job.y.outer_reach() ? __ldg(arguments_.rows + position) : -1;
  }

  const RunningMeanArguments& arguments_;
  Rows reader_;
  Values adder_;
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
  const GroupReader<Values> reader(arguments, lane);
  for (int group = begin; group < end; ++group) {
    groups[static_cast<std::int64_t>(group) * layout.lanes] = sums;
    reader.add(layout.begin_of(group), sums.sums);
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

template <class Values>
void build_row_groups(const RunningMeanArguments& arguments, StreamHandle stream) {
  constexpr int lanes = tuning::running_group_lanes;
  constexpr int threads = lanes * tuning::running_group_shares;
  const auto blocks = static_cast<unsigned>((GroupLayout::of(arguments.job).lanes + lanes - 1) / lanes);
  const std::size_t table = Values::byte_codes && arguments.job.decoded ? DecodeTable::bytes : 0;
  scan_row_groups<Values>
      <<<blocks, threads, table + threads * sizeof(GroupSums<typename Values::Sum>), stream>>>(arguments);
}

}  // namespace satin::kernels
