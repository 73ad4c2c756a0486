// Samples to sums, by tiles. A tile looks at all records of samples that may reach it and adds those corners
// of their staircases that lie in it, all planes together in shared memory; so nothing is added twice, and
// nobody else writes a tile. Additions modulo 2^64 give the same sums in any order.
//
// How many low parts of short sums (splat_sums.cuh) meet in a word: a staircase has one corner in it at
// most; on the picture's border, where more of them meet, all but one cancel each other. Two staircases have
// only samples with radii up to 12 pixels, where there are no highlights. So there are at most 83^2 + 31^2
// where no shape of a visible sample reaches farther than 40 pixels; otherwise words are settled again after
// so many records. A tile with highlights is made of long sums. Samples of the list, of which any number lies
// in a cell, come last, and words are settled before so many of them, unless a tile has few records.

#include <climits>

#include "core/with_type.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/lens/splat_sums.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = tile_threads;
constexpr int warps = threads / warp_size;

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
        min(a.sums.cells[tile.group * cell_count(a) + cell_of(a, x, y)].reach, splat_reach);
    reaches = reach >= 0 && x - reach < tile.left() + splat_tile_width &&
              x + splat_cell + 1 + reach >= tile.left() && y - reach < tile.top() + splat_tile_height &&
              y + splat_cell + 1 + reach >= tile.top();
  }
  return __ballot_sync(whole_warp, reaches);
}

/// Records of the cells around a tile, in chunks of a warp's. A lane has those of one cell.
class RecordsAround {
 public:
  __device__ RecordsAround(std::uint32_t first, std::uint32_t count)
      : first_(first), count_(count), end_(inclusive_scan((count + warp_size - 1) / warp_size)) {}

  [[nodiscard]] __device__ int count() const { return static_cast<int>(sum_of_lanes(count_)); }
  [[nodiscard]] __device__ int chunks() const {
    return static_cast<int>(__shfl_sync(whole_warp, end_, warp_size - 1));
  }

  struct Own {
    int cell;             ///< its number
    bool exists;          ///< the lane has a record
    std::uint32_t place;  ///< of the record
  };
  [[nodiscard]] __device__ Own own(int chunk) const {
    const auto number = static_cast<std::uint32_t>(chunk);
    const int cell = __popc(__ballot_sync(whole_warp, end_ <= number));
    const std::uint32_t count = __shfl_sync(whole_warp, count_, cell);
    const std::uint32_t end = __shfl_sync(whole_warp, end_, cell);
    const std::uint32_t before = (number + (count + warp_size - 1) / warp_size - end) * warp_size;
    const std::uint32_t place = before + static_cast<std::uint32_t>(lane_index());
    return {cell, place < count, __shfl_sync(whole_warp, first_, cell) + place};
  }

 private:
  std::uint32_t first_;
  std::uint32_t count_;
  std::uint32_t end_;  ///< chunks up to this cell's last one
};

constexpr int double_corners = 31 * 31;  ///< of second staircases that may meet in one word
constexpr int unsettled_reach = 40;
constexpr int unsettled_corners = (2 * unsettled_reach + 3) * (2 * unsettled_reach + 3);
static_assert(unsettled_corners + double_corners < most_low_parts);
/// So many visible samples, and samples of the list that have two staircases each, need no settling.
constexpr int unsettled_visible = (most_low_parts - double_corners) / warp_size;
constexpr int unsettled_listed = most_low_parts / (2 * warp_size);

/// Adds planes from `first` on of what one record has in the tile.
template <int Channels, int Planes, bool Short>
__device__ void add_record(const SplatArguments& a, const SplatRecord& record, std::int32_t x, std::int32_t y,
                           int first, const TileSums<Planes, Short>& sums) {
  using Sums = TileSums<Planes, Short>;
  const std::int32_t more = RecordPlace(record.place).more();
#pragma unroll 1
  for (int k = 0; k < 2; ++k) {
    const std::uint32_t share = k == 0 ? record.share[0] : record.share[1];
    if (share == 0) continue;
    const NearStaircase stairs = a.near[k == 0 ? record.staircase[0] : record.staircase[1]];
    const std::int32_t reach = stairs.reach;
    if (stairs.boxes == 0 || !sums.meets(x - reach, x + reach + more, y - reach, y + reach + more)) continue;
    typename Sums::Summand value;
#pragma unroll
    for (int plane = 0; plane < Planes; ++plane)
      value.set(plane,
                std::uint64_t{value_of<Channels, typename Sums::Factor>(record, first + plane)} * share);
    sums.add(stairs, x, y, more, value);
  }
}

