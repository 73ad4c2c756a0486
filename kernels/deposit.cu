// Samples to second differences, one thread a sample. A corner of a staircase costs one atomic addition a
// plane; additions modulo 2^64 give the same sums in any order.

#include "kernels/deposit_tile.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = warp_size * deposit_warps;

/// Columns and rows from first to last; empty where first > last.
struct Extent {
  std::int32_t left, right, top, bottom;
};

__device__ Extent no_extent() { return {0x7FFFFFFF, -1, 0x7FFFFFFF, -1}; }

/// One sample on its way into the planes.
template <int Channels>
struct Falling {
  const DepositArguments& a;
  std::uint64_t values[Channels + 1];

  __device__ void corner(std::int32_t x, std::int32_t y, bool negative) const {
    if (x >= a.width || y >= a.height) return;
    const std::int64_t at = std::int64_t{y < 0 ? 0 : y} * a.width + (x < 0 ? 0 : x);
    auto* cell = reinterpret_cast<unsigned long long*>(a.sums.deltas) + at;
#pragma unroll
    for (int c = 0; c <= Channels; ++c)
      atomicAdd(cell + c * delta_plane(a), negative ? 0 - values[c] : values[c]);
  }

  /// Four corners of a box, which is added or taken away.
  __device__ void box(std::int32_t x, std::int32_t y, std::int32_t wide, std::int32_t high, std::int32_t more,
                      bool negative) const {
    corner(x - wide, y - high, negative);
    corner(x + wide + more, y - high, !negative);
    corner(x - wide, y + high + more, !negative);
    corner(x + wide + more, y + high + more, negative);
  }
};

template <int Channels>
__device__ void spread(const DepositArguments& a, const std::uint32_t* colour, std::int32_t x, std::int32_t y,
                       std::uint32_t radius, std::uint32_t weight, bool block, Extent& extent) {
  const std::uint32_t white = a.white_of_run == nullptr ? a.white : *a.white_of_run;
  bool highlight = false;
#pragma unroll
  for (int c = 0; c < Channels; ++c) highlight |= c < a.highlight_channels && colour[c] > white;
  const LensKernel kernel = lens_kernel(a.kernels, radius, highlight, block);
  const std::int32_t more = block ? 2 : 1;
  for (int i = 0; i < 2 && kernel.weight[i] != 0; ++i) {
    const Staircase& stairs = a.kernels.staircases[kernel.staircase[i]];
    const std::uint32_t share = sample_weight(kernel.weight[i], weight);
    Falling<Channels> sample{a, {}};
#pragma unroll
    for (int c = 0; c < Channels; ++c) sample.values[c] = std::uint64_t{colour[c]} * share;
    sample.values[Channels] = share;
    std::int32_t wide = 0;
    for (int k = 0; k < stairs.boxes; ++k) {
      const std::int32_t high = stairs.high[k];
      if (k > 0) sample.box(x, y, wide, high, more, true);
      wide = stairs.wide[k];
      sample.box(x, y, wide, high, more, false);
    }
    const std::int32_t highest = stairs.high[0];
    extent.left = min(extent.left, x - wide);
    extent.right = max(extent.right, x + wide + more);
    extent.top = min(extent.top, y - highest);
    extent.bottom = max(extent.bottom, y + highest + more);
  }
}

/// Marks the tiles of what the lanes of a warp touched.
__device__ void mark_spread(const DepositArguments& a, Extent extent) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    extent.left = min(extent.left, __shfl_xor_sync(whole_warp, extent.left, distance));
    extent.right = max(extent.right, __shfl_xor_sync(whole_warp, extent.right, distance));
    extent.top = min(extent.top, __shfl_xor_sync(whole_warp, extent.top, distance));
    extent.bottom = max(extent.bottom, __shfl_xor_sync(whole_warp, extent.bottom, distance));
  }
  const std::int32_t left = max(extent.left, 0) / deposit_tile;
  const std::int32_t right = min(extent.right, a.width - 1) / deposit_tile;
  const std::int32_t top = max(extent.top, 0) / deposit_tile;
  const std::int32_t bottom = min(extent.bottom, a.height - 1) / deposit_tile;
  if (extent.right < extent.left) return;
  for (std::int32_t row = top; row <= bottom; ++row)
    for (std::int32_t column = left + lane_index(); column <= right; column += warp_size)
      a.sums.spread[std::int64_t{row} * a.tile_columns + column] = 1;
}

