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

__device__ std::int32_t reach_of(const Staircase& stairs) {
  return max(std::int32_t{stairs.wide[stairs.boxes - 1]}, std::int32_t{stairs.high[0]});
}

/// The sums of one plane around a block of samples, in two halves: additions of 32 bits are the memory's own.
class CornerSums {
 public:
  __device__ CornerSums(const DepositArguments& a, std::uint32_t* memory, std::int32_t left, std::int32_t top,
                        std::int32_t margin)
      : a_(a),
        margin_(margin),
        left_(left - margin),
        top_(top - margin),
        pitch_(deposit_pitch(margin)),
        low_(memory),
        high_(memory + deposit_cells(margin)) {}

  __device__ void clear() {
    const int words = 2 * deposit_cells(margin_);
    for (int i = static_cast<int>(threadIdx.x); i < words; i += threads) low_[i] = 0;
  }

  [[nodiscard]] __device__ bool holds(const Staircase& stairs) const { return reach_of(stairs) <= margin_; }

  __device__ void add(std::int32_t x, std::int32_t y, std::uint64_t value) {
    const int cell = place((y - top_) * pitch_ + (x - left_));
    const auto low = static_cast<std::uint32_t>(value);
    const std::uint32_t carry = atomicAdd(low_ + cell, low) + low < low ? 1 : 0;
    atomicAdd(high_ + cell, static_cast<std::uint32_t>(value >> 32) + carry);
  }

  /// Adds the sums to the picture, a warp a row; they are 0 again.
  __device__ void flush(int plane) {
    const int rows = deposit_block_rows + 2 * margin_ + 1;
    for (int row = static_cast<int>(threadIdx.x) / warp_size; row < rows; row += threads / warp_size) {
      const std::int32_t y = top_ + row;
      if (y >= a_.height) break;
      auto* to = reinterpret_cast<unsigned long long*>(a_.sums.deltas) + plane * delta_plane(a_) +
                 std::int64_t{max(y, 0)} * a_.width;
      for (int column = lane_index(); column < pitch_; column += warp_size) {
        const int cell = place(row * pitch_ + column);
        const std::uint64_t sum = std::uint64_t{high_[cell]} << 32 | low_[cell];
        if (sum == 0) continue;
        low_[cell] = 0;
        high_[cell] = 0;
        const std::int32_t x = left_ + column;
        if (x < a_.width) atomicAdd(to + max(x, 0), static_cast<unsigned long long>(sum));
      }
    }
  }

 private:
  /// Lanes meet cells two apart when they spread and neighbouring ones when they flush: 32 banks for both.
  [[nodiscard]] __device__ static int place(int cell) {
    const int odd = cell & 1;
    return (cell & ~63) | odd << 5 | (((cell >> 1) + (odd << 4)) & 31);
  }

  const DepositArguments& a_;
  std::int32_t margin_;
  std::int32_t left_;
  std::int32_t top_;
  int pitch_;
  std::uint32_t* low_;
  std::uint32_t* high_;
};

