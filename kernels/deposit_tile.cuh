#pragma once
// Where things lie in the sums of a deposit.

#include "kernels/deposit.h"
#include "kernels/warp.cuh"

namespace satin::kernels {

static_assert(deposit_tile == warp_size);

inline constexpr int deposit_warps = 4;  ///< of a block

template <class T>
__device__ const T* row_at(const Source& source, std::int64_t y) {
  return reinterpret_cast<const T*>(source.data + y * source.row);
}

__device__ inline std::int64_t delta_plane(const DepositArguments& a) {
  return std::int64_t{a.width} * a.height;
}
__device__ inline std::int64_t column_plane(const DepositArguments& a) {
  return std::int64_t{a.width} * a.tile_rows;
}
__device__ inline std::int64_t row_plane(const DepositArguments& a) {
  return std::int64_t{a.tile_columns} * a.height;
}

/// This sample is in focus and of the group: it counts on its pixel alone.
__device__ inline bool focused_here(const DepositArguments& a, std::int64_t x, std::int64_t y) {
  if (row_at<std::uint32_t>(a.radii, y)[x] > lens_focus_radius) return false;
  const std::uint32_t group = row_at<std::uint8_t>(a.groups, y)[x];
  return (group < a.last_group ? group : a.last_group) == a.group;
}

/// Tiles are counted row by row.
struct Tile {
  std::int32_t column, row;
  std::int64_t index;
  bool exists;

  __device__ Tile(const DepositArguments& a, std::int64_t number) : index(number) {
    exists = index < std::int64_t{a.tile_columns} * a.tile_rows;
    row = static_cast<std::int32_t>(index / a.tile_columns);
    column = static_cast<std::int32_t>(index % a.tile_columns);
  }
};

}  // namespace satin::kernels
