#pragma once
// The warps that build the table of a strip: the first group scans rows, the second adds them down the
// columns.

#include <cstdint>

#include "kernels/strip_part.cuh"

namespace satin::kernels {

/// The sums of a lane's pixels up to each of them. A lane has at most 16 pixels, so that each sum fits a few
/// bits.
template <int Channels, class Words, class Sum, int Pixels>
__device__ void prefix_of_lane(const Words& loaded, Sum (&prefix)[Pixels]) {
  std::uint32_t sums[Channels] = {};
#pragma unroll
  for (int p = 0; p < Pixels; ++p) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const int byte = p * Channels + c;
      sums[c] = __dp4a(loaded.words[byte / 4], 1U << byte % 4 * 8, sums[c]);
    }
    prefix[p] = PackedSums<Channels>::pack(sums);
  }
}

template <int Channels>
__device__ void scan_rows(const StripMeanArguments& arguments, const StripPart& part,
                          const StripShared<Channels>& shared, int warp) {
  using Shape = StripShape<Channels>;
  using Rows = typename Shape::Rows;
  using Sum = typename Shape::Sum;
  const StripMeanJob& job = arguments.job;
  const int x = part.origin + lane_index() * Shape::pixels;
  const Rows reader(arguments.source, x, part.last_x - 1 + job.reach, job.width, job.clipped,
                    arguments.columns);
  const int first = part.first_y - job.reach + warp;
  const int last = part.last_y - 1 + job.reach;
  typename Rows::Words next;
  const auto load = [&](int batch) {
    const int y = first + batch * strip_batch;
    reader.load(y <= last ? __ldg(arguments.rows + y) : -1, next);
  };
  load(0);
  for (int batch = 0; batch < part.batches; ++batch) {
    Sum prefix[Shape::pixels];
    prefix_of_lane<Channels>(next, prefix);
    if (batch + 1 < part.batches) load(batch + 1);
    const Sum own = prefix[Shape::pixels - 1];
    const Sum before = inclusive_scan(own) - own;
    if (batch >= 2) shared.gates.added.wait_for(batch - 2);
    Sum* to = shared.staging + ((batch & 1) * strip_batch + warp) * Shape::staged +
              lane_index() * (Shape::pixels + 1);
#pragma unroll
    for (int p = 0; p < Shape::pixels; ++p) to[p] = before + prefix[p];
    shared.gates.scanned.done(batch);
  }
}

template <int Channels>
__device__ void add_columns(const StripMeanArguments& arguments, const StripPart& part,
                            const StripShared<Channels>& shared, int thread) {
  using Shape = StripShape<Channels>;
  using Sum = typename Shape::Sum;
  constexpr int threads = strip_column_warps * warp_size;
  constexpr int per_thread = Shape::columns / threads;
  static_assert(per_thread * threads == Shape::columns);
  Sum sums[per_thread] = {};
  int slot = 0;
  for (int batch = 0; batch < part.batches; ++batch) {
    const Sum* staged = shared.staging + (batch & 1) * strip_batch * Shape::staged;
    shared.gates.scanned.wait_for(batch);
    // The ring has room for two batches beside the rows that the next is taken from.
    if (batch >= 2) shared.gates.gathered.wait_for(batch - 2);
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      const int column = thread + k * threads;
      const Sum* from = staged + column + column / Shape::pixels;
      Sum* to = shared.ring + slot * Shape::pitch + column + 1;
      Sum values[strip_batch];
#pragma unroll
      for (int row = 0; row < strip_batch; ++row) values[row] = from[row * Shape::staged];
#pragma unroll
      for (int row = 0; row < strip_batch; ++row) {
        sums[k] += values[row];
        to[row * Shape::pitch] = sums[k];
      }
    }
    shared.gates.added.done(batch);
    slot += strip_batch;  // the ring is a multiple of it
    if (slot == arguments.tiles.ring_rows) slot = 0;
  }
}

}  // namespace satin::kernels
