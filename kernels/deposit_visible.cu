// Visible samples to second differences. The corners of a block's samples meet in shared memory, one plane at
// a time, and only what is not 0 is added to the picture: additions there are bound by the sectors of the L2,
// and neighbours share most of their corners. Additions modulo 2^64 give the same sums in any order.

#include "core/operations/with_type.h"
#include "kernels/deposit_spread.cuh"
#include "kernels/shared_memory.cuh"

namespace satin::kernels {
namespace {

/// A thread holds 2 x 2 samples of the block.
constexpr int threads = deposit_block_columns * deposit_block_rows / 4;
static_assert(deposit_block_columns == 2 * warp_size, "a warp holds two rows of samples");

/// The sums of one plane around a block of samples, in two halves: additions of 32 bits are the memory's own.
class CornerSums {
 public:
  __device__ CornerSums(const DepositArguments& a, std::uint32_t* memory, std::int32_t left, std::int32_t top)
      : a_(a),
        left_(left - a.margin),
        top_(top - a.margin),
        pitch_(deposit_pitch(a.margin)),
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
    const int cell = place((y - top_) * pitch_ + (x - left_));
    const auto low = static_cast<std::uint32_t>(value);
    const std::uint32_t carry = atomicAdd(low_ + cell, low) + low < low ? 1 : 0;
    atomicAdd(high_ + cell, static_cast<std::uint32_t>(value >> 32) + carry);
  }

  /// Adds the sums to the picture; they are 0 again.
  __device__ void flush(int plane) {
    for (int i = static_cast<int>(threadIdx.x); i < cells_; i += threads) {
      const int cell = place(i);
      const std::uint64_t sum = std::uint64_t{high_[cell]} << 32 | low_[cell];
      if (sum == 0) continue;
      low_[cell] = 0;
      high_[cell] = 0;
      add_delta(a_, plane, left_ + i % pitch_, top_ + i / pitch_, sum);
    }
  }

 private:
  /// Lanes meet cells two apart when they spread and neighbouring ones when they flush: 32 banks for both.
  [[nodiscard]] __device__ static int place(int cell) {
    const int odd = cell & 1;
    return (cell & ~63) | odd << 5 | (((cell >> 1) + (odd << 4)) & 31);
  }

  const DepositArguments& a_;
  std::int32_t left_;
  std::int32_t top_;
  int pitch_;
  int cells_;
  std::uint32_t* low_;
  std::uint32_t* high_;
};

/// One sample, or four that are merged, as long as its planes are spread.
template <int Samples, int Channels>
struct HeldColours {
  const std::uint32_t (&colour)[4][Channels];
  int first;

  /// Of a plane of colours their sum, of the last plane how many there are.
  [[nodiscard]] __device__ std::uint64_t operator()(int plane) const {
    std::uint64_t sum = Samples;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      if (c != plane) continue;
      sum = 0;
#pragma unroll
      for (int i = 0; i < Samples; ++i) sum += colour[Samples == 1 ? first : i][c];
    }
    return sum;
  }
};

