#pragma once
// Where things lie in the sums of a splat.

#include "kernels/device/warp.cuh"
#include "kernels/lens/launch.h"

namespace satin::kernels {

static_assert(splat_tile_height == warp_size && splat_tile_width == 2 * warp_size);
static_assert(splat_cell == warp_size);

template <class T>
__device__ const T* row_at(const Source& source, std::int64_t y) {
  return reinterpret_cast<const T*>(source.data + y * source.row);
}

__host__ __device__ inline std::int64_t tile_count(const SplatArguments& a) {
  return std::int64_t{a.tile_columns} * a.tile_rows;
}
__device__ inline std::int32_t cell_columns(const SplatArguments& a) {
  return a.tile_columns * (splat_tile_width / splat_cell);
}
__host__ __device__ inline std::int64_t cell_count(const SplatArguments& a) {
  return tile_count(a) * (splat_tile_width / splat_cell);
}
__device__ inline std::int32_t padded_width(const SplatArguments& a) {
  return a.tile_columns * splat_tile_width;
}

/// One plane of one tile of one group.
__device__ inline std::uint64_t* tile_plane(const SplatArguments& a, std::uint32_t group, std::int64_t tile,
                                            int plane) {
  return a.sums.tiles + ((group * tile_count(a) + tile) * (a.channels + 1) + plane) * splat_tile_pixels;
}
/// Where in a tile the second difference of a pixel is: side by side with those of its other planes, which
/// are then added to as one sector of the L2; but where a block makes one plane after the other, the first
/// one it stores must not lie upon the others' differences.
__device__ inline int direct_place(const SplatArguments& a, int pixel, int plane) {
  return a.all_planes ? pixel * (a.channels + 1) + plane : plane * splat_tile_pixels + pixel;
}
/// The entries of one row of tiles.
__device__ inline std::uint64_t* columns_of(const SplatArguments& a, std::uint32_t group, int plane,
                                            std::int32_t tile_row) {
  const std::int64_t planes = std::int64_t{group} * (a.channels + 1) + plane;
  return a.sums.columns + (planes * a.tile_rows + tile_row) * padded_width(a);
}
/// The entries of one row of pixels.
__device__ inline std::uint64_t* rows_of(const SplatArguments& a, std::uint32_t group, int plane,
                                         std::int64_t y) {
  const std::int64_t planes = std::int64_t{group} * (a.channels + 1) + plane;
  return a.sums.rows + (planes * a.tile_rows * splat_tile_height + y) * a.tile_columns;
}

inline constexpr int cell_quads = splat_cell * splat_cell / 4;

/// Where a cell's quad lies in it: those of a warp are 8 x 4.
__device__ inline int quad_x(int number) { return number / warp_size % 2 * 16 + number % 8 * 2; }
__device__ inline int quad_y(int number) { return number / (2 * warp_size) * 8 + number % warp_size / 8 * 2; }
__device__ inline std::int32_t cell_left(const SplatArguments& a, std::int64_t cell) {
  return static_cast<std::int32_t>(cell % cell_columns(a)) * splat_cell;
}
__device__ inline std::int32_t cell_top(const SplatArguments& a, std::int64_t cell) {
  return static_cast<std::int32_t>(cell / cell_columns(a)) * splat_cell;
}

/// The pixel is in the picture.
__device__ inline std::uint32_t group_at(const SplatArguments& a, std::int32_t x, std::int32_t y) {
  return min(std::uint32_t{row_at<std::uint8_t>(a.groups, y)[x]}, a.last_group);
}
__device__ inline std::uint32_t radius_at(const SplatArguments& a, std::int32_t x, std::int32_t y) {
  return row_at<std::uint32_t>(a.radii, y)[x];
}
__device__ inline std::uint32_t weight_at(const SplatArguments& a, std::int32_t x, std::int32_t y) {
  return row_at<std::uint16_t>(a.weights, y)[x];
}
template <int Channels>
__device__ const std::uint32_t* colours_at(const SplatArguments& a, std::int32_t x, std::int32_t y) {
  return row_at<std::uint32_t>(a.colours, y) + std::int64_t{x} * Channels;
}

}  // namespace satin::kernels
