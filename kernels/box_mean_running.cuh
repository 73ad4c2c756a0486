#pragma once
// Box mean of integers with one radius, without a table: a team of warps marches down a strip of columns with
// running sums of every column in registers (a row enters, a row leaves), scans them along the row into
// shared memory, and every mean is a difference of two prefixes over a divisor.
//
// Two barriers of the team a row: one before its warps' totals are read, one before the prefixes are. Tables
// of linear light are shared by the teams of a block.
//
// A fractional radius weights the rows of a window when they enter and leave its column sums, and mixes two
// differences of prefixes along the row. Sums are modulo 2^32 or 2^64 and the sums over one box fit. Colours
// that count times alpha are divided by their window's sum of alphas.
//
// Bytes moved per pixel: the output, and each pixel of the source about 2 + 2 reach / (rows of a band) times,
// all but the first from the L2.

#include <cstdint>

#include "kernels/row_groups.cuh"
#include "kernels/running_columns.cuh"
#include "kernels/running_means.cuh"
#include "kernels/running_scan.cuh"

namespace satin::kernels {

/// `MostWarps`: of a block; fewer leave more registers to each.
template <class T, int Channels, class Column, class Sum, bool Weighted, int MostWarps>
__global__ void __launch_bounds__(MostWarps* warp_size, 1)
    average_running(const __grid_constant__ RunningMeanArguments arguments) {
  using Columns = RunningColumns<T, Channels, Column, Weighted>;
  using Rows = typename Columns::Rows;
  const RunningTiles& tiles = arguments.tiles;
  const bool tables = sizeof(T) == 1 && arguments.transfer.decode != nullptr;
  if (tables) {
    DecodeTable::fill(arguments.transfer.decode);
    EncodeTable::fill(arguments.transfer.encode8);
    __syncthreads();
  }
  const int threads = tiles.warps * warp_size;
  const Team team{static_cast<int>(threadIdx.x) / threads, threads};
  const int tile = static_cast<int>(blockIdx.x) * tiles.teams + team.index;
  if (tile >= tiles.strips * tiles.bands) return;
  const int thread = static_cast<int>(threadIdx.x) - team.index * threads;
  const int warp = thread / warp_size;
  const TeamMemory<Sum> memory(
      (tables ? running_table_bytes : 0) + team.index * TeamMemory<Sum>::bytes(tiles.warps), tiles.warps);
  memory.clear_margin(thread);

  const RunningPart part = running_part(arguments, Rows::pixels, tile);
  const int x = part.origin + thread * Rows::pixels;
  const Rows rows(arguments.source, x, part.last_needed, arguments.job.width, arguments.job.clipped,
                  arguments.columns);
  Columns columns(arguments, rows);
  const RunningMeans<T, Channels, Sum, Weighted> means(arguments, part, memory, thread, threads, x);
  columns.start(part.first_y);
  const int last = part.last_y - 1;
  columns.look_up(min(part.first_y + 1, last));
#pragma unroll 1
  for (int y = part.first_y; y <= last; ++y) {
    columns.fetch();
    columns.look_up(min(y + 2, last));
    RowScan<Channels, Column, Sum> scan(columns.sums, memory, warp);
    team.synchronize();
    scan.publish(memory, warp);
    team.synchronize();
    means.write(y);
    if (y < last) columns.advance(y + 1);
  }
}

// --- Launching ---

template <class T, int Channels, class Column, class Sum, bool Weighted, class Action>
auto with_running_block(const RunningTiles& tiles, const Action& action) {
  constexpr int usual = tuning::running_warps_per_block;
  constexpr int most = tuning::running_most_warps;
  constexpr auto* groups = build_row_groups<T, Channels, Column, Weighted>;
  return tiles.warps * tiles.teams <= usual
             ? action(average_running<T, Channels, Column, Sum, Weighted, usual>, groups)
             : action(average_running<T, Channels, Column, Sum, Weighted, most>, groups);
}

/// Calls action(kernel, build_groups) for the widths of the job's sums.
template <class T, int Channels, bool Weighted, class Action>
auto with_running_sums(const RunningMeanArguments& arguments, const Action& action) {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  const RunningTiles& tiles = arguments.tiles;
  if constexpr (Weighted) {
    return with_running_block<T, Channels, u32, u64, true>(tiles, action);
  } else {
    switch (arguments.job.sums) {
      case RunningSums::u32:
        return with_running_block<T, Channels, u32, u32, false>(tiles, action);
      case RunningSums::u32_u64:
        return with_running_block<T, Channels, u32, u64, false>(tiles, action);
      default:
        return with_running_block<T, Channels, u64, u64, false>(tiles, action);
    }
  }
}

template <class T, class Action>
auto with_running_kernel(const RunningMeanArguments& arguments, const Action& action) {
  const RunningMeanJob& job = arguments.job;
  if constexpr (sizeof(T) == 1) {
    if (job.weighted)
      return job.channels == 2 ? with_running_sums<T, 2, true>(arguments, action)
                               : with_running_sums<T, 4, true>(arguments, action);
  }
  switch (job.channels) {
    case 1:
      return with_running_sums<T, 1, false>(arguments, action);
    case 2:
      return with_running_sums<T, 2, false>(arguments, action);
    case 3:
      return with_running_sums<T, 3, false>(arguments, action);
    default:
      return with_running_sums<T, 4, false>(arguments, action);
  }
}

template <class T>
int prepare_running_mean_of(const RunningMeanArguments& arguments) {
  return with_running_kernel<T>(arguments, [&](auto* kernel, auto*) {
    return static_cast<int>(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 static_cast<int>(arguments.tiles.shared_bytes)));
  });
}

/// For pictures of type T; instantiated in box_mean_running_*.cu.
template <class T>
void running_mean_of(const RunningMeanArguments& arguments, StreamHandle stream) {
  with_running_kernel<T>(arguments, [&](auto* kernel, auto* build_groups) {
    const RunningTiles& tiles = arguments.tiles;
    if (tiles.groups) build_groups(arguments, stream);
    const auto blocks = static_cast<unsigned>((tiles.strips * tiles.bands + tiles.teams - 1) / tiles.teams);
    const auto threads = static_cast<unsigned>(tiles.teams * tiles.warps * warp_size);
    kernel<<<blocks, threads, tiles.shared_bytes, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
