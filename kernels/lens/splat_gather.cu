// Visible samples to sums, by tiles. A tile looks at all samples that may reach it and adds those corners of
// their staircases that lie in it, all planes together in shared memory; so nothing is added twice, and
// nobody else writes a tile. Additions modulo 2^64 give the same sums in any order.
//
// How many low parts of short sums (splat_sums.cuh) meet in a word: a staircase has one corner in it at
// most; on the picture's border, where more of them meet, all but one cancel each other. Two staircases have
// only samples with radii up to 12 pixels, where there are no highlights. So there are at most 83^2 + 31^2
// where no shape reaches farther than 40 pixels, and otherwise 1024 of every cell + 31^2: words are settled
// again after seven cells. A tile with highlights is made of long sums. Samples of the list, of which any
// number lies in a cell, come last, and words are settled before so many of them.

#include "core/with_type.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/lens/splat_sums.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_size;
static_assert(threads == cell_quads, "a thread has 2 x 2 samples of a cell");

/// The tile of one group that a block makes.
struct GatheredTile {
  std::uint32_t group;
  std::int64_t index;
  std::int32_t column, row;

  [[nodiscard]] __device__ std::int32_t left() const { return column * splat_tile_width; }
  [[nodiscard]] __device__ std::int32_t top() const { return row * splat_tile_height; }
};

constexpr int cells_around = (splat_reach + 2 + splat_cell - 1) / splat_cell;
constexpr int columns_of_cells = splat_tile_width / splat_cell + 2 * cells_around;
constexpr int rows_of_cells = splat_tile_height / splat_cell + 2 * cells_around;
static_assert(columns_of_cells * rows_of_cells <= warp_size, "a lane each");

__device__ std::int32_t left_of_cell(const GatheredTile& tile, int number) {
  return tile.left() + (number % columns_of_cells - cells_around) * splat_cell;
}
__device__ std::int32_t top_of_cell(const GatheredTile& tile, int number) {
  return tile.top() + (number / columns_of_cells - cells_around) * splat_cell;
}
/// Bits of the cells around whose samples may reach the tile; the same in all warps.
__device__ unsigned cells_that_reach(const SplatArguments& a, const GatheredTile& tile) {
  const std::int32_t x = left_of_cell(tile, lane_index());
  const std::int32_t y = top_of_cell(tile, lane_index());
  bool reaches = false;
  if (lane_index() < columns_of_cells * rows_of_cells && x >= 0 && y >= 0 && x < a.width && y < a.height) {
    const std::int32_t reach =
        min(std::int32_t{a.sums.reaches[tile.group * cell_count(a) + cell_of(a, x, y)]}, splat_reach);
    reaches = reach >= 0 && x - reach < tile.left() + splat_tile_width &&
              x + splat_cell + 1 + reach >= tile.left() && y - reach < tile.top() + splat_tile_height &&
              y + splat_cell + 1 + reach >= tile.top();
  }
  return __ballot_sync(whole_warp, reaches);
}

/// The samples of the list in the cells that reach a tile, one after the other.
struct ListedAround {
  std::uint32_t ends[warp_size];    ///< of every cell around
  std::uint32_t places[warp_size];  ///< place of the first one of all, if this cell had it

  [[nodiscard]] __device__ std::uint32_t count() const { return ends[warp_size - 1]; }
  [[nodiscard]] __device__ std::uint32_t place(std::uint32_t i) const {
    int number = 0;
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2)
      if (ends[number + step - 1] <= i) number += step;
    return places[number] + i;
  }

  /// One warp calls this: each lane looks at a cell.
  __device__ void find(const SplatArguments& a, const GatheredTile& tile, unsigned cells) {
    ListedCell own;
    if ((cells >> lane_index() & 1) != 0)
      own = a.sums.listed[tile.group * cell_count(a) +
                          cell_of(a, left_of_cell(tile, lane_index()), top_of_cell(tile, lane_index()))];
    const std::uint32_t end = inclusive_scan(own.count);
    ends[lane_index()] = end;
    places[lane_index()] = own.end - end;
  }
};

constexpr int double_corners = 31 * 31;  ///< of second staircases that may meet in one word
constexpr int unsettled_reach = 40;
constexpr int unsettled_cells = 7;
static_assert((2 * unsettled_reach + 3) * (2 * unsettled_reach + 3) + double_corners < most_low_parts);
static_assert(unsettled_cells * splat_cell * splat_cell + double_corners < most_low_parts);

/// Shapes that are no larger than a tile and meet it have a corner in it, or nearly.
constexpr int small_reach = splat_tile_height / 2;