/// Adds planes from `first` on of all records. Words are settled after `unsettled` chunks.
template <int Channels, int Planes, bool Short>
__device__ void gather(const SplatArguments& a, const GatheredTile& tile, const RecordsAround& around,
                       const SplatRecords& records, int unsettled, int first, TileSums<Planes, Short>& sums) {
  const int chunks = around.chunks();
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  for (int begin = 0; begin < chunks; begin += unsettled) {
    if (Short && begin != 0) {
      __syncthreads();
      sums.settle();
      __syncthreads();
    }
    const int end = min(chunks, begin + unsettled);
    for (int chunk = begin + warp; chunk < end; chunk += warps) {
      const RecordsAround::Own own = around.own(chunk);
      if (!own.exists) continue;
      const SplatRecord record = record_at(records, own.place);
      const RecordPlace place(record.place);
      add_record<Channels>(a, record, left_of_cell(tile, own.cell) + place.x(),
                           top_of_cell(tile, own.cell) + place.y(), first, sums);
    }
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
    const int planes = a.channels + 1;
    std::uint64_t* rows =
        rows_of(a, tile.group, tile.top()) + std::int64_t{tile.column} * planes + first + plane;
    const int top = lower ? half_rows : 0;
#pragma unroll 4
    for (int row = top; row < top + half_rows; ++row) {
      const ulonglong2 along = summed_along(differences(sums, plane, row));
      sum.x += along.x;
      sum.y += along.y;
      reinterpret_cast<ulonglong2*>(to)[row * warp_size + lane_index()] = sum;
      if (lane_index() == warp_size - 1) rows[std::int64_t{row} * a.tile_columns * planes] = sum.y;
    }
    if (!lower) continue;
    std::uint64_t* columns = columns_of(a, tile.group, tile.row) +
                             (std::int64_t{tile.left()} + 2 * lane_index()) * planes + first + plane;
    columns[0] = sum.x;
    columns[planes] = sum.y;
  }
}

/// A tile where nothing lies passes nothing on.
__device__ void store_nothing(const SplatArguments& a, const GatheredTile& tile) {
  const auto thread = static_cast<int>(threadIdx.x);
  const int planes = a.channels + 1;
  std::uint64_t* columns = columns_of(a, tile.group, tile.row) + std::int64_t{tile.left()} * planes;
  for (int i = thread; i < planes * splat_tile_width; i += threads) columns[i] = 0;
  std::uint64_t* rows = rows_of(a, tile.group, tile.top()) + std::int64_t{tile.column} * planes;
  for (int i = thread; i < planes * splat_tile_height; i += threads)
    rows[std::int64_t{i / planes} * a.tile_columns * planes + i % planes] = 0;
}

/// The records of one group that may reach a tile.
struct TileRecords {
  RecordsAround visible;
  RecordsAround listed;
  bool has_direct;

  /// More low parts may meet in a word than it has room for. The same in all warps.
  [[nodiscard]] __device__ bool fill_words(std::int32_t reach) const {
    const int single = reach > unsettled_reach ? visible.count() : min(visible.count(), unsettled_corners);
    return single + double_corners + 2 * listed.count() >= most_low_parts;
  }
};

/// Makes planes from `first` on.
template <int Channels, int Planes, bool Short>
__device__ void make_planes(const SplatArguments& a, const GatheredTile& tile, const TileRecords& records,
                            int first, std::uint32_t* words) {
  TileSums<Planes, Short> sums(words, tile.left(), tile.top());
  if (records.has_direct)
    sums.begin_with(a, tile_plane(a, tile.group, tile.index, 0), first);
  else
    sums.begin_with_nothing();
  __syncthreads();
  const int unsettled = a.largest_reach > unsettled_reach ? unsettled_visible : INT_MAX;
  gather<Channels>(a, tile, records.visible, a.sums.records, unsettled, first, sums);
  if (records.listed.chunks() != 0) {
    if (Short && records.fill_words(a.largest_reach)) {
      __syncthreads();
      sums.settle();
      __syncthreads();
    }
    gather<Channels>(a, tile, records.listed, a.sums.listed_records, unsettled_listed, first, sums);
  }
  __syncthreads();
  store_sums(a, tile, first, sums);
  __syncthreads();
}

template <int Channels, int Planes>
__global__ void __launch_bounds__(threads, Planes > 4 ? 2 : 3)
    gather_tiles(const __grid_constant__ SplatArguments a) {
  extern __shared__ uint4 tile_memory[];
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
  SplatCell own;
  ListedCell listed;
  if ((cells >> lane_index() & 1) != 0) {
    const std::int64_t cell = tile.group * cell_count(a) +
                              cell_of(a, left_of_cell(tile, lane_index()), top_of_cell(tile, lane_index()));
    own = a.sums.cells[cell];
    listed = a.sums.listed[cell];
  }
  const TileRecords records{RecordsAround(own.first, own.count),
                            RecordsAround(listed.end - listed.count, listed.count), has_direct};
  const bool is_short = a.short_sums && __all_sync(whole_warp, own.highlights == 0) != 0;
  auto* words = reinterpret_cast<std::uint32_t*>(tile_memory);
  words += -__cvta_generic_to_shared(words) % row_bytes / sizeof(std::uint32_t);
  for (int first = 0; first <= Channels; first += Planes)
    if (is_short)
      make_planes<Channels, Planes, true>(a, tile, records, first, words);
    else
      make_planes<Channels, Planes, false>(a, tile, records, first, words);
}

template <int Channels, int Planes>
void launch(const SplatArguments& a, StreamHandle stream) {
  const dim3 grid(static_cast<unsigned>(tile_count(a)), a.last_group + 1);
  gather_tiles<Channels, Planes><<<grid, threads, splat_shared_bytes(Planes), stream>>>(a);
}

}  // namespace

std::size_t splat_shared_bytes(int planes) {
  return static_cast<std::size_t>(2 * planes * tile_words) * sizeof(std::uint32_t) + row_bytes;
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
