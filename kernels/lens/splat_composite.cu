// Last stages of the splat on CUDA. Scans over the last columns and rows of the tiles give what enters each
// tile from the others. Then a block composites one tile of all groups, the nearest first, and stores its
// colours. Groups that have no sums in a tile are not read.

#include "core/with_type.h"
#include "kernels/lens/splat_tile.cuh"
#include "kernels/pixels/byte_light.cuh"
#include "lens/splat.h"

namespace satin::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_size;

constexpr int column_threads = 64;

/// Exclusive sums down the columns, by one thread per column and plane.
__global__ void __launch_bounds__(column_threads) scan_columns(const __grid_constant__ SplatArguments a) {
  constexpr int at_once = 16;  // loads in flight
  const std::int64_t pitch = std::int64_t{padded_width(a)} * (a.channels + 1);
  const std::int64_t place = std::int64_t{blockIdx.x} * column_threads + threadIdx.x;
  if (place >= pitch) return;
  std::uint64_t* column = columns_of(a, blockIdx.y, 0) + place;
  std::uint64_t above = 0;
  for (std::int32_t first = 0; first < a.tile_rows; first += at_once) {
    std::uint64_t sums[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) sums[i] = first + i < a.tile_rows ? column[(first + i) * pitch] : 0;
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (first + i < a.tile_rows) column[(first + i) * pitch] = above;
      above += sums[i];
    }
  }
}

/// Exclusive sums along the rows, by one warp per row and plane: of the tiles to the left and of what is
/// above them.
__global__ void __launch_bounds__(threads) scan_rows(const __grid_constant__ SplatArguments a) {
  const int planes = a.channels + 1;
  const std::int64_t task = std::int64_t{blockIdx.x} * warps + threadIdx.x / warp_size;
  const std::int64_t y = task / planes;
  if (y >= a.height) return;
  const auto plane = static_cast<int>(task % planes);
  std::uint64_t* row = rows_of(a, blockIdx.y, y) + plane;
  const std::uint64_t* above = columns_of(a, blockIdx.y, static_cast<std::int32_t>(y / splat_tile_height)) +
                               (splat_tile_width - 1) * planes + plane;
  std::uint64_t before = 0;
  for (std::int32_t first = 0; first < a.tile_columns; first += warp_size) {
    const std::int32_t column = first + lane_index();
    const bool exists = column < a.tile_columns;
    std::uint64_t* to = row + std::int64_t{column} * planes;
    const std::uint64_t own = exists ? *to + above[std::int64_t{column} * splat_tile_width * planes] : 0;
    const std::uint64_t sum = inclusive_scan(own);
    if (exists) *to = before + sum - own;
    before += __shfl_sync(whole_warp, sum, warp_size - 1);
  }
}

constexpr int rows_at_once = 2;
constexpr int rows_of_warp = splat_tile_width / warp_size * splat_tile_height / warps;

/// Columns and rows of a tile that one warp composites. A lane has a column.
struct WarpArea {
  std::int64_t tile;
  std::int32_t tile_row;
  std::int32_t tile_column;
  std::int32_t left;
  std::int32_t top;

  [[nodiscard]] __device__ std::int32_t x() const { return left + lane_index(); }
};

