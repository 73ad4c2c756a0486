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

/// inclusive_scan() of packed sums: lanes add by the predicate that the shuffle gives.
__device__ inline std::uint32_t scan_packed(std::uint32_t sum) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2)
    asm volatile(
        "{\n.reg .pred exists;\n.reg .b32 before;\n"
        "shfl.sync.up.b32 before|exists, %0, %1, 0, -1;\n"
        "@exists add.u32 %0, %0, before;\n}"
        : "+r"(sum)
        : "r"(distance));
  return sum;
}
__device__ inline std::uint64_t scan_packed(std::uint64_t sum) {
  auto low = static_cast<std::uint32_t>(sum);
  auto high = static_cast<std::uint32_t>(sum >> 32);
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2)
    asm volatile(
        "{\n.reg .pred exists;\n.reg .b32 low, high;\n"
        "shfl.sync.up.b32 low|exists, %0, %2, 0, -1;\n"
        "shfl.sync.up.b32 high, %1, %2, 0, -1;\n"
        "@exists add.cc.u32 %0, %0, low;\n"
        "@exists addc.u32 %1, %1, high;\n}"
        : "+r"(low), "+r"(high)
        : "r"(distance));
  return static_cast<std::uint64_t>(high) << 32 | low;
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
    const Sum before = scan_packed(own) - own;
    if (batch >= 2) shared.gates.added.wait_for(batch - 2);
    auto* to = reinterpret_cast<typename Shape::Vector*>(shared.staging +
                                                         ((batch & 1) * strip_batch + warp) * Shape::columns);
#pragma unroll
    for (int i = 0; i < Shape::lane_vectors; ++i) {
      typename Shape::Vector sums;
#pragma unroll
      for (int p = 0; p < Shape::Vector::count; ++p)
        sums.of[p] = before + prefix[i * Shape::Vector::count + p];
      to[Shape::place_of(lane_index() * Shape::lane_vectors + i)] = sums;
    }
    shared.gates.scanned.done(batch);
  }
}

template <int Channels>
__device__ void add_columns(const StripMeanArguments& arguments, const StripPart& part,
                            const StripShared<Channels>& shared, int thread) {
  using Shape = StripShape<Channels>;
  using Vector = typename Shape::Vector;
  constexpr int threads = strip_column_warps * warp_size;
  constexpr int per_thread = (Shape::vectors + threads - 1) / threads;
  constexpr int staged_row = Shape::vectors;
  constexpr int ring_row = Shape::pitch / Vector::count;
  Vector sums[per_thread] = {};
  int slot = 0;
  for (int batch = 0; batch < part.batches; ++batch) {
    shared.gates.scanned.wait_for(batch);
    // The ring has room for two batches beside the rows that the next is taken from.
    if (batch >= 2) shared.gates.gathered.wait_for(batch - 2);
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      const int i = thread + k * threads;
      if (Shape::vectors % threads != 0 && i >= Shape::vectors) break;
      const Vector* from = reinterpret_cast<const Vector*>(shared.staging) +
                           (batch & 1) * strip_batch * staged_row + Shape::place_of(i);
      Vector* to =
          reinterpret_cast<Vector*>(shared.ring) + slot * ring_row + Shape::origin / Vector::count + i;
      Vector values[strip_batch];
#pragma unroll
      for (int row = 0; row < strip_batch; ++row) values[row] = from[row * staged_row];
#pragma unroll
      for (int row = 0; row < strip_batch; ++row) {
#pragma unroll
        for (int p = 0; p < Vector::count; ++p) sums[k].of[p] += values[row].of[p];
        to[row * ring_row] = sums[k];
      }
    }
    shared.gates.added.done(batch);
    slot += strip_batch;  // the ring is a multiple of it
    if (slot == arguments.tiles.ring_rows) slot = 0;
  }
}

}  // namespace satin::kernels
