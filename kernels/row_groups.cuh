#pragma once
// Sums of every column over the rows of the picture, extended by its border unless windows are clipped, up to
// every `running_group_rows`th position: from two of them and a few rows comes the sum over a window of any
// size.
//
// Bytes per pixel: the pixel once, and a sum written, read and written again for every running_group_rows.

#include <cstdint>
#include <cstring>

#include "kernels/box_mean_running.h"
#include "kernels/running_values.cuh"
#include "kernels/tuning.h"

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

template <class T, int Channels, class Column, bool Weighted>
__global__ void __launch_bounds__(tuning::running_group_threads, 1)
    sum_row_groups(const __grid_constant__ RunningMeanArguments arguments) {
  using Values = RunningValues<T, Channels, Column, Weighted, false>;
  using Rows = typename Values::Rows;
  if (sizeof(T) == 1 && arguments.transfer.decode != nullptr) {
    DecodeTable::fill(arguments.transfer.decode);
    __syncthreads();
  }
  const RunningMeanJob& job = arguments.job;
  const GroupLayout layout = GroupLayout::of(job);
  const auto lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const auto group = static_cast<int>(blockIdx.y);
  if (lane >= layout.lanes) return;
  const Rows reader(arguments.source, lane * Rows::pixels, job.width, job.width, true, arguments.columns);
  const Values adder(arguments.transfer.decode);
  Column sums[running_elements] = {};
  const int begin = layout.first + group * GroupLayout::rows;
  constexpr int batch = tuning::running_group_batch;
  for (int y = begin; y < begin + GroupLayout::rows; y += batch) {
    typename Rows::Words words[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const bool exists = y + i <= job.height + job.y.outer_reach();
      reader.load(exists ? __ldg(arguments.rows + y + i) : -1, words[i]);
    }
#pragma unroll
    for (int i = 0; i < batch; i += 2) adder.template add<1>(words[i], words[i + 1], sums);
  }
  Column* to = static_cast<Column*>(arguments.groups) +
               (static_cast<std::int64_t>(group) * layout.lanes + lane) * running_elements;
  constexpr int vectors = sizeof sums / sizeof(uint4);
  static_assert(vectors * sizeof(uint4) == sizeof sums);
  uint4 packed[vectors];
  std::memcpy(packed, sums, sizeof packed);
#pragma unroll
  for (int v = 0; v < vectors; ++v) reinterpret_cast<uint4*>(to)[v] = packed[v];
}

/// Exclusive scans down the columns, in place: a block has 32 columns, cut into segments of groups.
template <class Sum>
__global__ void __launch_bounds__(warp_size* tuning::running_scan_segments)
    scan_row_groups(Sum* groups, int count, int columns) {
  constexpr int segments = tuning::running_scan_segments;
  __shared__ Sum segment_sums[segments][warp_size];
  const int column = static_cast<int>(blockIdx.x) * warp_size + static_cast<int>(threadIdx.x);
  const auto segment = static_cast<int>(threadIdx.y);
  const int length = (count + segments - 1) / segments;
  const int begin = min(segment * length, count);
  const int end = column < columns ? min(begin + length, count) : begin;
  Sum* first = groups + column;
  Sum sum = 0;
#pragma unroll 8
  for (int i = begin; i < end; ++i) sum += first[static_cast<std::int64_t>(i) * columns];
  segment_sums[segment][threadIdx.x] = sum;
  __syncthreads();
  Sum running = 0;
  for (int i = 0; i < segment; ++i) running += segment_sums[i][threadIdx.x];
  constexpr int batch = tuning::running_scan_batch;
  for (int i = begin; i < end; i += batch) {
    Sum values[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k)
      values[k] = i + k < end ? first[static_cast<std::int64_t>(i + k) * columns] : 0;
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      if (i + k < end) first[static_cast<std::int64_t>(i + k) * columns] = running;
      running += values[k];
    }
  }
}

template <class T, int Channels, class Column, bool Weighted>
struct RowGroups {
  /// To be called once on the device; the code of a cudaError_t.
  [[nodiscard]] static int prepare() {
    return static_cast<int>(cudaFuncSetAttribute(sum_row_groups<T, Channels, Column, Weighted>,
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 DecodeTable::bytes));
  }

  static void build(const RunningMeanArguments& arguments, StreamHandle stream) {
    constexpr int threads = tuning::running_group_threads;
    const GroupLayout layout = GroupLayout::of(arguments.job);
    const dim3 blocks(static_cast<unsigned>((layout.lanes + threads - 1) / threads),
                      static_cast<unsigned>(layout.count));
    const std::size_t table = sizeof(T) == 1 && arguments.job.decoded ? DecodeTable::bytes : 0;
    sum_row_groups<T, Channels, Column, Weighted><<<blocks, threads, table, stream>>>(arguments);
    const int columns = layout.lanes * running_elements;
    const dim3 scan_threads(warp_size, tuning::running_scan_segments);
    const auto scan_blocks = static_cast<unsigned>((columns + warp_size - 1) / warp_size);
    scan_row_groups<Column><<<scan_blocks, scan_threads, 0, stream>>>(static_cast<Column*>(arguments.groups),
                                                                      layout.count, columns);
  }
};

}  // namespace satin::kernels
