// Box mean of 8-bit pixels by a radius map: a block slides a window down a tile with the last rows of the
// tile's own summed-area table in a ring in shared memory. The channels of an entry are packed into one word;
// in linear light they take a word each.
//
// Three groups of warps work on batches of eight or four rows, one behind the other: the first scans source
// rows (a warp a row) into a staging buffer, the second adds them down the columns into the ring, the third
// writes the means whose windows are complete. Each waits for what it needs alone (BatchGates): staging has
// two buffers, and the ring has room for two batches beside the rows that are read.
//
// The table covers the picture extended by its border; of Border::shrink, where the extension is 0, only the
// divisor is clipped.
//
// Bytes moved per pixel: the output, the map, and each pixel of the source (width + 2 reach) / width times
// (height + 2 reach) / height of the tile, from the L2 but for once. Shared memory: two accesses of a word to
// build an entry, four reads a whole box, sixteen one of fractional radius, which in linear light are what
// takes the time.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/device/shared_memory.cuh"
#include "kernels/means/tiled_table_build.cuh"
#include "kernels/means/tiled_table_gather.cuh"

namespace satin::kernels {
namespace {

/// The column to the left of the tile, and the row above it.
template <class Values>
__device__ void clear_frame(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                            int thread) {
  using Shape = TiledTableShape<Values>;
  const int rows = arguments.ring_rows;
  for (int row = thread; row < rows; row += tile_threads)
    shared.ring[row * Shape::pitch + Shape::origin - 1] = {};
  for (int i = thread; i < Shape::pitch; i += tile_threads) shared.ring[(rows - 1) * Shape::pitch + i] = {};
}

template <class Values>
__global__ void __launch_bounds__(tile_threads, 1)
    average_in_tiles(const __grid_constant__ TiledTableArguments arguments) {
  using Shape = TiledTableShape<Values>;
  extern __shared__ uint4 memory[];
  const TiledTableJob& job = arguments.job;
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / warp_size;
  const TiledTableShared<Values> shared(memory, job.reach);
  clear_frame(arguments, shared, thread);
  shared.values.prepare(arguments, thread, tile_threads);
  if (thread < Shape::codes)
    shared.radii[thread] =
        radius_from_map(static_cast<std::uint32_t>(thread), 0xFFU, job.radius.low, job.radius.high);
  if (thread == 0) {
    shared.part = table_part(arguments, Shape::batch_rows);
    shared.gates.scanned.prepare(Shape::batch_rows);
    shared.gates.added.prepare(column_warps);
    shared.gates.gathered.prepare(shared.part.groups * Shape::shares);
  }
  __syncthreads();
  if (warp < row_warps) {
    scan_rows<Values>(arguments, shared, warp);
  } else if (warp < row_warps + column_warps) {
    add_columns<Values>(arguments, shared, thread - row_warps * warp_size);
  } else {
    TableGather<Values>(arguments, shared, warp - row_warps - column_warps).run();
  }
}

/// Calls action(TiledTableShape, kernel) for the job's channels and light.
template <class Action>
auto with_kernel(const TiledTableJob& job, const Action& action) {
  const auto of_values = [&]<class Values>() {
    return action(TiledTableShape<Values>{}, average_in_tiles<Values>);
  };
  const auto of_channels = [&]<int Channels>() {
    return job.linear ? of_values.template operator()<LinearBytes<Channels>>()
                      : of_values.template operator()<StoredBytes<Channels>>();
  };
  if (job.channels == 1) return of_channels.template operator()<1>();
  if (job.channels == 2) return of_channels.template operator()<2>();
  return of_channels.template operator()<3>();
}

template <class Shape>
int ring_rows_of(const TiledTableJob& job) {
  return (2 * job.reach + 1 + 2 * Shape::batch_rows + Shape::ring_step - 1) / Shape::ring_step *
         Shape::ring_step;
}

}  // namespace

SlidingTiles tiles_of(const TiledTableJob& job, int multiprocessors, std::size_t shared_limit) {
  return with_kernel(job, [&](auto shape, auto*) {
    using Shape = decltype(shape);
    const int before = (job.reach + Shape::pixels - 1) / Shape::pixels * Shape::pixels;
    const int usable =
        std::min(Shape::most_width, (Shape::columns - before - job.reach) / warp_size * warp_size);
    if (usable < Shape::columns / 2) return SlidingTiles{};
    SlidingTileRules rules{job.width, job.height, multiprocessors, usable};
    rules.fewest_rows = true;
    rules.most_rows = std::min(std::max(1, job.height / Shape::batch_rows), multiprocessors);
    rules.start_cost = 2 * job.reach + 2 * Shape::batch_rows;
    SlidingTiler tiler(rules);
    tiler.consider(
        1, usable, std::numeric_limits<int>::max(),
        [&](const SlidingTiles&) { return Shape::bytes(ring_rows_of<Shape>(job), job.reach); }, shared_limit);
    return tiler.best();
  });
}

int prepare_mean(const TiledTableArguments& arguments) {
  return with_kernel(arguments.job, [&](auto, auto* kernel) { return allow_all_shared_memory(kernel); });
}

void launch_mean(const TiledTableArguments& arguments, StreamHandle stream) {
  with_kernel(arguments.job, [&](auto shape, auto* kernel) {
    TiledTableArguments stepping = arguments;
    using Shape = decltype(shape);
    stepping.map_step = Shape::shares * arguments.radius_map.row;
    stepping.output_step = Shape::shares * arguments.output.row;
    stepping.ring_rows = ring_rows_of<Shape>(arguments.job);
    stepping.ring_bytes = static_cast<unsigned>(stepping.ring_rows * Shape::row_bytes);
    const dim3 blocks(static_cast<unsigned>(arguments.tiles.columns),
                      static_cast<unsigned>(arguments.tiles.rows));
    kernel<<<blocks, tile_threads, arguments.tiles.shared_bytes, stream>>>(stepping);
  });
}

}  // namespace satin::kernels
