#pragma once
// Box mean of integers with one radius, without a table: the warps of a tile, one a span (means/tiling.h),
// slide a window down it with running sums of every column in registers (a row enters, a row leaves), scan
// them along the row into shared memory, and every mean is a difference of two prefixes over a divisor.
//
// Two barriers of the tile's warps a row: one before their totals are read, one before the prefixes are.
// Tables of linear light are shared by the tiles of a block.
//
// A fractional radius weights the rows of a window when they enter and leave its column sums, and mixes two
// differences of prefixes along the row. Sums are modulo 2^32 or 2^64 and the sums over one box fit. Colours
// that count times alpha are divided by their window's sum of alphas.
//
// Bytes moved per pixel: the output, and each pixel of the source about 2 + 2 reach / (rows of a tile) times,
// all but the first from the L2.

#include <cstdint>
#include <type_traits>

#include "kernels/device/shared_memory.cuh"
#include "kernels/means/row_groups.cuh"
#include "kernels/means/running_columns.cuh"
#include "kernels/means/running_means.cuh"
#include "kernels/means/running_scan.cuh"

namespace satin::kernels {

/// T: of the values, Out: of the means. `MostWarps`: of a block; fewer leave more registers to each.
template <class T, class Out, int Channels, class Column, class Sum, bool Weighted, int MostWarps>
__global__ void __launch_bounds__(MostWarps* warp_size, 1)
    average_running(const __grid_constant__ RunningMeanArguments arguments) {
  using Columns = RunningColumns<T, Channels, Column, Weighted>;
  using Memory = TileMemory<Sum>;
  using Rows = typename Columns::Rows;
  const SlidingTiles& tiles = arguments.tiles;
  using Tables = RunningTables<T, Out>;
  const int table_bytes =
      Tables::bytes(arguments.transfer.decode != nullptr, arguments.transfer.encode8 != nullptr);
  if (table_bytes != 0) {
    Tables::fill(arguments.transfer);
    __syncthreads();
  }
  const int threads = tiles.spans * warp_size;
  const TileWarps tile_warps{static_cast<int>(threadIdx.x) / threads, threads};
  const int tile = static_cast<int>(blockIdx.x) * tiles.together + tile_warps.index;
  if (tile >= tiles.columns * tiles.rows) return;
  const int thread = static_cast<int>(threadIdx.x) - tile_warps.index * threads;
  const int warp = thread / warp_size;
  const Memory memory(table_bytes + tile_warps.index * Memory::bytes(tiles.spans), tiles.spans);
  const int to_high_words = Memory::to_high_words(tiles.spans);
  memory.clear_margins(thread);

  const RunningPart part = running_part(arguments, Rows::pixels, tile);
  const int x = part.origin + thread * Rows::pixels;
  const Rows rows(arguments.source, x, part.last_needed, arguments.job.width, arguments.job.clipped,
                  arguments.columns);
  Columns columns(arguments, rows);
  const RunningMeans<T, Out, Channels, Sum, Weighted> means(arguments, part, Memory::margin, thread, threads,
                                                            x);
  const int last = part.last_y - 1;
  columns.look_up(part.first_y);
  columns.start(part.first_y - 1);
  columns.fetch();
  columns.look_up(min(part.first_y + 1, last));
#pragma unroll 1
  for (int y = part.first_y; y <= last; ++y) {
    columns.advance(y);
    columns.fetch();
    columns.look_up(min(y + 2, last));
    RowScan<Channels, Column, Sum> scan;
    scan.scan(columns.sums, memory.totals(), warp);
    tile_warps.synchronize();
    scan.publish(memory.totals(), memory.prefixes(), to_high_words, warp);
    tile_warps.synchronize();
    means.write(y, memory.prefixes());
  }
}

// --- Launching ---

template <class T, class Out, int Channels, class Column, class Sum, bool Weighted, class Action>
auto with_running_block(const SlidingTiles& tiles, const Action& action) {
  constexpr int usual = tuning::running_warps_per_block;
  constexpr int most = tuning::running_most_warps;
  constexpr RowGroups<T, Channels, Column, Weighted> groups;
  return tiles.spans * tiles.together <= usual
             ? action(average_running<T, Out, Channels, Column, Sum, Weighted, usual>, groups)
             : action(average_running<T, Out, Channels, Column, Sum, Weighted, most>, groups);
}

/// Calls action(kernel, RowGroups) for the widths of the job's sums.
template <class T, class Out, int Channels, bool Weighted, class Action>
auto with_running_sums(const RunningMeanArguments& arguments, const Action& action) {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  const SlidingTiles& tiles = arguments.tiles;
  if constexpr (Weighted || !std::is_same_v<T, Out>) {
    return with_running_block<T, Out, Channels, u32, u64, Weighted>(tiles, action);
  } else {
    switch (arguments.job.sums) {
      case RunningSums::u32:
        return with_running_block<T, Out, Channels, u32, u32, false>(tiles, action);
      case RunningSums::u32_u64:
        return with_running_block<T, Out, Channels, u32, u64, false>(tiles, action);
      default:
        return with_running_block<T, Out, Channels, u64, u64, false>(tiles, action);
    }
  }
}

/// Calls action(kernel, RowGroups) for the job.
template <class T, class Out, int Channels, class Action>
auto with_running_kernel(const RunningMeanArguments& arguments, const Action& action) {
  if constexpr (sizeof(T) == 1 && sizeof(Out) == 1 && Channels % 2 == 0) {
    if (arguments.job.weighted) return with_running_sums<T, Out, Channels, true>(arguments, action);
  }
  return with_running_sums<T, Out, Channels, false>(arguments, action);
}

template <class T, class Out, int Channels>
int RunningKernels<T, Out, Channels>::prepare(const RunningMeanArguments& arguments) {
  return with_running_kernel<T, Out, Channels>(arguments, [&](auto* kernel, auto groups) {
    const int code = groups.prepare();
    if (code != 0) return code;
    return allow_all_shared_memory(kernel);
  });
}

template <class T, class Out, int Channels>
void RunningKernels<T, Out, Channels>::run(const RunningMeanArguments& arguments, StreamHandle stream) {
  with_running_kernel<T, Out, Channels>(arguments, [&](auto* kernel, auto groups) {
    const SlidingTiles& tiles = arguments.tiles;
    if (arguments.job.grouped()) groups.build(arguments, stream);
    const auto blocks =
        static_cast<unsigned>((tiles.columns * tiles.rows + tiles.together - 1) / tiles.together);
    const auto threads = static_cast<unsigned>(tiles.together * tiles.spans * warp_size);
    kernel<<<blocks, threads, tiles.shared_bytes, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
