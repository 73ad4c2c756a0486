// Samples of the list to second differences, one thread a sample. A corner of a staircase costs one atomic
// addition a plane; additions modulo 2^64 give the same sums in any order.

#include "core/operations/with_type.h"
#include "kernels/deposit_spread.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = warp_size * deposit_warps;

/// Marks the tiles of a staircase's corners. Neighbours in the list may lie far apart: what holds all that a
/// warp spreads would be too much.
__device__ void mark_corners(const DepositArguments& a, const Staircase& stairs, std::int32_t x,
                             std::int32_t y, std::int32_t more) {
  for_corners(stairs, x, y, more, [&](std::int32_t u, std::int32_t v, bool) {
    if (u >= a.width || v >= a.height) return;
    const std::int32_t column = max(u, 0) / deposit_tile;
    const std::int32_t row = max(v, 0) / deposit_tile;
    a.sums.spread[std::int64_t{row} * a.tile_columns + column] = 1;
  });
}

template <int Channels>
__global__ void __launch_bounds__(threads) deposit_listed(const __grid_constant__ DepositArguments a) {
  const std::uint32_t count = min(*a.count, a.most_listed);
  const std::uint32_t step = gridDim.x * threads;
  for (std::uint32_t first = blockIdx.x * threads; first < count; first += step) {
    const std::uint32_t i = first + threadIdx.x;
    if (i < count) {
      const LensSample sample = a.listed[i];
      const bool inside = sample.x >= 0 && sample.x < a.width && sample.y >= 0 && sample.y < a.height;
      if (min(std::uint32_t{sample.group}, a.last_group) == a.group && inside && sample.weight != 0) {
        const bool block = sample.block == 2;
        const LensKernel kernel =
            lens_kernel(a.kernels, sample.radius, is_highlight<Channels>(a, sample.colour), block);
        const auto colours = [&](int plane) -> std::uint64_t {
          return plane < Channels ? sample.colour[plane] : 1;
        };
        for (int k = 0; k < 2 && kernel.weight[k] != 0; ++k) {
          const Staircase& stairs = a.kernels.staircases[kernel.staircase[k]];
          spread_in_picture<Channels>(a, stairs, colours, sample_weight(kernel.weight[k], sample.weight),
                                      sample.x, sample.y, block ? 2 : 1);
          mark_corners(a, stairs, sample.x, sample.y, block ? 2 : 1);
        }
      }
    }
  }
}

}  // namespace

void deposit_listed_samples(const DepositArguments& a, StreamHandle stream) {
  constexpr unsigned blocks = 1024;
  if (a.most_listed == 0) return;
  with_channels(a.channels,
                [&]<int Channels>() { deposit_listed<Channels><<<blocks, threads, 0, stream>>>(a); });
}

}  // namespace satin::kernels
