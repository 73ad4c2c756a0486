#pragma once
// What the warps of a block share that marches down a strip with its table in shared memory.

#include <cstdint>
#include <type_traits>

#include "kernels/box_mean_strip.h"
#include "kernels/exact_division.cuh"
#include "kernels/lane_rows.cuh"
#include "kernels/packed_sums.cuh"
#include "kernels/tuning.h"

namespace satin::kernels {

inline constexpr int strip_batch = 8;  ///< rows
inline constexpr int strip_row_warps = strip_batch;
inline constexpr int strip_column_warps = 8;
inline constexpr int strip_gather_warps = tuning::strip_gather_warps;
inline constexpr int strip_threads = (strip_row_warps + strip_column_warps + strip_gather_warps) * warp_size;

template <int Channels>
struct StripShape {
  using Sum = typename PackedSums<Channels>::Sum;
  using Rows =
      LaneRows<std::uint8_t, Channels, std::conditional_t<Channels == 1, std::uint64_t, std::uint32_t>>;
  static constexpr int pixels = Rows::pixels;         ///< of a lane
  static constexpr int columns = warp_size * pixels;  ///< of the source
  static constexpr int pitch = columns + 1;           ///< entries of a row of the ring: the first is 0
  static constexpr int staged =
      columns + warp_size;  ///< entries of a staged row: one unused behind each lane's
  static constexpr int most_tasks =
      (columns / warp_size * strip_batch + strip_gather_warps - 1) / strip_gather_warps;
  static constexpr int codes = 256;  ///< of an 8-bit map

  __host__ __device__ static std::size_t bytes(int ring_rows, int reach) {
    return static_cast<std::size_t>(ring_rows * pitch + 2 * strip_batch * staged + 1) * sizeof(Sum) +
           static_cast<std::size_t>(reach + 1) * sizeof(ByteDivision) + codes * sizeof(Radius256);
  }
};

template <int Channels>
struct StripShared {
  using Shape = StripShape<Channels>;
  using Sum = typename Shape::Sum;
  Sum* ring;                ///< [ring_rows][pitch]
  Sum* staging;             ///< [2][strip_batch][staged]
  ByteDivision* divisions;  ///< [reach + 1]: of unclipped whole boxes
  Radius256* radii;         ///< [codes]: of the values of an 8-bit map

  __device__ StripShared(void* memory, int ring_rows, int reach)
      : ring(static_cast<Sum*>(memory)),
        staging(ring + (ring_rows * Shape::pitch + 1) / 2 * 2),
        divisions(reinterpret_cast<ByteDivision*>(staging + 2 * strip_batch * Shape::staged)),
        radii(reinterpret_cast<Radius256*>(divisions + reach + 1)) {}
};

/// What a block does: means of rows [first_y, last_y) and columns [first_x, last_x).
struct StripPart {
  int first_x, last_x;
  int first_y, last_y;
  int origin;   ///< position of the first column that is summed
  int batches;  ///< of source rows, from first_y - reach on
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
  return part;
}

}  // namespace satin::kernels
