// Visible samples to second differences. The corners of a block's samples meet in shared memory, one plane at
// a time, and only what is not 0 is added to the picture: additions there are bound by the sectors of the L2,
// and neighbours share most of their corners. Additions modulo 2^64 give the same sums in any order.

#include "core/operations/with_type.h"
#include "kernels/deposit_spread.cuh"
#include "kernels/shared_memory.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = warp_size * deposit_warps;

/// The sums of one plane around a block of samples, in two halves: additions of 32 bits are the memory's own.
class CornerSums {
 public:
  __device__ CornerSums(const DepositArguments& a, std::uint32_t* memory, std::int32_t left, std::int32_t top)
      : a_(a),
        left_(left - a.margin),
        top_(top - a.margin),
        pitch_(deposit_block_columns + 2 * a.margin + 1),
        cells_(deposit_cells(a.margin)),
        low_(memory),
        high_(memory + cells_) {}

  __device__ void clear() {
    for (int i = static_cast<int>(threadIdx.x); i < 2 * cells_; i += threads) low_[i] = 0;
  }

  [[nodiscard]] __device__ bool holds(const Staircase& stairs) const {
    return stairs.wide[stairs.boxes - 1] <= a_.margin && stairs.high[0] <= a_.margin;
  }

  __device__ void add(std::int32_t x, std::int32_t y, std::uint64_t value) {
    const int cell = (y - top_) * pitch_ + (x - left_);
    const auto low = static_cast<std::uint32_t>(value);
    const std::uint32_t carry = atomicAdd(low_ + cell, low) + low < low ? 1 : 0;
    atomicAdd(high_ + cell, static_cast<std::uint32_t>(value >> 32) + carry);
  }

  /// Adds the sums to the picture; they are 0 again.
  __device__ void flush(int plane) {
    for (int i = static_cast<int>(threadIdx.x); i < cells_; i += threads) {
      const std::uint64_t sum = std::uint64_t{high_[i]} << 32 | low_[i];
      if (sum == 0) continue;
      low_[i] = 0;
      high_[i] = 0;
      add_delta(a_, plane, left_ + i % pitch_, top_ + i / pitch_, sum);
    }
  }

 private:
  const DepositArguments& a_;
  std::int32_t left_;
  std::int32_t top_;
  int pitch_;
  int cells_;
  std::uint32_t* low_;
  std::uint32_t* high_;
};

/// The visible sample of a pixel.
template <int Channels>
struct VisibleSample {
  bool exists = false;  ///< and is out of focus, of the group
  bool focused = false;
  std::uint32_t colour[Channels];
  std::uint32_t weight;
  LensKernel kernel;

  __device__ VisibleSample(const DepositArguments& a, std::int32_t x, std::int32_t y) {
    if (x >= a.width || y >= a.height) return;
    const std::uint32_t group = row_at<std::uint8_t>(a.groups, y)[x];
    if (min(group, a.last_group) != a.group) return;
    const std::uint32_t radius = row_at<std::uint32_t>(a.radii, y)[x];
    focused = radius <= lens_focus_radius;
    weight = row_at<std::uint16_t>(a.weights, y)[x];
    if (focused || weight == 0) return;
    exists = true;
    const std::uint32_t* from = row_at<std::uint32_t>(a.colours, y) + std::int64_t{x} * Channels;
#pragma unroll
    for (int c = 0; c < Channels; ++c) colour[c] = from[c];
    kernel = kernel_of<Channels>(a, colour, radius, false);
  }

  [[nodiscard]] __device__ std::uint64_t value(int plane) const {
    std::uint64_t result = 1;
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      if (c == plane) result = colour[c];
    return result;
  }
};

/// Adds one plane of a sample; with the first plane also all planes of a staircase that is too large.
template <int Channels>
__device__ void spread(const DepositArguments& a, const VisibleSample<Channels>& sample, std::int32_t x,
                       std::int32_t y, int plane, CornerSums& sums, DepositExtent& extent) {
  for (int i = 0; i < 2 && sample.kernel.weight[i] != 0; ++i) {
    const Staircase& stairs = a.kernels.staircases[sample.kernel.staircase[i]];
    const std::uint32_t share = sample_weight(sample.kernel.weight[i], sample.weight);
    if (plane == 0) extent.hold(stairs, x, y, 1);
    if (sums.holds(stairs)) {
      const std::uint64_t value = sample.value(plane) * share;
      for_corners(stairs, x, y, 1, [&](std::int32_t u, std::int32_t v, bool negative) {
        sums.add(u, v, negative ? 0 - value : value);
      });
    } else if (plane == 0) {
      spread_in_picture<Channels>(a, stairs, sample.colour, share, x, y, 1);
    }
  }
}

template <int Channels>
__global__ void __launch_bounds__(threads) deposit_visible(const __grid_constant__ DepositArguments a) {
  extern __shared__ std::uint32_t corner_memory[];
  const auto left = static_cast<std::int32_t>(blockIdx.x) * deposit_block_columns;
  for (auto top = static_cast<std::int32_t>(blockIdx.y) * deposit_block_rows; top < a.height;
       top += static_cast<std::int32_t>(gridDim.y) * deposit_block_rows) {
    CornerSums sums(a, corner_memory, left, top);
    sums.clear();
    __syncthreads();
    for (int plane = 0; plane <= Channels; ++plane) {
      bool any = false;
      for (int i = static_cast<int>(threadIdx.x) / warp_size; i < 2 * deposit_block_rows;
           i += deposit_warps) {
        const std::int32_t x = left + i % 2 * warp_size + lane_index();
        const std::int32_t y = top + i / 2;
        const VisibleSample<Channels> sample(a, x, y);
        DepositExtent extent;
        if (sample.exists) spread(a, sample, x, y, plane, sums, extent);
        any |= sample.exists;
        if (plane > 0) continue;
        mark_spread(a, extent);
        if (__any_sync(whole_warp, sample.focused) && lane_index() == 0)
          a.sums.focused[std::int64_t{y / deposit_tile} * a.tile_columns + x / deposit_tile] = 1;
      }
      if (__syncthreads_or(any) == 0) break;
      sums.flush(plane);
      __syncthreads();
    }
    __syncthreads();
  }
}

template <int Channels>
void launch(const DepositArguments& a, StreamHandle stream) {
  constexpr int most_rows = 65535;
  const int rows = (a.height + deposit_block_rows - 1) / deposit_block_rows;
  const dim3 grid(static_cast<unsigned>((a.width + deposit_block_columns - 1) / deposit_block_columns),
                  static_cast<unsigned>(rows < most_rows ? rows : most_rows));
  deposit_visible<Channels><<<grid, threads, deposit_shared_bytes(a.margin), stream>>>(a);
}

}  // namespace

int allow_deposit(int channels) {
  return with_channels(channels,
                       [&]<int Channels>() { return allow_all_shared_memory(deposit_visible<Channels>); });
}

void deposit_visible_samples(const DepositArguments& a, StreamHandle stream) {
  with_channels(a.channels, [&]<int Channels>() { launch<Channels>(a, stream); });
}

}  // namespace satin::kernels
