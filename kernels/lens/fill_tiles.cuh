#pragma once
// The disocclusion fill leaves these for the non-local one: tiles that hold hidden samples, and pixels in
// planes with a border, so that tiles read whole rows without asking which pixels exist.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/lens/launch.h"
#include "lens/layers.h"
#include "lens/maths/disocclusion_fill.h"

namespace satin::kernels {

inline constexpr int tile_width = 2 * warp_size;  ///< a warp has a row of blocks of 2 x 2 pixels
inline constexpr int tile_height = warp_size;
inline constexpr int cell_side = fill_reach;  ///< whose groups are known
static_assert(cell_side == warp_size && tile_height == cell_side);

/// Samples of one tile of one group, side by side in the list.
struct FilledTile {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct FillCounters {
  std::uint32_t listed = 0;                    ///< tiles
  std::uint32_t taken = 0;                     ///< of the listed tiles, by blocks of the launch in work
  std::uint32_t blocks_done = 0;               ///< of the launch in work
  std::uint32_t one_by_one = 0;                ///< 1: all groups at once did not fit
  std::uint32_t sharp[lens_most_groups] = {};  ///< hidden samples that the non-local fill takes, by group

  [[nodiscard]] SATIN_HD bool any_sharp() const {
    bool any = false;
    for (const std::uint32_t count : sharp) any = any || count >= least_needed;
    return any;
  }
};

/// 32 pixels of a row by bits: which are of a group, and which are of it or behind it.
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
  std::uint32_t* list;  ///< group * columns * rows + tile
  FilledTile* filled;   ///< of each listed tile
  // planes with a border of fill_reach, which the bits say to be empty
  GroupBits* groups;  ///< a plane a group but the nearest
  std::int32_t* radii;
  std::uint16_t* light;  ///< compressed, a plane a channel
  std::uint8_t* cells;   ///< [cell_rows][cell_columns] bits of groups
  std::uint8_t* wanted;  ///< [cell_rows][cell_columns] 1: listed tiles look there

  __host__ __device__ int tiles() const { return columns * rows; }
  __host__ __device__ int pitch() const { return columns * tile_width + 2 * fill_reach; }
  __host__ __device__ std::int64_t plane() const {
    return static_cast<std::int64_t>(pitch()) * (rows * tile_height + 2 * fill_reach);
  }
  __host__ __device__ std::int64_t bits_plane() const { return plane() / warp_size; }
  /// Place of pixel (x, y) in planes with a border.
  __host__ __device__ std::int64_t place(int x, int y) const {
    return static_cast<std::int64_t>(y + fill_reach) * pitch() + x + fill_reach;
  }
};

/// The tiles of a picture in a workspace.
[[nodiscard]] FillTiles fill_tiles(const LensLayersArguments& arguments);
/// Pixels that a step is for, in a plane that holds nothing before the fill.
struct MarkedPixels {
  std::uint32_t* count = nullptr;
  std::uint32_t* places = nullptr;
};
[[nodiscard]] MarkedPixels marked_pixels(const LensLayersArguments& arguments);

/// The non-local fill's view of a picture.
[[nodiscard]] NonlocalFill nonlocal_fill(const LensLayersArguments& arguments, const LensScene& scene);

}  // namespace satin::kernels
