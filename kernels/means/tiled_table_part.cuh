#pragma once
// What the warps of a block share that slides a window down a tile with the table of it in shared memory.

#include <cstdint>
#include <cuda/barrier>
#include <cuda/ptx>

#include "kernels/device/registers.cuh"
#include "kernels/device/tuning.h"
#include "kernels/means/tile_part.cuh"
#include "kernels/means/tiled_table_values.cuh"

namespace satin::kernels {

inline constexpr int row_warps = TiledTableJob::most_batch_rows;
inline constexpr int column_warps = tuning::tiled_table_column_warps;
inline constexpr int gather_warps = tuning::tiled_table_gather_warps;
inline constexpr int tile_threads = (row_warps + column_warps + gather_warps) * warp_size;

/// The warps of one group say that a batch is done, those of the next wait for it. Two in turn, for even and
/// odd batches.
class BatchGate {
 public:
  using Barrier = cuda::barrier<cuda::thread_scope_block>;

  /// One thread calls this. Every lane of `warps` arrives: with one lane for all of them after __syncwarp() a
  /// batch took 2 % longer, and racecheck did not know that order.
  __device__ void prepare(int warps) {
    for (Barrier& barrier : barriers_) init(&barrier, warps * warp_size);
  }
  /// All lanes of a warp call this.
  __device__ void done(int batch) { static_cast<void>(barriers_[batch & 1].arrive()); }
  __device__ void wait_for(int batch) {
    Barrier& barrier = barriers_[batch & 1];
    const bool parity = (batch >> 1 & 1) != 0;
#if __CUDA_ARCH__ >= 900
    // As wait_parity(), in fewer instructions a turn.
    std::uint64_t* native = cuda::device::barrier_native_handle(barrier);
    while (!cuda::ptx::mbarrier_try_wait_parity(native, parity ? 1U : 0U)) {
    }
#else
    barrier.wait_parity(parity);
#endif
  }

 private:
  Barrier barriers_[2];
};

struct BatchGates {
  BatchGate scanned;   ///< rows are in the staging buffer
  BatchGate added;     ///< the buffer has been read, and rows are in the ring
  BatchGate gathered;  ///< means have been taken
};

/// What a block does.
struct TablePart : TilePart {
  int origin;   ///< position of the first column that is summed
  int start;    ///< position of the first row that is summed
  int batches;  ///< of source rows, from `start` on
  int skipped;  ///< batches that complete no window; the next completes those of row first_y and some below
  int groups;   ///< of 32 columns
};

__device__ inline TablePart table_part(const TiledTableArguments& arguments, int batch_rows) {
  constexpr int pixels = table_lane_pixels;
  const TiledTableJob& job = arguments.job;
  TablePart part{tile_part(job, arguments.tiles, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y))};
  part.origin = part.first_x - (job.reach + pixels - 1) / pixels * pixels;
  part.skipped = (2 * job.reach + batch_rows - 1) / batch_rows;
  part.start = part.first_y + job.reach - part.skipped * batch_rows;
  part.batches = part.skipped + (part.last_y - part.first_y + batch_rows - 1) / batch_rows;
  part.groups = (part.last_x - part.first_x + warp_size - 1) / warp_size;
  return part;
}

/// What all warps read: kept in shared memory, where it takes no registers.
struct alignas(16) TiledTableHead {
  BatchGates gates;
  TablePart part;
};

template <class Values>
struct TiledTableShape {
  using Sum = typename Values::Sum;
  static constexpr int channels = Values::channels;
  static constexpr int batch_rows = Values::batch_rows;
  static constexpr int ring_step = Values::ring_step;
  static constexpr int pixels = table_lane_pixels;
  static constexpr int columns = table_columns;
  /// Entries of a row of the ring, 1 more than a multiple of 32: windows of any radii around neighbouring
  /// pixels have two of their corners in different banks.
  static constexpr int pitch = columns + 1;
  static constexpr int row_bytes = pitch * static_cast<int>(sizeof(Sum));
  static constexpr int origin = 1;   ///< its first column; the entry before is 0
  static constexpr int codes = 256;  ///< of an 8-bit map
  /// Warps that take the means of 32 columns, each of every second row of a batch.
  static constexpr int shares = 2;
  static constexpr int share_rows = batch_rows / shares;
  static constexpr int most_width = gather_warps / shares * warp_size;  ///< of a tile's means

  __host__ __device__ static std::size_t bytes(int ring_rows, int reach) {
    return sizeof(TiledTableHead) + codes * sizeof(Radius256) + Values::bytes(reach) +
           static_cast<std::size_t>(2 * batch_rows * columns + ring_rows * pitch) * sizeof(Sum);
  }
};

template <class Values>
struct TiledTableShared {
  using Shape = TiledTableShape<Values>;
  using Sum = typename Shape::Sum;
  BatchGates& gates;
  TablePart& part;
  Radius256* radii;  ///< [codes]: of the values of an 8-bit map
  Values values;
  Sum* staging;  ///< [2][batch_rows][columns], in the order of the values
  Sum* ring;     ///< [ring_rows][pitch]

  __device__ TiledTableShared(void* memory, int reach)
      : gates(static_cast<TiledTableHead*>(memory)->gates),
        part(static_cast<TiledTableHead*>(memory)->part),
        radii(reinterpret_cast<Radius256*>(static_cast<TiledTableHead*>(memory) + 1)),
        values(radii + Shape::codes),
        staging(reinterpret_cast<Sum*>(reinterpret_cast<std::byte*>(radii + Shape::codes) +
                                       Values::bytes(reach))),
        ring(staging + 2 * Shape::batch_rows * Shape::columns) {}
};

}  // namespace satin::kernels
