#pragma once
// Box mean of 8-bit pixels by a radius map, with the table in shared memory: a block slides a window down a
// strip of columns with the last rows of the strip's own table in a ring, the channels of an entry packed
// into one word.
//
// Three groups of warps work on batches of eight rows, one behind the other: the first scans source rows (a
// warp a row) into a staging buffer, the second adds them down the columns into the ring, the third writes
// the means whose windows are complete. Each waits for what it needs alone (StripGates): staging has two
// buffers, and the ring has room for two batches beside the rows that are read.
//
// The table covers the picture extended by its border; of Border::shrink, where the extension is 0, only the
// divisor is clipped.
//
// Bytes moved per pixel: the output, the map, and each pixel of the source (strip + 2 reach) / strip times
// (band + 2 reach) / band, from the L2 but for once. Shared memory: two accesses of a word to build an entry,
// four reads a whole box.

#include <cstdint>

#include "kernels/means/strip_gather.cuh"
#include "kernels/means/strip_table.cuh"

namespace satin::kernels {

/// The column to the left of the strip, and the row above it.
template <int Channels>
__device__ void clear_frame(const StripMeanArguments& arguments, const StripShared<Channels>& shared,
                            int thread) {
  using Shape = StripShape<Channels>;
  const int rows = arguments.ring_rows;
  for (int row = thread; row < rows; row += strip_threads)
    shared.ring[row * Shape::pitch + Shape::origin - 1] = 0;
  for (int i = thread; i < Shape::pitch; i += strip_threads) shared.ring[(rows - 1) * Shape::pitch + i] = 0;
}

template <int Channels>
__global__ void __launch_bounds__(strip_threads, 1)
    average_strips(const __grid_constant__ StripMeanArguments arguments) {
  using Shape = StripShape<Channels>;
  extern __shared__ uint4 memory[];
  const StripMeanJob& job = arguments.job;
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / warp_size;
  const StripShared<Channels> shared(memory, job.reach);
  clear_frame(arguments, shared, thread);
  for (int i = thread; i <= job.reach; i += strip_threads)
    shared.divisions[i] = WholeDivision(static_cast<std::uint32_t>((2 * i + 1) * (2 * i + 1)));
  if (thread < Shape::codes)
    shared.radii[thread] =
        radius_from_map(static_cast<std::uint32_t>(thread), 0xFFU, job.radius.low, job.radius.high);
  if (thread == 0) {
    shared.part = strip_part(arguments, Shape::pixels);
    shared.gates.scanned.prepare(strip_row_warps);
    shared.gates.added.prepare(strip_column_warps);
    shared.gates.gathered.prepare(shared.part.groups * Shape::shares);
  }
  __syncthreads();
  if (warp < strip_row_warps) {
    scan_rows<Channels>(arguments, shared, warp);
  } else if (warp < strip_row_warps + strip_column_warps) {
    add_columns<Channels>(arguments, shared, thread - strip_row_warps * warp_size);
  } else {
    StripGather<Channels>(arguments, shared, warp - strip_row_warps - strip_column_warps).run();
  }
}

}  // namespace satin::kernels
