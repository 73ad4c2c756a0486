#pragma once
// The warps that build the table of a tile: the first group scans rows, the second adds them down the
// columns.

#include "kernels/means/tiled_table_part.cuh"

namespace satin::kernels {

/// A warp scans one row of every batch, or of every second batch if batches have fewer rows than warps.
template <class Values, bool Aligned>
__device__ void scan_rows(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                          TableRows<Values::channels> reader, int warp) {
  using Shape = TiledTableShape<Values>;
  constexpr int turns = row_warps / Shape::batch_rows;
  reader.aligned = Aligned;
  const int batches = shared.part.batches;
  const int last = shared.part.last_y - 1 + arguments.job.reach;
  int y = shared.part.start + warp;
  const auto row_at = [&](int position) { return position <= last ? __ldg(arguments.rows + position) : -1; };
  typename Values::Words words;
  reader.load(row_at(y), words);
  int next_row = row_at(y + row_warps);
  for (int batch = warp / Shape::batch_rows; batch < batches; batch += turns) {
    typename Values::LaneSums sums(shared.values, words);
    reader.load(next_row, words);
    y += row_warps;
    next_row = row_at(y + row_warps);
    sums.scan();
    if (batch >= 2) shared.gates.added.wait_for(batch - 2);
    const int staged_row = (batch & 1) * Shape::batch_rows + warp % Shape::batch_rows;
    sums.stage(shared.staging + staged_row * Shape::columns);
    shared.gates.scanned.done(batch);
  }
}

template <class Values>
__device__ void scan_rows(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                          int warp) {
  const TiledTableJob& job = arguments.job;
  const TableRows<Values::channels> reader(
      arguments.source, shared.part.origin + lane_index() * table_lane_pixels,
      shared.part.last_x - 1 + job.reach, job.width, job.clipped, arguments.columns);
  if (reader.aligned) return scan_rows<Values, true>(arguments, shared, reader, warp);
  scan_rows<Values, false>(arguments, shared, reader, warp);
}

template <class Values>
__device__ void add_columns(const TiledTableArguments& arguments, const TiledTableShared<Values>& shared,
                            int thread) {
  using Shape = TiledTableShape<Values>;
  using Unit = typename Values::Unit;
  constexpr int batch_rows = Shape::batch_rows;
  constexpr int threads = column_warps * warp_size;
  constexpr int per_thread = (Values::units + threads - 1) / threads;
  Unit sums[per_thread] = {};
  int slot = 0;
  for (int batch = 0; batch < shared.part.batches; ++batch) {
    shared.gates.scanned.wait_for(batch);
    // The ring has room for two batches beside the rows that the next is taken from.
    if (batch >= 2) shared.gates.gathered.wait_for(batch - 2);
    const auto* const from = shared.staging + (batch & 1) * batch_rows * Shape::columns;
    auto* const to = shared.ring + slot * Shape::pitch + Shape::origin;
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      const int unit = thread + k * threads;
      if (Values::units % threads != 0 && unit >= Values::units) break;
      Unit values[batch_rows];
#pragma unroll
      for (int row = 0; row < batch_rows; ++row)
        values[row] = Values::staged(from + row * Shape::columns, unit);
#pragma unroll
      for (int row = 0; row < batch_rows; ++row) {
        sums[k] = sums[k] + values[row];
        Values::store(sums[k], to + row * Shape::pitch, unit);
      }
    }
    shared.gates.added.done(batch);
    slot += batch_rows;  // the ring is a multiple of it
    if (slot == arguments.ring_rows) slot = 0;
  }
}

}  // namespace satin::kernels
