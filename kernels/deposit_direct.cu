// What tiles do not gather: samples of the list, and visible ones that reach too far. A corner of a staircase
// costs one atomic addition a plane; additions modulo 2^64 give the same sums in any order. The tiles that
// they lie in are marked and cleared before.

#include "core/operations/with_type.h"
#include "kernels/deposit_quads.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = 128;

__device__ void mark(const DepositArguments& a, std::uint32_t group, std::int32_t column, std::int32_t row) {
  a.sums.direct[group * tile_count(a) + std::int64_t{row} * a.tile_columns + column] = 1;
}

struct MarkTiles {
  template <int Channels, class Value>
  static __device__ void run(const DepositArguments& a, std::uint32_t group, const Staircase& stairs,
                             std::uint32_t /*share*/, const Value& /*value*/, std::int32_t x, std::int32_t y,
                             std::int32_t more) {
    for_corners(stairs, x, y, more, [&](std::int32_t u, std::int32_t v, bool) {
      if (u < a.width && v < a.height)
        mark(a, group, max(u, 0) / deposit_tile_width, max(v, 0) / deposit_tile_height);
    });
  }
};

/// What lies above or before the picture counts on its border, what lies behind not.
struct AddDeltas {
  template <int Channels, class Value>
  static __device__ void run(const DepositArguments& a, std::uint32_t group, const Staircase& stairs,
                             std::uint32_t share, const Value& value, std::int32_t x, std::int32_t y,
                             std::int32_t more) {
    for_corners(stairs, x, y, more, [&](std::int32_t u, std::int32_t v, bool negative) {
      if (u >= a.width || v >= a.height) return;
      const std::int32_t column = max(u, 0);
      const std::int32_t row = max(v, 0);
      const std::int64_t tile =
          std::int64_t{row / deposit_tile_height} * a.tile_columns + column / deposit_tile_width;
      std::uint64_t* to = tile_plane(a, group, tile, 0) + row % deposit_tile_height * deposit_tile_width +
                          column % deposit_tile_width;
#pragma unroll
      for (int c = 0; c <= Channels; ++c) {
        const std::uint64_t delta = value(c) * share;
        atomicAdd(reinterpret_cast<unsigned long long*>(to + c * deposit_tile_pixels),
                  static_cast<unsigned long long>(negative ? 0 - delta : delta));
      }
    });
  }
};

template <int Channels, class Step>
__global__ void __launch_bounds__(threads) each_listed(const __grid_constant__ DepositArguments a) {
  const std::uint32_t count = min(*a.count, a.most_listed);
  for (std::uint32_t i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
    const LensSample sample = a.listed[i];
    const bool inside = sample.x >= 0 && sample.x < a.width && sample.y >= 0 && sample.y < a.height;
    if (!inside || sample.weight == 0) continue;
    const bool block = sample.block == 2;
    const LensKernel kernel =
        lens_kernel(a.kernels, sample.radius, is_highlight<Channels>(a, sample.colour), block);
    const auto value = [&](int plane) -> std::uint64_t {
      return plane < Channels ? sample.colour[plane] : 1;
    };
    for (int k = 0; k < 2 && kernel.weight[k] != 0; ++k) {
      const Staircase stairs = a.kernels.staircases[kernel.staircase[k]];  // all of it is read at once
      Step::template run<Channels>(a, min(std::uint32_t{sample.group}, a.last_group), stairs,
                                   sample_weight(kernel.weight[k], sample.weight), value, sample.x, sample.y,
                                   block ? 2 : 1);
    }
  }
}

/// One thread a cell of a group: the tiles that its samples may reach.
__global__ void __launch_bounds__(threads) mark_far(const __grid_constant__ DepositArguments a) {
  const std::int64_t cell = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (cell >= cell_count(a)) return;
  const std::uint32_t group = blockIdx.y;
  const std::int32_t reach = a.sums.reaches[group * cell_count(a) + cell];
  if (reach <= deposit_reach) return;
  const std::int32_t x = cell_left(a, cell);
  const std::int32_t y = cell_top(a, cell);
  const std::int32_t right = min(x + deposit_cell + 1 + reach, a.width - 1) / deposit_tile_width;
  const std::int32_t bottom = min(y + deposit_cell + 1 + reach, a.height - 1) / deposit_tile_height;
  for (std::int32_t row = max(y - reach, 0) / deposit_tile_height; row <= bottom; ++row)
    for (std::int32_t column = max(x - reach, 0) / deposit_tile_width; column <= right; ++column)
      mark(a, group, column, row);
}

/// One thread 2 x 2 pixels.
template <int Channels>
__global__ void __launch_bounds__(threads) add_far(const __grid_constant__ DepositArguments a) {
  const std::int64_t place = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (place >= cell_count(a) * cell_quads) return;
  const DepositQuad quad = a.sums.quads[place];
  if (quad.groups == 0 || quad.reach <= deposit_reach) return;
  const auto number = static_cast<int>(place % cell_quads);
  for_staircases<Channels>(
      a, cell_left(a, place / cell_quads) + quad_x(number), cell_top(a, place / cell_quads) + quad_y(number),
      quad.merged, [](std::uint32_t) { return true; },
      [&](const SpreadSample<Channels>& sample, const Staircase& stairs, std::uint32_t share) {
        if (stairs.reach > deposit_reach)
          AddDeltas::run<Channels>(
              a, group_at(a, sample.x, sample.y), stairs, share,
              [&](int plane) { return sample.value(plane); }, sample.x, sample.y, sample.more);
      });
}

__global__ void __launch_bounds__(threads) clear_marked(const __grid_constant__ DepositArguments a) {
  const std::int64_t tile = blockIdx.x;
  if (a.sums.direct[blockIdx.y * tile_count(a) + tile] == 0) return;
  auto* words = reinterpret_cast<ulonglong2*>(tile_plane(a, blockIdx.y, tile, 0));
  for (int i = static_cast<int>(threadIdx.x); i < (a.channels + 1) * deposit_tile_pixels / 2; i += threads)
    words[i] = make_ulonglong2(0, 0);
}

unsigned blocks_for(std::int64_t count, int block) {
  return static_cast<unsigned>((count + block - 1) / block);
}

template <class Step>
void launch_listed(const DepositArguments& a, StreamHandle stream) {
  constexpr unsigned blocks = 2048;
  if (a.most_listed == 0) return;
  with_channels(a.channels,
                [&]<int Channels>() { each_listed<Channels, Step><<<blocks, threads, 0, stream>>>(a); });
}

}  // namespace

void deposit_direct(const DepositArguments& a, StreamHandle stream) {
  const bool far = a.largest_reach > deposit_reach;
  if (!far && a.most_listed == 0) return;
  const unsigned groups = a.last_group + 1;
  launch_listed<MarkTiles>(a, stream);
  if (far) mark_far<<<dim3(blocks_for(cell_count(a), threads), groups), threads, 0, stream>>>(a);
  clear_marked<<<dim3(blocks_for(tile_count(a), 1), groups), threads, 0, stream>>>(a);
  launch_listed<AddDeltas>(a, stream);
  if (!far) return;
  const unsigned blocks = blocks_for(cell_count(a) * cell_quads, threads);
  with_channels(a.channels, [&]<int Channels>() { add_far<Channels><<<blocks, threads, 0, stream>>>(a); });
}

}  // namespace satin::kernels
