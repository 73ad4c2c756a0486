#pragma once
// The part of a picture that belongs to a tile.

#include "kernels/means/launch.h"

namespace satin::kernels {

/// Means of columns [first_x, last_x) and rows [first_y, last_y).
struct TilePart {
  int first_x, last_x;
  int first_y, last_y;
};

__device__ inline TilePart tile_part(const TiledMeanJob& job, const SlidingTiles& tiles, int column,
                                     int row) {
  TilePart part{};
  part.first_x = column * tiles.width;
  part.last_x = min(part.first_x + tiles.width, job.width);
  part.first_y = static_cast<int>(static_cast<std::int64_t>(row) * job.height / tiles.rows);
  part.last_y = static_cast<int>((static_cast<std::int64_t>(row) + 1) * job.height / tiles.rows);
  return part;
}

/// Pixels of a window that count along an axis of `size` pixels.
__device__ inline int window_pixels(int centre, int reach, int size, bool clipped) {
  return clipped ? min(centre + reach, size - 1) - max(centre - reach, 0) + 1 : 2 * reach + 1;
}

}  // namespace satin::kernels