/// Loads planes, in pairs if their number is even.
template <int Planes>
__device__ void load_planes(const std::uint64_t* from, std::uint64_t (&values)[Planes]) {
  if constexpr (Planes % 2 == 0) {
#pragma unroll
    for (int i = 0; i < Planes / 2; ++i) {
      const ulonglong2 pair = reinterpret_cast<const ulonglong2*>(from)[i];
      values[2 * i] = pair.x;
      values[2 * i + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < Planes; ++i) values[i] = from[i];
  }
}

/// Sums of one group in some rows.
template <int Channels>
struct AreaSums {
  std::uint64_t sums[rows_at_once][Channels + 1];

  /// Begins with the sums that enter from other tiles.
  __device__ void come_in(const SplatArguments& a, std::uint32_t group, const WarpArea& area) {
    constexpr int planes = Channels + 1;
    std::uint64_t above[planes];
    load_planes(columns_of(a, group, area.tile_row) + std::int64_t{area.x()} * planes, above);
    const std::uint64_t* before = rows_of(a, group, area.top) + std::int64_t{area.tile_column} * planes;
#pragma unroll
    for (int i = 0; i < rows_at_once; ++i) {
      load_planes(before + std::int64_t{i} * a.tile_columns * planes, sums[i]);
#pragma unroll
      for (int c = 0; c < planes; ++c) sums[i][c] += above[c];
    }
  }

  /// Adds the tile's own sums of planes `first` to `end` - 1.
  __device__ void add_tile(const SplatArguments& a, std::uint32_t group, const WarpArea& area, int first,
                           int end) {
    const std::uint64_t* own = tile_plane(a, group, area.tile, 0) +
                               area.top % splat_tile_height * splat_tile_width + area.x() % splat_tile_width;
#pragma unroll
    for (int c = first; c < end; ++c)
#pragma unroll
      for (int i = 0; i < rows_at_once; ++i) sums[i][c] += own[c * splat_tile_pixels + i * splat_tile_width];
  }
};

template <int Channels>
__device__ void add_focused(const SplatArguments& a, std::int32_t x, std::int32_t y,
                            std::uint64_t (&sums)[Channels + 1]) {
  const std::uint32_t* colour = colours_at<Channels>(a, x, y);
  const std::uint32_t weight = sample_weight(1U << a.kernels.weight_bits, weight_at(a, x, y));
#pragma unroll
  for (int c = 0; c < Channels; ++c) sums[c] += std::uint64_t{colour[c]} * weight;
  sums[Channels] += weight;
}

/// Whether the pixel, which may be outside the picture, is inside a surface of this group.
__device__ bool in_surface(const SplatArguments& a, std::uint32_t group, std::int32_t x, std::int32_t y) {
  return a.exposed.data != nullptr && x < a.width && y < a.height && group_at(a, x, y) == group &&
         is_inside(row_at<std::uint8_t>(a.exposed, y)[x], radius_at(a, x, y));
}

/// Stores one row, a word per lane at a time.
template <int Channels>
__device__ void store_row(const SplatArguments& a, const WarpArea& area, std::int32_t y,
                          const std::uint32_t (&colour)[Channels]) {
  const std::int32_t pixels = min(warp_size, a.width - area.left);
  auto* out =
      reinterpret_cast<std::uint32_t*>(a.output.data + y * a.output.row) + std::int64_t{area.left} * Channels;
#pragma unroll
  for (int i = 0; i < Channels; ++i) {
    const int word = i * warp_size + lane_index();
    std::uint32_t value = 0;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const std::uint32_t of_channel = __shfl_sync(whole_warp, colour[c], word / Channels);
      if (word % Channels == c) value = of_channel;
    }
    if (word < pixels * Channels) out[word] = value;
  }
}

template <int Channels>
__device__ void store_codes(const SplatArguments& a, const ByteLight& light, const WarpArea& area,
                            std::int32_t y, const std::uint32_t (&colour)[Channels]) {
  const std::int32_t bytes = min(warp_size, a.width - area.left) * Channels;
  std::byte* out = a.output.data + y * a.output.row + std::int64_t{area.left} * Channels;
  std::uint32_t codes = 0;
#pragma unroll
  for (int c = 0; c < Channels; ++c) codes |= light.encoded(min(colour[c], 65535U)) << 8 * c;
  const int first = 4 * lane_index();
  std::uint32_t word = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t of_pixel = __shfl_sync(whole_warp, codes, (first + k) / Channels % warp_size);
    word |= (of_pixel >> (first + k) % Channels * 8 & 0xFF) << 8 * k;
  }
  if (first + 4 <= bytes && reinterpret_cast<std::uintptr_t>(out) % 4 == 0) {
    reinterpret_cast<std::uint32_t*>(out)[lane_index()] = word;
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (first + k < bytes) out[first + k] = static_cast<std::byte>(word >> 8 * k);
  }
}