template <int Channels>
__global__ void __launch_bounds__(threads) deposit_visible(const __grid_constant__ DepositArguments a) {
  const std::int32_t x = static_cast<std::int32_t>(blockIdx.x) * warp_size + lane_index();
  const std::int32_t first = static_cast<std::int32_t>(blockIdx.y * deposit_warps + threadIdx.x / warp_size);
  for (std::int32_t y = first; y < a.height; y += static_cast<std::int32_t>(gridDim.y) * deposit_warps) {
    Extent extent = no_extent();
    bool focused = false;
    if (x < a.width) {
      const std::uint32_t group = row_at<std::uint8_t>(a.groups, y)[x];
      if ((group < a.last_group ? group : a.last_group) == a.group) {
        const std::uint32_t radius = row_at<std::uint32_t>(a.radii, y)[x];
        const std::uint32_t weight = row_at<std::uint16_t>(a.weights, y)[x];
        focused = radius <= lens_focus_radius;
        if (!focused && weight != 0) {
          std::uint32_t colour[Channels];
          const std::uint32_t* from = row_at<std::uint32_t>(a.colours, y) + std::int64_t{x} * Channels;
#pragma unroll
          for (int c = 0; c < Channels; ++c) colour[c] = from[c];
          spread<Channels>(a, colour, x, y, radius, weight, false, extent);
        }
      }
    }
    mark_spread(a, extent);
    if (__any_sync(whole_warp, focused) && lane_index() == 0)
      a.sums.focused[std::int64_t{y / deposit_tile} * a.tile_columns + blockIdx.x] = 1;
  }
}

template <int Channels>
__global__ void __launch_bounds__(threads) deposit_listed(const __grid_constant__ DepositArguments a) {
  const std::uint32_t count = min(*a.count, a.most_listed);
  const std::uint32_t step = gridDim.x * threads;
  for (std::uint32_t first = blockIdx.x * threads; first < count; first += step) {
    const std::uint32_t i = first + threadIdx.x;
    Extent extent = no_extent();
    if (i < count) {
      const LensSample sample = a.listed[i];
      const bool inside = sample.x >= 0 && sample.x < a.width && sample.y >= 0 && sample.y < a.height;
      if (min(std::uint32_t{sample.group}, a.last_group) == a.group && inside && sample.weight != 0)
        spread<Channels>(a, sample.colour, sample.x, sample.y, sample.radius, sample.weight,
                         sample.block == 2, extent);
    }
    mark_spread(a, extent);
  }
}

template <int Channels>
void launch(const DepositArguments& a, StreamHandle stream) {
  constexpr int most_rows = 65535;
  constexpr unsigned list_blocks = 1024;
  const int blocks = (a.height + deposit_warps - 1) / deposit_warps;
  const dim3 grid(static_cast<unsigned>(a.tile_columns),
                  static_cast<unsigned>(blocks < most_rows ? blocks : most_rows));
  deposit_visible<Channels><<<grid, threads, 0, stream>>>(a);
  if (a.most_listed > 0) deposit_listed<Channels><<<list_blocks, threads, 0, stream>>>(a);
}

}  // namespace

void deposit_samples(const DepositArguments& arguments, StreamHandle stream) {
  switch (arguments.channels) {
    case 1:
      return launch<1>(arguments, stream);
    case 2:
      return launch<2>(arguments, stream);
    case 3:
      return launch<3>(arguments, stream);
    default:
      return launch<4>(arguments, stream);
  }
}

}  // namespace satin::kernels