/// Adds planes from `first` on of what one quad has in the tile. Returns whether there were highlights.
template <int Channels, int Planes, bool Short>
__device__ bool add_quad(const SplatArguments& a, const GatheredTile& tile, const SplatQuad& quad,
                         std::int32_t x, std::int32_t y, int first, const TileSums<Planes, Short>& sums) {
  using Sums = TileSums<Planes, Short>;
  bool highlights = false;
  const std::int32_t reach = min(std::int32_t{quad.reach}, splat_reach);
  if ((quad.groups >> tile.group & 1) == 0 || !sums.meets(x - reach, x + reach + 2, y - reach, y + reach + 2))
    return false;
  for_staircases<Channels>(
      a, x, y, quad.merged, [&](std::uint32_t group) { return group == tile.group; },
      [&](const SpreadSample<Channels>& sample, const Staircase& stairs, std::uint32_t share) {
        if (stairs.reach > splat_reach) return;
        if (stairs.reach > small_reach && !sums.meets(stairs, sample.x, sample.y, sample.more)) return;
        highlights = highlights || sample.highlight;
        typename Sums::Summand value;
#pragma unroll
        for (int plane = 0; plane < Planes; ++plane)
          value.set(plane,
                    std::uint64_t{static_cast<typename Sums::Factor>(sample.value(first + plane))} * share);
        sums.add(stairs, sample.x, sample.y, sample.more, value);
      });
  return highlights;
}

/// Adds planes from `first` on of all that reaches the tile. Returns whether there were highlights.
template <int Channels, int Planes, bool Short>
__device__ bool gather(const SplatArguments& a, const GatheredTile& tile, unsigned cells, int first,
                       TileSums<Planes, Short>& sums) {
  const bool settles = Short && a.largest_reach > unsettled_reach;
  const auto thread = static_cast<int>(threadIdx.x);
  bool highlights = false;
  for (int done = 0; cells != 0; cells &= cells - 1, ++done) {
    if (settles && done == unsettled_cells) {
      __syncthreads();
      sums.settle();
      __syncthreads();
      done = 0;
    }
    const int number = __ffs(static_cast<int>(cells)) - 1;
    const std::int32_t left = left_of_cell(tile, number);
    const std::int32_t top = top_of_cell(tile, number);
    const SplatQuad quad = a.sums.quads[cell_of(a, left, top) * cell_quads + thread];
    if (add_quad<Channels>(a, tile, quad, left + quad_x(thread), top + quad_y(thread), first, sums))
      highlights = true;
  }
  return highlights;
}

/// Adds planes from `first` on of what one sample of the list has in the tile.
template <int Channels, int Planes, bool Short>
__device__ void add_listed(const SplatArguments& a, const LensSample& sample, int first,
                           const TileSums<Planes, Short>& sums) {
  using Sums = TileSums<Planes, Short>;
  const std::int32_t x = sample.x;
  const std::int32_t y = sample.y;
  const std::int32_t more = sample.block == 2 ? 2 : 1;
  const std::int32_t reach = a.reaches[min(sample.radius, a.kernels.largest) / 256];
  if (!sums.meets(x - reach, x + reach + more, y - reach, y + reach + more)) return;
  for_staircases_of<Channels>(a, sample, [&](const Staircase& stairs, std::uint32_t share) {
    if (stairs.reach > splat_reach || !sums.meets(stairs, x, y, more)) return;
    typename Sums::Summand value;
#pragma unroll
    for (int plane = 0; plane < Planes; ++plane)
      value.set(plane, std::uint64_t{first + plane < Channels ? sample.colour[first + plane] : 1U} * share);
    sums.add(stairs, x, y, more, value);
  });
}

/// Every thread may add so many samples of the list, of two staircases each, before words are settled again.
constexpr std::uint32_t unsettled_rounds = (most_low_parts - 1) / (2 * threads);

template <int Channels, int Planes, bool Short>
__device__ void gather_listed(const SplatArguments& a, const ListedAround& listed, int first,
                              TileSums<Planes, Short>& sums) {
  const std::uint32_t count = listed.count();
  for (std::uint32_t begin = 0; begin < count; begin += threads) {
    if (Short && begin / threads % unsettled_rounds == 0) {
      __syncthreads();
      sums.settle();
      __syncthreads();
    }
    const std::uint32_t i = begin + threadIdx.x;
    if (i < count) add_listed<Channels>(a, a.listed[a.sums.places[listed.place(i)]], first, sums);
  }
}

/// The second differences of this lane's two columns in a row of the tile.
template <int Planes, bool Short>
__device__ ulonglong2 differences(const TileSums<Planes, Short>& sums, int plane, int row) {
  return make_ulonglong2(sums.sum(plane, row, 0), sums.sum(plane, row, 1));
}

/// Inclusive sums along a row.
__device__ ulonglong2 summed_along(ulonglong2 pair) {
  const std::uint64_t both = inclusive_scan(static_cast<std::uint64_t>(pair.x + pair.y));
  return make_ulonglong2(both - pair.y, both);
}