/// Stores the colours, or the source's where nothing arrived.
template <class Real, int Channels>
__device__ void store_area(const SplatArguments& a, const ByteLight& light, const WarpArea& area,
                           const Composite<Real, Channels> (&composites)[rows_at_once]) {
#pragma unroll
  for (int i = 0; i < rows_at_once; ++i) {
    const std::int32_t y = area.top + i;
    if (y >= a.height) return;
    std::uint32_t colour[Channels] = {};
    const bool seen = !composites[i].empty();
    if (area.x() < a.width) {
      const std::uint32_t* source = row_at<std::uint32_t>(a.source, y) + std::int64_t{area.x()} * Channels;
#pragma unroll
      for (int c = 0; c < Channels; ++c) colour[c] = seen ? composites[i].result(c) : source[c];
    }
    if (a.stores_codes)
      store_codes<Channels>(a, light, area, y, colour);
    else
      store_row<Channels>(a, area, y, colour);
  }
}

struct TileGroups {
  unsigned spread = 0;   ///< groups with sums in the tile
  unsigned present = 0;  ///< these, and groups that enter from other tiles
};

/// Called by all threads of the block; `found` is in shared memory.
__device__ TileGroups groups_of(const SplatArguments& a, const WarpArea& area, unsigned (&found)[2]) {
  constexpr int places = splat_tile_width + splat_tile_height;
  const auto thread = static_cast<int>(threadIdx.x);
  const int groups = static_cast<int>(a.last_group) + 1;
  const int planes = a.channels + 1;
  if (thread < 2) found[thread] = 0;
  __syncthreads();
  unsigned present = 0;
#pragma unroll 4
  for (int i = thread; i < groups * places; i += threads) {
    const auto group = static_cast<std::uint32_t>(i / places);
    const int place = i % places;
    const std::uint64_t* of_place =
        place < splat_tile_width
            ? columns_of(a, group, area.tile_row) +
                  (std::int64_t{area.tile_column} * splat_tile_width + place) * planes
            : rows_of(a, group, std::int64_t{area.tile_row} * splat_tile_height + place - splat_tile_width) +
                  std::int64_t{area.tile_column} * planes;
    const std::uint64_t weight = of_place[a.channels];
    present |= (weight != 0 ? 1U : 0U) << group;
  }
  for (int distance = 1; distance < warp_size; distance *= 2)
    present |= __shfl_xor_sync(whole_warp, present, distance);
  if (lane_index() == 0) atomicOr(&found[1], present);
  if (thread < groups && a.sums.spread[thread * tile_count(a) + area.tile] != 0) {
    atomicOr(&found[0], 1U << thread);
    atomicOr(&found[1], 1U << thread);
  }
  __syncthreads();
  return {found[0], found[1]};
}

template <class Real, int Channels>
__device__ void add_group(const SplatArguments& a, std::uint32_t group, const WarpArea& area, bool spread,
                          const std::uint32_t (&in_focus)[rows_at_once],
                          Composite<Real, Channels> (&composites)[rows_at_once]) {
  const std::uint64_t mask = a.short_sums ? (std::uint64_t{1} << splat_short_bits) - 1 : ~std::uint64_t{0};
  const Real unit = static_cast<Real>(1) / static_cast<Real>(1U << a.kernels.weight_bits);
  AreaSums<Channels> area_sums;
  area_sums.come_in(a, group, area);
  if (spread) area_sums.add_tile(a, group, area, Channels, Channels + 1);
  bool any = false;  // there are no colours where no weight is
#pragma unroll
  for (int i = 0; i < rows_at_once; ++i)
    any = any || (area_sums.sums[i][Channels] & mask) != 0 || in_focus[i] == group;
  if (__any_sync(whole_warp, any) == 0) return;
  if (spread) area_sums.add_tile(a, group, area, 0, Channels);
#pragma unroll
  for (int i = 0; i < rows_at_once; ++i) {
    std::uint64_t(&sums)[Channels + 1] = area_sums.sums[i];
#pragma unroll
    for (int c = 0; c <= Channels; ++c) sums[c] &= mask;
    if (in_focus[i] == group) add_focused<Channels>(a, area.x(), area.top + i, sums);
    if (sums[Channels] == 0) continue;
    composites[i].add(sums, unit, [&] { return in_surface(a, group, area.x(), area.top + i); });
  }
}