/// The visible samples of 2 x 2 pixels: those of the group that are out of focus.
template <int Channels>
class VisibleSamples {
 public:
  __device__ VisibleSamples(const DepositArguments& a, std::int32_t x, std::int32_t y) : x_(x), y_(y) {
    std::uint32_t radius[4];
    bool alike = true;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      weight_[i] = 0;
      radius[i] = 0;
      const std::int32_t u = x + (i & 1);
      const std::int32_t v = y + (i >> 1);
      const bool in_group = u < a.width && v < a.height &&
                            min(std::uint32_t{row_at<std::uint8_t>(a.groups, v)[u]}, a.last_group) == a.group;
      if (in_group) {
        radius[i] = row_at<std::uint32_t>(a.radii, v)[u];
        const bool is_sharp = radius[i] <= lens_focus_radius;
        focused_ |= is_sharp;
        if (!is_sharp) weight_[i] = row_at<std::uint16_t>(a.weights, v)[u];
      }
      alike = alike && weight_[i] == lens_full_weight;
    }
    bool highlight[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      highlight[i] = false;
      if (weight_[i] == 0) continue;
      const std::uint32_t* from =
          row_at<std::uint32_t>(a.colours, y + (i >> 1)) + std::int64_t{x + (i & 1)} * Channels;
#pragma unroll
      for (int c = 0; c < Channels; ++c) colour_[i][c] = from[c];
      highlight[i] = is_highlight<Channels>(a, colour_[i]);
      alike = alike && !highlight[i];
    }
    merged_ = alike && can_merge(radius, a.merge_from);
    if (merged_) radius[0] = merged_radius_of(radius);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (weight_[i] != 0) kernel_[i] = lens_kernel(a.kernels, radius[i], highlight[i], merged_);
  }

  [[nodiscard]] __device__ bool any() const {
    return (weight_[0] | weight_[1] | weight_[2] | weight_[3]) != 0;
  }
  [[nodiscard]] __device__ bool focused() const { return focused_; }

  /// Adds one plane of them; with the first one also all planes of staircases that are too large.
  __device__ void spread(const DepositArguments& a, int plane, CornerSums& sums,
                         DepositExtent& extent) const {
    if (merged_) return spread_one<4>(a, 0, plane, sums, extent);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (weight_[i] != 0) spread_one<1>(a, i, plane, sums, extent);
  }

 private:
  template <int Samples>
  __device__ void spread_one(const DepositArguments& a, int i, int plane, CornerSums& sums,
                             DepositExtent& extent) const {
    constexpr int more = Samples == 4 ? 2 : 1;
    const std::int32_t x = x_ + (i & 1);
    const std::int32_t y = y_ + (i >> 1);
    const HeldColours<Samples, Channels> colours{colour_, i};
    for (int k = 0; k < 2 && kernel_[i].weight[k] != 0; ++k) {
      const Staircase& stairs = a.kernels.staircases[kernel_[i].staircase[k]];
      const std::uint32_t share = sample_weight(kernel_[i].weight[k], weight_[i]);
      if (plane == 0) extent.hold(stairs, x, y, more);
      if (sums.holds(stairs)) {
        const std::uint64_t value = colours(plane) * share;
        for_corners(stairs, x, y, more, [&](std::int32_t u, std::int32_t v, bool negative) {
          sums.add(u, v, negative ? 0 - value : value);
        });
      } else if (plane == 0) {
        spread_in_picture<Channels>(a, stairs, colours, share, x, y, more);
      }
    }
  }

  std::int32_t x_;
  std::int32_t y_;
  bool focused_ = false;
  bool merged_ = false;
  std::uint32_t weight_[4];
  std::uint32_t colour_[4][Channels];
  LensKernel kernel_[4];
};

template <int Channels>
__global__ void __launch_bounds__(threads, 2) deposit_visible(const __grid_constant__ DepositArguments a) {
  extern __shared__ std::uint32_t corner_memory[];
  const auto left = static_cast<std::int32_t>(blockIdx.x) * deposit_block_columns;
  for (auto top = static_cast<std::int32_t>(blockIdx.y) * deposit_block_rows; top < a.height;
       top += static_cast<std::int32_t>(gridDim.y) * deposit_block_rows) {
    const std::int32_t x = left + 2 * lane_index();
    const std::int32_t y = top + 2 * static_cast<std::int32_t>(threadIdx.x / warp_size);
    const VisibleSamples<Channels> samples(a, x, y);
    if (samples.focused())
      a.sums.focused[std::int64_t{y / deposit_tile} * a.tile_columns + x / deposit_tile] = 1;
    if (__syncthreads_or(samples.any()) == 0) continue;
    CornerSums sums(a, corner_memory, left, top);
    sums.clear();
    __syncthreads();
    for (int plane = 0; plane <= Channels; ++plane) {
      DepositExtent extent;
      samples.spread(a, plane, sums, extent);
      if (plane == 0) mark_spread(a, extent);
      __syncthreads();
      sums.flush(plane);
      __syncthreads();
    }
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
