#pragma once
// Second differences that are added one by one, in the tiles that are marked for it.

#include "kernels/lens/splat_tile.cuh"

namespace satin::kernels {

__device__ inline void mark(const SplatArguments& a, std::uint32_t group, std::int32_t column,
                            std::int32_t row) {
  a.sums.direct[group * tile_count(a) + std::int64_t{row} * a.tile_columns + column] = 1;
}

__device__ inline void add_delta(const SplatArguments& a, std::uint32_t group, std::int32_t column,
                                 std::int32_t row, int plane, std::uint64_t delta) {
  const std::int64_t tile =
      std::int64_t{row / splat_tile_height} * a.tile_columns + column / splat_tile_width;
  const int pixel = row % splat_tile_height * splat_tile_width + column % splat_tile_width;
  std::uint64_t* to = tile_plane(a, group, tile, 0) + direct_place(a, pixel, plane);
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(delta));
}

}  // namespace satin::kernels