/// A block composites a tile, each of its warps some rows. All reads of a group are issued together.
template <class Real, int Channels>
__global__ void __launch_bounds__(threads, 3) composite_tiles(const __grid_constant__ SplatArguments a) {
  constexpr std::uint32_t none = 0xFF;
  __shared__ unsigned found[2];
  __shared__ uint4 light_memory[ByteLight::bytes / sizeof(uint4)];
  const ByteLight light(light_memory);
  if (a.stores_codes) light.fill(a.transfer, static_cast<int>(threadIdx.x), threads);
  WarpArea area;
  area.tile = blockIdx.x;
  area.tile_row = static_cast<std::int32_t>(area.tile / a.tile_columns);
  area.tile_column = static_cast<std::int32_t>(area.tile % a.tile_columns);
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  area.left = area.tile_column * splat_tile_width + warp % 2 * warp_size;
  const std::int32_t top = area.tile_row * splat_tile_height + warp / 2 * rows_of_warp;
  const TileGroups tile_groups = groups_of(a, area, found);
  const std::uint32_t groups_in_focus =
      a.sums.focused[std::int64_t{area.tile_row} * cell_columns(a) + area.left / splat_cell];
  for (area.top = top; area.top < min(top + rows_of_warp, a.height); area.top += rows_at_once) {
    std::uint32_t in_focus[rows_at_once];
    Composite<Real, Channels> composites[rows_at_once];
#pragma unroll
    for (int i = 0; i < rows_at_once; ++i) {
      composites[i].clear();
      in_focus[i] = none;
      if (groups_in_focus != 0 && area.x() < a.width && area.top + i < a.height &&
          radius_at(a, area.x(), area.top + i) <= lens_focus_radius)
        in_focus[i] = group_at(a, area.x(), area.top + i);
    }
    for (unsigned left = tile_groups.present | groups_in_focus; left != 0; left &= left - 1) {
      const auto group = static_cast<std::uint32_t>(__ffs(static_cast<int>(left)) - 1);
      add_group(a, group, area, (tile_groups.spread >> group & 1U) != 0, in_focus, composites);
    }
    store_area(a, light, area, composites);
  }
}

}  // namespace

void splat_composite(const SplatArguments& a, StreamHandle stream) {
  const int planes = a.channels + 1;
  const unsigned groups = a.last_group + 1;
  const std::int64_t columns = std::int64_t{a.tile_columns} * splat_tile_width * planes;
  const std::int64_t rows = std::int64_t{a.height} * planes;
  scan_columns<<<dim3(blocks_for(columns, column_threads), groups), column_threads, 0, stream>>>(a);
  scan_rows<<<dim3(blocks_for(rows, warps), groups), threads, 0, stream>>>(a);
  const unsigned blocks = blocks_for(tile_count(a), 1);
  with_channels(a.channels, [&]<int Channels>() {
    a.single ? composite_tiles<float, Channels><<<blocks, threads, 0, stream>>>(a)
             : composite_tiles<double, Channels><<<blocks, threads, 0, stream>>>(a);
  });
}

}  // namespace satin::kernels
