#pragma once
// Box mean with one radius, without a table, where 32 bits do not hold a window's sum of values: floats,
// their fixed point, linear light of 24 bits and other working values. The sliding window of
// box_mean_running.cuh with 64-bit prefixes.
//
// Two barriers of the tile for each row of prefixes: one before its warps' totals are read, one before the
// prefixes are. Of a fractional radius the sums over the inner and the outer window of rows follow from those
// over the rows that they share. Integers are weighted down the columns before they are scanned, all sums
// modulo 2^64. Floats are defined by double arithmetic on the exact sums over up to four whole boxes, so that
// each window of rows has prefixes of its own.
//
// Bytes moved per pixel: the output, and each pixel of the source about 2 + 2 reach / (rows of a tile) times,
// all but the first from the L2.

#include <cstdint>
#include <type_traits>

#include "kernels/device/shared_memory.cuh"
#include "kernels/means/running_scan.cuh"
#include "kernels/means/wide_columns.cuh"
#include "kernels/means/wide_means.cuh"

namespace satin::kernels {

/// A tile's prefixes of one row after another.
template <int Channels>
class WidePrefixes {
 public:
  using Memory = TileMemory<std::uint64_t>;

  __device__ WidePrefixes(const TileWarps& tile_warps, const Memory& memory, int warps, int warp)
      : tile_warps_(tile_warps), memory_(memory), to_high_words_(Memory::to_high_words(warps)), warp_(warp) {}

  __device__ void publish(const std::uint64_t (&sums)[running_elements]) const {
    RowScan<Channels, std::uint64_t, std::uint64_t> scan;
    scan.scan(sums, memory_.totals(), warp_);
    tile_warps_.synchronize();
    scan.publish(memory_.totals(), memory_.prefixes(), to_high_words_, warp_);
    tile_warps_.synchronize();
  }
  [[nodiscard]] __device__ int first() const { return memory_.prefixes(); }

