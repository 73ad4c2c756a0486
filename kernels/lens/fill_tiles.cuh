#pragma once
// Data that the disocclusion fill leaves for the non-local fill: tiles with hidden samples, and packed pixels
// in planes with a border, so that tiles read whole rows without bounds checks.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/lens/launch.h"
#include "lens/layers.h"
#include "lens/maths/disocclusion_fill.h"

namespace satin::kernels {

inline constexpr int tile_width = 2 * warp_size;  ///< a warp has a row of 2 x 2 blocks
inline constexpr int tile_height = warp_size;
inline constexpr int cell_side = fill_reach;  ///< side of the cells whose groups are known
static_assert(cell_side == warp_size && tile_height == cell_side);

/// Samples of one tile of one group, side by side in the list.
struct FilledTile {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct FillCounters {
  std::uint32_t listed = 0;                    ///< listed tiles
  std::uint32_t taken = 0;                     ///< tiles taken by blocks of the current launch
  std::uint32_t blocks_done = 0;               ///< finished blocks of the current launch
  std::uint32_t complete = 0;                  ///< 1 if a launch of all groups did fit
  std::uint32_t sharp[lens_most_groups] = {};  ///< sharp hidden samples per group

  [[nodiscard]] SATIN_HD bool any_sharp() const {
    bool any = false;
    for (const std::uint32_t count : sharp) any = any || count >= least_needed;
    return any;
  }
};

/// 32 pixels of a row, a bit each: in a group; in it or behind it.
struct alignas(8) GroupBits {
  std::uint32_t in_group = 0;
  std::uint32_t from_group_on = 0;
};

struct FillTiles {
  int columns;
  int rows;
  int cell_columns;
  int cell_rows;
  FillCounters* counters;
  std::uint32_t* list;  ///< group * tiles() + tile
  FilledTile* filled;   ///< samples of each listed tile
  // Planes with a border of fill_reach, whose group bits are 0.
  GroupBits* groups;  ///< a plane per group but the nearest
  std::int32_t* radii;
  std::uint16_t* light;  ///< compressed light, a plane per channel
  std::uint8_t* cells;   ///< [cell_rows][cell_columns] bits of groups
  std::uint8_t* wanted;  ///< [cell_rows][cell_columns] 1 if listed tiles read the cell

  __host__ __device__ int tiles() const { return columns * rows; }
  __host__ __device__ int pitch() const { return columns * tile_width + 2 * fill_reach; }
  __host__ __device__ std::int64_t plane() const {
    return static_cast<std::int64_t>(pitch()) * (rows * tile_height + 2 * fill_reach);
  }
  __host__ __device__ std::int64_t bits_plane() const { return plane() / warp_size; }
  /// Index of pixel (x, y) in planes with a border.
  __host__ __device__ std::int64_t place(int x, int y) const {
    return static_cast<std::int64_t>(y + fill_reach) * pitch() + x + fill_reach;
  }
};

/// Arrays of the fill in its workspace.
[[nodiscard]] FillTiles fill_tiles(const LensLayersArguments& arguments);
/// Compacted pixels of a step. They borrow the non-local fill's words, which are free before the fill.
struct MarkedPixels {
  std::uint32_t* count = nullptr;
  std::uint32_t* places = nullptr;
};
[[nodiscard]] MarkedPixels marked_pixels(const LensLayersArguments& arguments);

[[nodiscard]] NonlocalFill nonlocal_fill(const LensLayersArguments& arguments, const LensScene& scene);

}  // namespace satin::kernels
