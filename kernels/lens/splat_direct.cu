// The splat of samples that tiles do not gather: those that reach too far, and lamps (splat_lamps.cu). A
// corner of a staircase costs one atomic addition a plane; additions modulo 2^64 give the same sums in any
// order. The tiles that the corners lie in are marked and cleared before.

#include "core/with_type.h"
#include "kernels/lens/splat_direct.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = 128;

/// Calls corner(column, row, negative) for the corners of a staircase. What lies above or before the picture
/// counts on its border, what lies behind not.
template <class Corner>
__device__ void for_corners_in_picture(const SplatArguments& a, const Staircase& stairs, std::int32_t x,
                                       std::int32_t y, std::int32_t more, const Corner& corner) {
  for_corners(stairs, x, y, more, [&](std::int32_t u, std::int32_t v, bool negative) {
    if (u < a.width && v < a.height) corner(max(u, 0), max(v, 0), negative);
  });
}

/// The samples of the list that reach far: a lane a plane, as additions side by side are one request.
template <int Channels>
__global__ void __launch_bounds__(threads) add_far_listed(const __grid_constant__ SplatArguments a) {
  constexpr unsigned lanes = Channels + 1;
  const std::uint64_t count = std::uint64_t{min(*a.count, a.most_listed)} * lanes;
  for (std::uint64_t i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
    const LensSample& sample = a.listed[i / lanes];
    const bool inside = sample.x >= 0 && sample.x < a.width && sample.y >= 0 && sample.y < a.height;
    if (!inside || sample.weight == 0) continue;
    const std::uint32_t group = min(std::uint32_t{sample.group}, a.last_group);
    const auto lane = static_cast<int>(i % lanes);
    for_staircases_of<Channels>(a, sample, [&](const Staircase& stairs, std::uint32_t share) {
      if (stairs.reach <= splat_reach) return;
      const std::uint64_t delta = (lane < Channels ? sample.colour[lane] : std::uint64_t{1}) * share;
      for_corners_in_picture(a, stairs, sample.x, sample.y, sample.block == 2 ? 2 : 1,
                             [&](std::int32_t column, std::int32_t row, bool negative) {
                               add_delta(a, group, column, row, lane, negative ? 0 - delta : delta);
                             });
    });
  }
}

/// One thread a cell of a group: the tiles that its samples may reach.
__global__ void __launch_bounds__(threads) mark_far(const __grid_constant__ SplatArguments a) {
  const std::int64_t cell = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (cell >= cell_count(a)) return;
  const std::uint32_t group = blockIdx.y;
  const std::int32_t reach = a.sums.reaches[group * cell_count(a) + cell];
  if (reach <= splat_reach) return;
  const std::int32_t x = cell_left(a, cell);
  const std::int32_t y = cell_top(a, cell);
  const std::int32_t right = min(x + splat_cell + 1 + reach, a.width - 1) / splat_tile_width;
  const std::int32_t bottom = min(y + splat_cell + 1 + reach, a.height - 1) / splat_tile_height;
  for (std::int32_t row = max(y - reach, 0) / splat_tile_height; row <= bottom; ++row)
    for (std::int32_t column = max(x - reach, 0) / splat_tile_width; column <= right; ++column)
      mark(a, group, column, row);
}

/// One thread 2 x 2 pixels.
template <int Channels>
__global__ void __launch_bounds__(threads) add_far(const __grid_constant__ SplatArguments a) {
  const std::int64_t place = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (place >= cell_count(a) * cell_quads) return;
  const SplatQuad quad = a.sums.quads[place];
  if (quad.groups == 0 || quad.reach <= splat_reach) return;
  const auto number = static_cast<int>(place % cell_quads);
  for_staircases<Channels>(
      a, cell_left(a, place / cell_quads) + quad_x(number), cell_top(a, place / cell_quads) + quad_y(number),
      quad.merged, [](std::uint32_t) { return true; },
      [&](const SpreadSample<Channels>& sample, const Staircase& stairs, std::uint32_t share) {
        if (stairs.reach <= splat_reach) return;
        const std::uint32_t group = group_at(a, sample.x, sample.y);
        for_corners_in_picture(a, stairs, sample.x, sample.y, sample.more,
                               [&](std::int32_t column, std::int32_t row, bool negative) {
#pragma unroll
                                 for (int plane = 0; plane <= Channels; ++plane) {
                                   const std::uint64_t delta = sample.value(plane) * share;
                                   add_delta(a, group, column, row, plane, negative ? 0 - delta : delta);
                                 }
                               });
      });
}

__global__ void __launch_bounds__(threads) clear_marked(const __grid_constant__ SplatArguments a) {
  const std::int64_t tile = blockIdx.x;
  if (a.sums.direct[blockIdx.y * tile_count(a) + tile] == 0) return;
  auto* words = reinterpret_cast<ulonglong2*>(tile_plane(a, blockIdx.y, tile, 0));
  for (int i = static_cast<int>(threadIdx.x); i < (a.channels + 1) * splat_tile_pixels / 2; i += threads)
    words[i] = make_ulonglong2(0, 0);
}

unsigned blocks_for(std::int64_t count, int block) {
  return static_cast<unsigned>((count + block - 1) / block);
}

}  // namespace

void splat_direct(const SplatArguments& a, StreamHandle stream) {
  const bool far = a.largest_reach > splat_reach;
  if (!far && a.most_lamps == 0) return;
  const unsigned groups = a.last_group + 1;
  splat_mark_lamps(a, stream);
  if (far) mark_far<<<dim3(blocks_for(cell_count(a), threads), groups), threads, 0, stream>>>(a);
  clear_marked<<<dim3(blocks_for(tile_count(a), 1), groups), threads, 0, stream>>>(a);
  splat_add_lamps(a, stream);
  if (!far) return;
  constexpr unsigned blocks_of_list = 2048;
  const unsigned blocks = blocks_for(cell_count(a) * cell_quads, threads);
  with_channels(a.channels, [&]<int Channels>() {
    add_far<Channels><<<blocks, threads, 0, stream>>>(a);
    if (a.most_listed != 0) add_far_listed<Channels><<<blocks_of_list, threads, 0, stream>>>(a);
  });
}

}  // namespace satin::kernels
