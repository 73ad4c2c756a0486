#pragma once
// Layout of the splat's sums (tiles, rows, columns, cells) and of its records.

#include "kernels/device/warp.cuh"
#include "kernels/lens/launch.h"
#include "lens/maths/border_steps.h"

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

__device__ inline std::uint64_t* tile_plane(const SplatArguments& a, std::uint32_t group, std::int64_t tile,
                                            int plane) {
  return a.sums.tiles + ((group * tile_count(a) + tile) * (a.channels + 1) + plane) * splat_tile_pixels;
}
/// Index in a tile of the second difference of a pixel: interleaved with the pixel's other planes, which are
/// added in one sector of the L2. But a block that sums one plane after the other uses separate planes,
/// because the first plane it stores must not overwrite the differences of the others.
__device__ inline int direct_place(const SplatArguments& a, int pixel, int plane) {
  return a.all_planes ? pixel * (a.channels + 1) + plane : plane * splat_tile_pixels + pixel;
}
__device__ inline std::uint64_t* columns_of(const SplatArguments& a, std::uint32_t group,
                                            std::int32_t tile_row) {
  return a.sums.columns + (std::int64_t{group} * a.tile_rows + tile_row) * padded_width(a) * (a.channels + 1);
}
__device__ inline std::uint64_t* rows_of(const SplatArguments& a, std::uint32_t group, std::int64_t y) {
  return a.sums.rows +
         (std::int64_t{group} * a.tile_rows * splat_tile_height + y) * a.tile_columns * (a.channels + 1);
}

inline constexpr int cell_pixels = splat_cell * splat_cell;
inline constexpr int cell_quads = cell_pixels / 4;

inline constexpr int subcell_width = splat_cell / 2;
inline constexpr int subcell_height = splat_cell / (splat_subcells / 2);

/// Position of a quad in its cell. The quads of a warp are 8 x 4, a subcell.
__device__ inline int quad_x(int number) { return number / (4 * warp_size) * subcell_width + number % 8 * 2; }
__device__ inline int quad_y(int number) {
  return number / warp_size % 4 * subcell_height + number % warp_size / 8 * 2;
}
__device__ inline std::int32_t cell_left(const SplatArguments& a, std::int64_t cell) {
  return static_cast<std::int32_t>(cell % cell_columns(a)) * splat_cell;
}
__device__ inline std::int32_t cell_top(const SplatArguments& a, std::int64_t cell) {
  return static_cast<std::int32_t>(cell / cell_columns(a)) * splat_cell;
}

__device__ inline std::int64_t cell_of(const SplatArguments& a, std::int32_t x, std::int32_t y) {
  return std::int64_t{y / splat_cell} * cell_columns(a) + x / splat_cell;
}

/// The pixel must be in the picture.
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

/// Position of a record's sample in its cell, and whether it is a block.
class RecordPlace {
 public:
  __device__ explicit RecordPlace(std::uint32_t bits) : bits_(bits) {}
  __device__ RecordPlace(std::int32_t x, std::int32_t y, bool block)
      : bits_(static_cast<std::uint32_t>(x % splat_cell) | static_cast<std::uint32_t>(y % splat_cell) << 5U |
              (block ? 1U : 0U) << 10U) {}

  [[nodiscard]] __device__ std::int32_t x() const { return static_cast<std::int32_t>(bits_ & 31U); }
  [[nodiscard]] __device__ std::int32_t y() const { return static_cast<std::int32_t>(bits_ >> 5U & 31U); }
  /// Columns and rows beyond twice the half-extent: 2 for a block, otherwise 1.
  [[nodiscard]] __device__ std::int32_t more() const {
    return static_cast<std::int32_t>(1U + (bits_ >> 10U & 1U));
  }
  [[nodiscard]] __device__ std::uint32_t bits() const { return bits_; }

 private:
  std::uint32_t bits_;
};
static_assert(splat_cell == 32);

/// Whether the cell at (left, top) has pixels on the border of the picture.
__device__ inline bool cell_on_border(const SplatArguments& a, std::int32_t left, std::int32_t top) {
  return left == 0 || top == 0 || left + splat_cell >= a.width || top + splat_cell >= a.height;
}
/// Whether a sample of this cell is repeated beyond the border of the picture.
__device__ inline bool is_repeated(const SplatArguments& a, const RecordPlace& place, std::int32_t left,
                                   std::int32_t top) {
  return place.more() == 1 && (on_border(left + place.x(), a.width) || on_border(top + place.y(), a.height));
}

/// Successive records.
struct RecordRun {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Returns the subcell of its cell that a pixel is in.
__device__ inline int subcell_of(std::int32_t x, std::int32_t y) {
  return x % splat_cell / subcell_width * (splat_subcells / 2) + y % splat_cell / subcell_height;
}

/// Returns the records of subcells `first` to `last` of a group's cell.
__device__ inline RecordRun run_of_subcells(const Subcell* all, std::int64_t cell, int first, int last) {
  const Subcell* subcells = all + cell * splat_subcells;
  const std::uint32_t begin = subcells[first].end - subcells[first].count;
  return {begin, subcells[last].end - begin};
}

__device__ inline SplatRecord record_at(const SplatRecords& records, std::uint32_t place) {
  return {records.colours[place], records.shapes[place]};
}
__device__ inline void store_record(const SplatRecords& records, std::uint32_t place,
                                    const SplatRecord& record) {
  records.colours[place] = record;
  reinterpret_cast<uint4*>(records.shapes)[place] =
      make_uint4(record.share[0], record.share[1],
                 record.staircase[0] | static_cast<std::uint32_t>(record.staircase[1]) << 16U, record.place);
}

/// Factor of a record's weight in a plane: a colour, or 1 in the last plane.
template <int Channels, class Factor>
__device__ Factor value_of(const SplatRecord& record, int plane) {
  Factor value = 1;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    if (c == plane) value = record.colour[c];
  }
  return value;
}

/// Calls corner(x, y, negative) for the corners of a staircase: four per box that is added or subtracted.
template <class Corner>
__device__ void for_corners(const Staircase& stairs, const KernelBox* outlines, std::int32_t x,
                            std::int32_t y, std::int32_t more, const Corner& corner) {
  for_boxes(stairs, outlines, more, [&](const KernelBox& box, int sign) {
    const bool negative = sign < 0;
    corner(x + box.left, y + box.top, negative);
    corner(x + box.right, y + box.top, !negative);
    corner(x + box.left, y + box.bottom, !negative);
    corner(x + box.right, y + box.bottom, negative);
  });
}

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