/// The visible samples of 2 x 2 pixels: those of the group that are out of focus. What is kept of them fits
/// registers; colours are read again with every plane.
template <int Channels>
class VisibleSamples {
 public:
  __device__ VisibleSamples(const DepositArguments& a, std::int32_t x, std::int32_t y) : x_(x), y_(y) {
    std::uint32_t radius[4];
    std::uint32_t weight[4];
    bool highlight[4];
    bool alike = true;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      weight[i] = 0;
      radius[i] = 0;
      highlight[i] = false;
      const std::int32_t u = column(i);
      const std::int32_t v = row(i);
      if (u < a.width && v < a.height &&
          min(std::uint32_t{row_at<std::uint8_t>(a.groups, v)[u]}, a.last_group) == a.group) {
        radius[i] = row_at<std::uint32_t>(a.radii, v)[u];
        const bool sharp = radius[i] <= lens_focus_radius;
        focused_ |= sharp;
        if (!sharp) weight[i] = row_at<std::uint16_t>(a.weights, v)[u];
        if (weight[i] != 0) highlight[i] = is_highlight<Channels>(a, colours_of(a, i));
      }
      alike = alike && weight[i] == lens_full_weight && !highlight[i];
    }
    merged_ = alike && can_merge(radius, a.merge_from);
    if (merged_) radius[0] = merged_radius_of(radius);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      share_[0][i] = share_[1][i] = 0;
      if (weight[i] == 0 || (merged_ && i > 0)) continue;
      const LensKernel kernel = lens_kernel(a.kernels, radius[i], highlight[i], merged_);
      share_[0][i] = sample_weight(kernel.weight[0], weight[i]);
      share_[1][i] = sample_weight(kernel.weight[1], weight[i]);
      stairs_[i] = kernel.staircase[0] | std::uint32_t{kernel.staircase[1]} << 16;
      any_ = true;
    }
  }

  [[nodiscard]] __device__ bool any() const { return any_; }
  [[nodiscard]] __device__ bool focused() const { return focused_; }
  /// The farthest that one of their staircases reaches, of those that fit in the margin.
  [[nodiscard]] __device__ std::int32_t reach(const DepositArguments& a) const {
    std::int32_t farthest = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (share_[i & 1][i >> 1] == 0) continue;
      const std::int32_t own = reach_of(a.kernels.staircases[stairs_[i >> 1] >> 16 * (i & 1) & 0xFFFFU]);
      if (own <= a.margin) farthest = max(farthest, own);
    }
    return farthest;
  }

  /// Adds one plane of them; with the first one also all planes of staircases that are too large.
  __device__ void spread(const DepositArguments& a, int plane, CornerSums& sums,
                         DepositExtent& extent) const {
#pragma unroll 1
    for (int i = 0; i < (merged_ ? 1 : 4); ++i) {
      std::uint32_t stairs = of(stairs_, i);
#pragma unroll 1
      for (int k = 0; k < 2; ++k, stairs >>= 16) {
        const std::uint32_t share = of(share_[k], i);
        if (share == 0) continue;
        spread_one(a, i, a.kernels.staircases[stairs & 0xFFFFU], share, plane, sums, extent);
      }
    }
  }

 private:
  template <class T>
  [[nodiscard]] __device__ static T of(const T (&values)[4], int i) {
    return i < 2 ? (i == 0 ? values[0] : values[1]) : i == 2 ? values[2] : values[3];
  }
  [[nodiscard]] __device__ std::int32_t column(int i) const { return x_ + (i & 1); }
  [[nodiscard]] __device__ std::int32_t row(int i) const { return y_ + (i >> 1); }
  [[nodiscard]] __device__ const std::uint32_t* colours_of(const DepositArguments& a, int i) const {
    return row_at<std::uint32_t>(a.colours, row(i)) + std::int64_t{column(i)} * Channels;
  }

  /// What one share of a staircase gets: a colour, or that of all that are merged; of the last plane how many
  /// samples there are.
  [[nodiscard]] __device__ std::uint64_t colour(const DepositArguments& a, int i, int plane) const {
    if (plane == Channels) return merged_ ? 4 : 1;
    if (!merged_) return colours_of(a, i)[plane];
    std::uint64_t sum = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) sum += colours_of(a, j)[plane];
    return sum;
  }

  __device__ void spread_one(const DepositArguments& a, int i, const Staircase& stairs, std::uint32_t share,
                             int plane, CornerSums& sums, DepositExtent& extent) const {
    const std::int32_t more = merged_ ? 2 : 1;
    if (plane == 0) extent.hold(stairs, column(i), row(i), more);
    if (sums.holds(stairs)) {
      const std::uint64_t value = colour(a, i, plane) * share;
      for_corners(stairs, column(i), row(i), more, [&](std::int32_t u, std::int32_t v, bool negative) {
        sums.add(u, v, negative ? 0 - value : value);
      });
    } else if (plane == 0) {
      const auto colour_of = [&](int c) { return colour(a, i, c); };
      spread_in_picture<Channels>(a, stairs, colour_of, share, column(i), row(i), more);
    }
  }

  std::int32_t x_;
  std::int32_t y_;
  bool any_ = false;
  bool focused_ = false;
  bool merged_ = false;
  std::uint32_t share_[2][4];
  std::uint32_t stairs_[4];  ///< the second one in the upper half
};

/// The largest of the block's numbers, for all its threads; -1: there is none.
__device__ std::int32_t largest_of_block(std::int32_t own, std::int32_t* largest) {
  if (threadIdx.x == 0) *largest = -1;
  __syncthreads();
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2)
    own = max(own, __shfl_xor_sync(whole_warp, own, distance));
  if (lane_index() == 0) atomicMax(largest, own);
  __syncthreads();
  return *largest;
}

template <int Channels>
__global__ void __launch_bounds__(threads, 2) deposit_visible(const __grid_constant__ DepositArguments a) {
  extern __shared__ std::uint32_t corner_memory[];
  __shared__ std::int32_t largest;
  const auto left = static_cast<std::int32_t>(blockIdx.x) * deposit_block_columns;
  for (auto top = static_cast<std::int32_t>(blockIdx.y) * deposit_block_rows; top < a.height;
       top += static_cast<std::int32_t>(gridDim.y) * deposit_block_rows) {
    const std::int32_t x = left + 2 * lane_index();
    const std::int32_t y = top + 2 * static_cast<std::int32_t>(threadIdx.x / warp_size);
    const VisibleSamples<Channels> samples(a, x, y);
    if (samples.focused())
      a.sums.focused[std::int64_t{y / deposit_tile} * a.tile_columns + x / deposit_tile] = 1;
    const std::int32_t margin = largest_of_block(samples.any() ? samples.reach(a) : -1, &largest);
    if (margin >= 0) {
      CornerSums sums(a, corner_memory, left, top, margin);
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
