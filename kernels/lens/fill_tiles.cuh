#pragma once
// What the disocclusion fill leaves for the non-local one: tiles that hold hidden samples, and pixels in
// planes with a border, whose rows tiles read without asking what exists.

#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/lens/launch.h"
#include "lens/lens_layers.h"
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

/// What a pixel is to the fill: its radius and, above 0, its group. Nothing exists where it is 0.
SATIN_HD std::uint32_t fill_tag(std::int32_t radius, int group) {
  return static_cast<std::uint32_t>(radius) << 3 | static_cast<std::uint32_t>(group + 1);
}
SATIN_HD std::uint32_t tag_group(std::uint32_t tag) { return tag & 7U; }  ///< one more than the group
SATIN_HD std::int32_t tag_radius(std::uint32_t tag) { return static_cast<std::int32_t>(tag) >> 3; }

struct FillTiles {
  int columns;
  int rows;
  int cell_columns;
  int cell_rows;
  FillCounters* counters;
  std::uint32_t* list;   ///< group * columns * rows + tile
  FilledTile* filled;    ///< of each listed tile
  std::uint32_t* tags;   ///< with a border of fill_reach
  std::uint16_t* light;  ///< compressed, a plane a channel, with the same border
  std::uint8_t* cells;   ///< [cell_rows][cell_columns] bits of groups
  std::uint8_t* wanted;  ///< [cell_rows][cell_columns] 1: listed tiles look there

  __host__ __device__ int tiles() const { return columns * rows; }
  __host__ __device__ int pitch() const { return columns * tile_width + 2 * fill_reach; }
  __host__ __device__ std::int64_t plane() const {
    return static_cast<std::int64_t>(pitch()) * (rows * tile_height + 2 * fill_reach);
  }
  /// Place of pixel (x, y) in planes with a border.
  __host__ __device__ std::int64_t place(int x, int y) const {
    return static_cast<std::int64_t>(y + fill_reach) * pitch() + x + fill_reach;
  }
};

/// The tiles of a picture in a workspace.
[[nodiscard]] FillTiles fill_tiles(const LensLayersArguments& arguments);
/// The non-local fill's view of a picture.
[[nodiscard]] NonlocalFill nonlocal_fill(const LensLayersArguments& arguments, const LensScene& scene);

}  // namespace satin::kernels
