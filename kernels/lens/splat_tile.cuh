#pragma once
// Where things lie in the sums of a splat, and the visible samples of 2 x 2 pixels that are out of focus with
// the staircases that they are spread over.

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

__device__ inline std::int64_t cell_of(const SplatArguments& a, std::int32_t x, std::int32_t y) {
  return std::int64_t{y / splat_cell} * cell_columns(a) + x / splat_cell;
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

template <int Channels>
__device__ bool is_highlight(const SplatArguments& a, const std::uint32_t* colour) {
  if (!a.highlights) return false;
  const std::uint32_t white = a.white_of_run == nullptr ? a.white : *a.white_of_run;
  bool highlight = false;
#pragma unroll
  for (int c = 0; c < Channels; ++c) highlight |= c < a.highlight_channels && colour[c] > white;
  return highlight;
}

/// What is spread around a pixel or a block of pixels.
template <int Channels>
struct SpreadSample {
  std::uint64_t colour[Channels];  ///< the sum of all that are merged
  std::int32_t x, y;
  std::int32_t more;  ///< columns and rows: 2 for blocks of pixels
  bool highlight;

  __device__ SpreadSample(const SplatArguments& a, std::int32_t left, std::int32_t top, bool block)
      : x(left), y(top), more(block ? 2 : 1) {
    const std::uint32_t* upper = colours_at<Channels>(a, x, y);
    const std::uint32_t* lower = colours_at<Channels>(a, x, y + more - 1);
    highlight = !block && is_highlight<Channels>(a, upper);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      colour[c] = upper[c];
      if (block) colour[c] += std::uint64_t{upper[Channels + c]} + lower[c] + lower[Channels + c];
    }
  }

  /// What one share of the staircase gets: the colour; of the last plane how many samples there are.
  [[nodiscard]] __device__ std::uint64_t value(int plane) const {
    return plane == Channels ? (more == 2 ? 4 : 1) : colour[plane];
  }
};

/// The samples of a quad that are spread: no weight where there is none.
struct QuadSamples {
  std::uint32_t radius[4] = {};
  std::uint32_t weight[4] = {};

  /// Reads the samples of the wanted groups. All loads are issued before the first is waited for.
  template <class Wanted>
  __device__ QuadSamples(const SplatArguments& a, std::int32_t x, std::int32_t y, const Wanted& wanted) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int32_t u = x + (i & 1);
      const std::int32_t v = y + (i >> 1);
      if (u >= a.width || v >= a.height) continue;
      const std::uint32_t group = group_at(a, u, v);
      radius[i] = radius_at(a, u, v);
      weight[i] = weight_at(a, u, v);
      if (!wanted(group) || radius[i] <= lens_focus_radius) weight[i] = 0;
    }
  }
  /// Those of a block, of which the whole quad is.
  __device__ explicit QuadSamples(std::uint32_t merged) {
    radius[0] = merged;
    weight[0] = lens_full_weight;
  }
};

/// Calls spread(staircase, share) for the staircases of a sample of the list.
template <int Channels, class Spread>
__device__ void for_staircases_of(const SplatArguments& a, const LensSample& sample, const Spread& spread) {
  const LensKernel kernel =
      lens_kernel(a.kernels, sample.radius, is_highlight<Channels>(a, sample.colour), sample.block == 2);
#pragma unroll 1
  for (int k = 0; k < 2; ++k) {
    const std::uint32_t share = sample_weight(k == 0 ? kernel.weight[0] : kernel.weight[1], sample.weight);
    if (share == 0) continue;
    const Staircase stairs =  // all of it is read at once
        a.kernels.staircases[k == 0 ? kernel.staircase[0] : kernel.staircase[1]];
    spread(stairs, share);
  }
}

/// A choice at run time would put the values into local memory.
__device__ inline std::uint32_t chosen(const std::uint32_t (&values)[4], int i) {
  return i < 2 ? (i == 0 ? values[0] : values[1]) : i == 2 ? values[2] : values[3];
}

/// Calls spread(sample, staircase, share) for the staircases of the quad's samples whose group is wanted.
/// `merged` is their radius as a block, of wanted groups; 0: they are none.
template <int Channels, class Wanted, class Spread>
__device__ void for_staircases(const SplatArguments& a, std::int32_t x, std::int32_t y, std::uint32_t merged,
                               const Wanted& wanted, const Spread& spread) {
  const QuadSamples quad = merged != 0 ? QuadSamples(merged) : QuadSamples(a, x, y, wanted);
#pragma unroll 1
  for (int i = 0; i < (merged != 0 ? 1 : 4); ++i) {
    const std::uint32_t weight = chosen(quad.weight, i);
    if (weight == 0) continue;
    const SpreadSample<Channels> sample(a, x + (i & 1), y + (i >> 1), merged != 0);
    const LensKernel kernel = lens_kernel(a.kernels, chosen(quad.radius, i), sample.highlight, merged != 0);
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
      const std::uint32_t share = sample_weight(k == 0 ? kernel.weight[0] : kernel.weight[1], weight);
      if (share == 0) continue;
      const Staircase stairs =  // all of it is read at once
          a.kernels.staircases[k == 0 ? kernel.staircase[0] : kernel.staircase[1]];
      spread(sample, stairs, share);
    }
  }
}

/// Calls corner(x, y, negative) for the corners of a staircase: four a box, which is added or taken away.
template <class Corner>
__device__ void for_corners(const Staircase& stairs, std::int32_t x, std::int32_t y, std::int32_t more,
                            const Corner& corner) {
  const auto box = [&](std::int32_t wide, std::int32_t high, bool negative) {
    corner(x - wide, y - high, negative);
    corner(x + wide + more, y - high, !negative);
    corner(x - wide, y + high + more, !negative);
    corner(x + wide + more, y + high + more, negative);
  };
#pragma unroll
  for (int k = 0; k < Staircase::most_boxes; ++k) {
    if (k >= stairs.boxes) break;
    if (k > 0) box(stairs.wide[k - 1], stairs.high[k], true);
    box(stairs.wide[k], stairs.high[k], false);
  }
}

}  // namespace satin::kernels