/// Second differences to sums: either half of a plane's rows by one warp.
template <int Planes, bool Short>
__device__ void store_sums(const SplatArguments& a, const GatheredTile& tile, int first,
                           const TileSums<Planes, Short>& sums) {
  constexpr int half_rows = splat_tile_height / 2;
  for (int task = static_cast<int>(threadIdx.x) / warp_size; task < 2 * Planes; task += warps) {
    const int plane = task / 2;
    const bool lower = task % 2 != 0;
    std::uint64_t* to = tile_plane(a, tile.group, tile.index, first + plane);
    ulonglong2 sum = make_ulonglong2(0, 0);
    if (lower) {
#pragma unroll 4
      for (int row = 0; row < half_rows; ++row) {
        const ulonglong2 own = differences(sums, plane, row);
        sum.x += own.x;
        sum.y += own.y;
      }
      sum = summed_along(sum);
    }
    std::uint64_t* rows = rows_of(a, tile.group, first + plane, tile.top()) + tile.column;
    const int top = lower ? half_rows : 0;
#pragma unroll 4
    for (int row = top; row < top + half_rows; ++row) {
      const ulonglong2 along = summed_along(differences(sums, plane, row));
      sum.x += along.x;
      sum.y += along.y;
      reinterpret_cast<ulonglong2*>(to)[row * warp_size + lane_index()] = sum;
      if (lane_index() == warp_size - 1) rows[std::int64_t{row} * a.tile_columns] = sum.y;
    }
    if (lower)
      reinterpret_cast<ulonglong2*>(columns_of(a, tile.group, first + plane, tile.row) +
                                    tile.left())[lane_index()] = sum;
  }
}

/// A tile where nothing lies passes nothing on.
__device__ void store_nothing(const SplatArguments& a, const GatheredTile& tile) {
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < (a.channels + 1) * splat_tile_width; i += threads)
    columns_of(a, tile.group, i / splat_tile_width, tile.row)[tile.left() + i % splat_tile_width] = 0;
  for (int i = thread; i < (a.channels + 1) * splat_tile_height; i += threads)
    rows_of(a, tile.group, i / splat_tile_height, tile.top() + i % splat_tile_height)[tile.column] = 0;
}

/// Makes planes from `first` on; false: that takes long sums.
template <int Channels, int Planes, bool Short>
__device__ bool make_planes(const SplatArguments& a, const GatheredTile& tile, unsigned cells,
                            const ListedAround& listed, bool has_direct, int first, std::uint32_t* words) {
  TileSums<Planes, Short> sums(words, tile.left(), tile.top());
  if (has_direct)
    sums.begin_with(a, tile_plane(a, tile.group, tile.index, 0), first);
  else
    sums.begin_with_nothing();
  __syncthreads();
  const bool highlights = gather<Channels>(a, tile, cells, first, sums);
  if (__syncthreads_or(highlights ? 1 : 0) != 0 && Short) return false;
  gather_listed<Channels>(a, listed, first, sums);
  __syncthreads();
  store_sums(a, tile, first, sums);
  __syncthreads();
  return true;
}

template <int Channels, int Planes>
__global__ void __launch_bounds__(threads, Planes > 4 ? 2 : 3)
    gather_tiles(const __grid_constant__ SplatArguments a) {
  extern __shared__ uint4 tile_memory[];
  __shared__ ListedAround listed;
  auto* words = reinterpret_cast<std::uint32_t*>(tile_memory);
  GatheredTile tile;
  tile.group = blockIdx.y;
  tile.index = blockIdx.x;
  tile.column = static_cast<std::int32_t>(tile.index % a.tile_columns);
  tile.row = static_cast<std::int32_t>(tile.index / a.tile_columns);
  const unsigned cells = cells_that_reach(a, tile);
  const std::int64_t mark = tile.group * tile_count(a) + tile.index;
  const bool has_direct = a.sums.direct[mark] != 0;
  if (threadIdx.x == 0) a.sums.spread[mark] = cells != 0 || has_direct ? 1 : 0;
  if (cells == 0 && !has_direct) return store_nothing(a, tile);
  if (threadIdx.x < warp_size) listed.find(a, tile, cells);
  for (int first = 0; first <= Channels; first += Planes)
    if (!a.short_sums ||
        !make_planes<Channels, Planes, true>(a, tile, cells, listed, has_direct, first, words))
      make_planes<Channels, Planes, false>(a, tile, cells, listed, has_direct, first, words);
}

template <int Channels, int Planes>
void launch(const SplatArguments& a, StreamHandle stream) {
  const dim3 grid(static_cast<unsigned>(tile_count(a)), a.last_group + 1);
  gather_tiles<Channels, Planes><<<grid, threads, splat_shared_bytes(Planes), stream>>>(a);
}

}  // namespace

std::size_t splat_shared_bytes(int planes) {
  return static_cast<std::size_t>(2 * planes * tile_words) * sizeof(std::uint32_t);
}

int allow_splat(int channels) {
  return with_channels(channels, [&]<int Channels>() {
    const int status = allow_all_shared_memory(gather_tiles<Channels, Channels + 1>);
    return status != 0 ? status : allow_all_shared_memory(gather_tiles<Channels, 1>);
  });
}

void splat_gather(const SplatArguments& a, StreamHandle stream) {
  with_channels(a.channels, [&]<int Channels>() {
    a.all_planes ? launch<Channels, Channels + 1>(a, stream) : launch<Channels, 1>(a, stream);
  });
}

}  // namespace satin::kernels
