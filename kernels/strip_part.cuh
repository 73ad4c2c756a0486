#pragma once
// What the warps of a block share that marches down a strip with its table in shared memory.

#include <cstdint>
#include <cuda/barrier>
#include <type_traits>

#include "kernels/box_mean_strip.h"
#include "kernels/lane_rows.cuh"
#include "kernels/packed_sums.cuh"
#include "kernels/strip_means.cuh"
#include "kernels/tuning.h"

namespace satin::kernels {

inline constexpr int strip_batch = 8;  ///< rows
inline constexpr int strip_row_warps = strip_batch;
inline constexpr int strip_column_warps = tuning::strip_column_warps;
inline constexpr int strip_gather_warps = tuning::strip_gather_warps;
inline constexpr int strip_threads = (strip_row_warps + strip_column_warps + strip_gather_warps) * warp_size;

/// The warps of one group say that a batch is done, those of the next wait for it. Two in turn, for even and
/// odd batches.
class StripGate {
 public:
  using Barrier = cuda::barrier<cuda::thread_scope_block>;

  /// By one thread; `warps` say so.
  __device__ void prepare(int warps) {
    for (Barrier& barrier : barriers_) init(&barrier, warps);
  }
  /// By all lanes of a warp.
  __device__ void done(int batch) {
    __syncwarp();
    if (lane_index() == 0) static_cast<void>(barriers_[batch & 1].arrive());
  }
  __device__ void wait_for(int batch) const { barriers_[batch & 1].wait_parity((batch >> 1 & 1) != 0); }

 private:
  Barrier barriers_[2];
};

struct StripGates {
  StripGate scanned;   ///< rows are in the staging buffer
  StripGate added;     ///< the buffer has been read, and rows are in the ring
  StripGate gathered;  ///< means have been taken
};

template <int Channels>
struct StripShape {
  using Sum = typename PackedSums<Channels>::Sum;
  using Rows =
      LaneRows<std::uint8_t, Channels, std::conditional_t<Channels == 1, std::uint64_t, std::uint32_t>>;
  static constexpr int pixels = Rows::pixels;         ///< of a lane
  static constexpr int columns = warp_size * pixels;  ///< of the source
  static constexpr int pitch = columns + 1;           ///< entries of a row of the ring: the first is 0
  static constexpr int staged =
      columns + warp_size;           ///< entries of a staged row: one unused behind each lane's
  static constexpr int codes = 256;  ///< of an 8-bit map
  /// Rows of a batch of which a warp takes means: at least two warps share 32 columns.
  static constexpr int most_rows = strip_batch / 2;
  static_assert(strip_gather_warps >= 2 * (columns / warp_size - 1));

  __host__ __device__ static std::size_t bytes(int ring_rows, int reach) {
    return sizeof(StripGates) + codes * sizeof(Radius256) +
           static_cast<std::size_t>(reach + 1) * sizeof(WholeDivision) +
           static_cast<std::size_t>(2 * strip_batch * staged + ring_rows * pitch) * sizeof(Sum);
  }
};

template <int Channels>
struct StripShared {
  using Shape = StripShape<Channels>;
  using Sum = typename Shape::Sum;
  StripGates& gates;
  Radius256* radii;          ///< [codes]: of the values of an 8-bit map
  WholeDivision* divisions;  ///< [reach + 1]: of unclipped whole boxes
  Sum* staging;              ///< [2][strip_batch][staged]
  Sum* ring;                 ///< [ring_rows][pitch]

  __device__ StripShared(void* memory, int reach)
      : gates(*static_cast<StripGates*>(memory)),
        radii(reinterpret_cast<Radius256*>(&gates + 1)),
        divisions(reinterpret_cast<WholeDivision*>(radii + Shape::codes)),
        staging(reinterpret_cast<Sum*>(divisions + reach + 1)),
        ring(staging + 2 * strip_batch * Shape::staged) {}
};

/// What a block does: means of rows [first_y, last_y) and columns [first_x, last_x).
struct StripPart {
  int first_x, last_x;
  int first_y, last_y;
  int origin;   ///< position of the first column that is summed
  int batches;  ///< of source rows, from first_y - reach on
  int groups;   ///< of 32 columns
  int shares;   ///< warps that take the means of a group, each of some rows of a batch
};

__device__ inline StripPart strip_part(const StripMeanArguments& arguments, int pixels) {
  const StripMeanJob& job = arguments.job;
  StripPart part{};
  part.first_x = static_cast<int>(blockIdx.x) * arguments.tiles.strip_width;
  part.last_x = min(part.first_x + arguments.tiles.strip_width, job.width);
  const auto band = static_cast<std::int64_t>(blockIdx.y);
  part.first_y = static_cast<int>(band * job.height / arguments.tiles.bands);
  part.last_y = static_cast<int>((band + 1) * job.height / arguments.tiles.bands);
  part.origin = part.first_x - (job.reach + pixels - 1) / pixels * pixels;
  part.batches = (part.last_y - part.first_y + 2 * job.reach + strip_batch - 1) / strip_batch;
  part.groups = (part.last_x - part.first_x + warp_size - 1) / warp_size;
  part.shares = min(strip_gather_warps / part.groups, strip_batch);
  return part;
}

}  // namespace satin::kernels