 private:
  const TileWarps& tile_warps_;
  const Memory& memory_;
  int to_high_words_;
  int warp_;
};

/// sums[e] = sum(e).
template <class Sum>
__device__ void set_sums(std::uint64_t (&sums)[running_elements], const Sum& sum) {
#pragma unroll
  for (int e = 0; e < running_elements; ++e) sums[e] = sum(e);
}

/// Column sums of row y where one row of prefixes is enough, and to the next row.
template <class T, int Channels>
__device__ void advance_at_once(WideColumns<T, Channels>& columns, const RunningWindow& window,
                                std::uint64_t (&sums)[running_elements]) {
  if (sizeof(WideColumn<T>) == 8 || window.outer == 0) {
    columns.advance();
    set_sums(sums, [&](int e) { return columns.shared(e); });
    return;
  }
  set_sums(sums, [&](int e) {
    return static_cast<std::uint64_t>(columns.inner(e)) * window.inner +
           static_cast<std::uint64_t>(columns.outer(e)) * window.outer;
  });
  columns.advance();
}

/// Sums over the boxes of row y, first those of the inner window of rows.
template <class T, class Means, int Channels>
__device__ void sum_by_boxes(const WideColumns<T, Channels>& columns, const RunningWindow& window,
                             const WidePrefixes<Channels>& prefixes, const Means& means,
                             FloatTotals& totals) {
  const int boxes = window.outer != 0 ? 2 : 1;
#pragma unroll 1
  for (int box = 0; box < boxes; ++box) {
    std::uint64_t sums[running_elements];
    if (box == 1) {
      set_sums(sums, [&](int e) { return columns.outer(e); });
    } else if (boxes == 2) {
      set_sums(sums, [&](int e) { return columns.inner(e); });
    } else {
      set_sums(sums, [&](int e) { return columns.whole(e); });
    }
    totals.weight = box == 0 ? window.inner : window.outer;
    prefixes.publish(sums);
    means.sum(prefixes.first(), totals);
  }
}

template <class T, bool ByBoxes>
inline constexpr int wide_warps_of = wide_warps(std::is_same_v<T, float> ? Type::f32
                                                : sizeof(T) == 8         ? Type::u64
                                                                         : Type::u32,
                                                ByBoxes);

/// ByBoxes: floats with a fractional radius.
template <class T, class Out, int Channels, bool ByBoxes>
__global__ void __launch_bounds__(wide_warps_of<T, ByBoxes>* warp_size, 1)
    average_wide(const __grid_constant__ RunningMeanArguments arguments) {
  using Columns = WideColumns<T, Channels>;
  using Means = WideMeans<T, Out, Channels>;
  using Memory = TileMemory<std::uint64_t>;
  using Rows = typename Columns::Rows;
  const RunningMeanJob& job = arguments.job;
  const SlidingTiles& tiles = arguments.tiles;
  int table_bytes = 0;
  if constexpr (sizeof(T) <= 2) {
    using Tables = RunningTables<T, std::uint32_t>;
    table_bytes = Tables::bytes(arguments.transfer.decode != nullptr, false);
    if (table_bytes != 0) {
      Tables::fill(arguments.transfer);
      __syncthreads();
    }
  }
  const int threads = tiles.spans * warp_size;
  const TileWarps tile_warps{static_cast<int>(threadIdx.x) / threads, threads};
  const int tile = static_cast<int>(blockIdx.x) * tiles.together + tile_warps.index;
  if (tile >= tiles.columns * tiles.rows) return;
  const int thread = static_cast<int>(threadIdx.x) - tile_warps.index * threads;
  const Memory memory(table_bytes + tile_warps.index * Memory::bytes(tiles.spans), tiles.spans);
  memory.clear_margins(thread);

  const RunningPart part = running_part(arguments, Rows::pixels, tile);
  const int x = part.origin + thread * Rows::pixels;
  const Rows rows(arguments.source, x, part.last_needed, job.width, job.clipped, arguments.columns);
  Columns columns(arguments, rows);
  Means means(arguments, part, Memory::margin, thread, threads, x);
  const WidePrefixes<Channels> prefixes(tile_warps, memory, tiles.spans, thread / warp_size);
  const int last = part.last_y - 1;
  columns.look_up(part.first_y);
  columns.start(part.first_y);
  columns.fetch();
  columns.look_up(min(part.first_y + 1, last));
  const auto advance = [&](int y) {
    columns.fetch();
    columns.look_up(min(y + 2, last));
  };
  constexpr bool early = wide_warps_of<T, ByBoxes> <= 12;  // rows are asked for before the means
#pragma unroll 1
  for (int y = part.first_y; y <= last; ++y) {
    if constexpr (!ByBoxes) {
      std::uint64_t sums[running_elements];
      advance_at_once(columns, job.y, sums);
      prefixes.publish(sums);
      WindowSums<std::uint64_t> totals;
      means.sum(prefixes.first(), totals);
      advance(y);
      means.write(y, totals);
    } else {
      FloatTotals totals;
      sum_by_boxes(columns, job.y, prefixes, means, totals);
      columns.advance();
      if constexpr (early) advance(y);
      means.write(y, totals);
      if constexpr (!early) advance(y);
    }
  }
}

// --- Launching ---

template <class T, int Channels>
auto wide_kernel(const RunningMeanJob& job) -> void (*)(RunningMeanArguments) {
  if constexpr (sizeof(WideColumn<T>) == 4) {
    return average_wide<T, void, Channels, false>;
  } else {
    if (job.output == Type::u64) return average_wide<T, std::uint64_t, Channels, false>;
    const bool by_boxes = job.x.outer != 0 || job.y.outer != 0;
    return by_boxes ? average_wide<T, float, Channels, true> : average_wide<T, float, Channels, false>;
  }
}

template <class T, int Channels>
int WideKernels<T, Channels>::prepare(const RunningMeanArguments& arguments) {
  return allow_all_shared_memory(wide_kernel<T, Channels>(arguments.job));
}

template <class T, int Channels>
void WideKernels<T, Channels>::run(const RunningMeanArguments& arguments, StreamHandle stream) {
  const SlidingTiles& tiles = arguments.tiles;
  const auto blocks =
      static_cast<unsigned>((tiles.columns * tiles.rows + tiles.together - 1) / tiles.together);
  const auto threads = static_cast<unsigned>(tiles.together * tiles.spans * warp_size);
  wide_kernel<T, Channels>(arguments.job)<<<blocks, threads, tiles.shared_bytes, stream>>>(arguments);
}

}  // namespace satin::kernels
