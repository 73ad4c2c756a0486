// Visible samples to sums, by tiles. A tile looks at all samples that may reach it and adds those corners of
// their staircases that lie in it, all planes together in shared memory; so nothing is added twice, and
// nobody else writes a tile. Additions modulo 2^64 give the same sums in any order.
//
// A sum has two words, as additions of 32 bits are the memory's own: of 64 bits, with a carry between them,
// or short ones of 19 bits and 32 that need none. The low part of a short summand is balanced, -2^18 to 2^18
// - 1. A staircase has one corner in a word at most; on the picture's border, where more of them meet, all
// but one cancel each other. Two staircases have only samples with radii up to 12 pixels, where there are no
// highlights. So at most 83^2 + 31^2 < 2^13 low parts meet in one word, which holds them; the high words, and
// so all sums, are right modulo 2^51. A tile with highlights is made of long sums.

#include "core/operations/with_type.h"
#include "kernels/deposit_quads.cuh"
#include "kernels/shared_memory.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_size;
static_assert(threads == cell_quads, "a thread has 2 x 2 samples of a cell");

// Even columns and odd ones lie apart: the lanes of a warp meet words side by side, in four rows of quads.
constexpr int half_row = deposit_tile_width / 2 + 2;
constexpr int tile_row = 2 * half_row;
constexpr int tile_words = deposit_tile_height * tile_row;
static_assert(2 * tile_row % warp_size == warp_size / 4, "four rows of quads share no banks");

constexpr int low_bits = 19;
static_assert(low_bits + 32 == deposit_short_bits);
static_assert((2 * deposit_reach + 3) * (2 * deposit_reach + 3) + 31 * 31 < 1 << (32 - low_bits));

/// The sums of `Planes` planes of a tile.
template <int Planes, bool Short>
class TileSums {
 public:
  struct Summand {
    std::uint32_t low[Planes];
    std::uint32_t high[Planes];

    [[nodiscard]] __device__ Summand negative() const {
      Summand result;
#pragma unroll
      for (int plane = 0; plane < Planes; ++plane) {
        result.low[plane] = 0 - low[plane];
        result.high[plane] = 0 - high[plane] - (!Short && low[plane] != 0 ? 1 : 0);
      }
      return result;
    }
    __device__ void set(int plane, std::uint64_t value) {
      if constexpr (Short) {
        constexpr std::uint64_t half = 1U << (low_bits - 1);
        low[plane] = static_cast<std::uint32_t>((value + half) % (2 * half) - half);
        high[plane] = static_cast<std::uint32_t>((value + half) >> low_bits);
      } else {
        low[plane] = static_cast<std::uint32_t>(value);
        high[plane] = static_cast<std::uint32_t>(value >> 32);
      }
    }
  };

  __device__ TileSums(std::uint32_t* words, std::int32_t left, std::int32_t top)
      : words_(words), left_(left), top_(top) {}

  /// Second differences from plane to plane that are there already; null: none.
  __device__ void begin(const std::uint64_t* direct) {
    if (direct == nullptr) {
      for (int i = static_cast<int>(threadIdx.x); i < 2 * Planes * tile_words / 4; i += threads)
        reinterpret_cast<uint4*>(words_)[i] = make_uint4(0, 0, 0, 0);
      return;
    }
    for (int i = static_cast<int>(threadIdx.x); i < deposit_tile_pixels; i += threads) {
      const int column = i % deposit_tile_width;
      Summand value;
#pragma unroll
      for (int plane = 0; plane < Planes; ++plane) {
        value.set(plane, direct[plane * deposit_tile_pixels + i]);
        std::uint32_t* word = words_ + 2 * plane * tile_words + i / deposit_tile_width * tile_row +
                              (column & 1) * half_row + (column >> 1);
        word[0] = value.low[plane];
        word[tile_words] = value.high[plane];
      }
    }
  }

  /// A corner of the box around this one may lie in the tile. What lies above or before the picture counts on
  /// its border.
  [[nodiscard]] __device__ bool meets(std::int32_t first_x, std::int32_t last_x, std::int32_t first_y,
                                      std::int32_t last_y) const {
    return last_x >= left_ && first_x < left_ + deposit_tile_width && last_y >= top_ &&
           first_y < top_ + deposit_tile_height;
  }

  /// Adds the corners of a staircase that lie in the tile.
  __device__ void add(const Staircase& of, std::int32_t x, std::int32_t y, std::int32_t more,
                      const Summand& value) {
    const Staircase stairs = of;  // all of it is read at once
    const Summand taken = value.negative();
    int before[2];
#pragma unroll
    for (int k = 0; k < Staircase::most_boxes; ++k) {
      if (k >= stairs.boxes) break;
      const int rows[2] = {row_place(y - stairs.high[k]), row_place(y + stairs.high[k] + more)};
      const int columns[2] = {column_place(x - stairs.wide[k]), column_place(x + stairs.wide[k] + more)};
      if (k > 0) add_box(before, rows, taken, value);
      add_box(columns, rows, value, taken);
      before[0] = columns[0];
      before[1] = columns[1];
    }
  }

  /// Of column 2 * lane + odd.
  [[nodiscard]] __device__ std::uint64_t sum(int plane, int row, int odd) const {
    const std::uint32_t* word =
        words_ + 2 * plane * tile_words + row * tile_row + odd * half_row + lane_index();
    const std::uint32_t low = word[0];
    const std::uint32_t high = word[tile_words];
    if constexpr (Short)
      return (std::uint64_t{high} << low_bits) +
             static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)});
    else
      return std::uint64_t{high} << 32 | low;
  }

 private:
  static constexpr int outside = -2 * tile_words;

  [[nodiscard]] __device__ int row_place(std::int32_t y) const {
    const std::int32_t row = max(y, 0) - top_;
    return row >= 0 && row < deposit_tile_height ? row * tile_row : outside;
  }
  [[nodiscard]] __device__ int column_place(std::int32_t x) const {
    const std::int32_t column = max(x, 0) - left_;
    return column >= 0 && column < deposit_tile_width ? (column & 1) * half_row + (column >> 1) : outside;
  }

  __device__ void add_box(const int (&columns)[2], const int (&rows)[2], const Summand& value,
                          const Summand& taken) {
    add_corner(columns[0] + rows[0], value);
    add_corner(columns[1] + rows[0], taken);
    add_corner(columns[0] + rows[1], taken);
    add_corner(columns[1] + rows[1], value);
  }

  __device__ void add_corner(int place, const Summand& value) {
    if (place < 0) return;
    std::uint32_t* word = words_ + place;
#pragma unroll
    for (int plane = 0; plane < Planes; ++plane, word += 2 * tile_words) {
      const std::uint32_t before = atomicAdd(word, value.low[plane]);
      const bool carry = !Short && before + value.low[plane] < before;
      atomicAdd(word + tile_words, value.high[plane] + (carry ? 1 : 0));
    }
  }

  std::uint32_t* words_;
  std::int32_t left_;
  std::int32_t top_;
};

/// The tile of one group that a block makes.
struct GatheredTile {
  std::uint32_t group;
  std::int64_t index;
  std::int32_t column, row;

  [[nodiscard]] __device__ std::int32_t left() const { return column * deposit_tile_width; }
  [[nodiscard]] __device__ std::int32_t top() const { return row * deposit_tile_height; }
};

constexpr int cells_around = (deposit_reach + 2 + deposit_cell - 1) / deposit_cell;
constexpr int columns_of_cells = deposit_tile_width / deposit_cell + 2 * cells_around;
constexpr int rows_of_cells = deposit_tile_height / deposit_cell + 2 * cells_around;
static_assert(columns_of_cells * rows_of_cells <= warp_size, "a lane each");

__device__ std::int32_t left_of_cell(const GatheredTile& tile, int number) {
  return tile.left() + (number % columns_of_cells - cells_around) * deposit_cell;
}
__device__ std::int32_t top_of_cell(const GatheredTile& tile, int number) {
  return tile.top() + (number / columns_of_cells - cells_around) * deposit_cell;
}
__device__ std::int64_t cell_at(const DepositArguments& a, std::int32_t x, std::int32_t y) {
  return std::int64_t{y / deposit_cell} * cell_columns(a) + x / deposit_cell;
}

/// Bits of the cells around whose samples may reach the tile; the same in all warps.
__device__ unsigned cells_that_reach(const DepositArguments& a, const GatheredTile& tile) {
  const std::int32_t x = left_of_cell(tile, lane_index());
  const std::int32_t y = top_of_cell(tile, lane_index());
  bool reaches = false;
  if (lane_index() < columns_of_cells * rows_of_cells && x >= 0 && y >= 0 && x < a.width && y < a.height) {
    const std::int32_t reach =
        min(std::int32_t{a.sums.reaches[tile.group * cell_count(a) + cell_at(a, x, y)]}, deposit_reach);
    reaches = reach >= 0 && x - reach < tile.left() + deposit_tile_width &&
              x + deposit_cell + 1 + reach >= tile.left() && y - reach < tile.top() + deposit_tile_height &&
              y + deposit_cell + 1 + reach >= tile.top();
  }
  return __ballot_sync(whole_warp, reaches);
}

/// Adds planes from `first` on of all that reaches the tile. Returns whether there were highlights.
template <int Channels, int Planes, bool Short>
__device__ bool gather(const DepositArguments& a, const GatheredTile& tile, unsigned cells, int first,
                       TileSums<Planes, Short>& sums) {
  bool highlights = false;
  const auto thread = static_cast<int>(threadIdx.x);
  for (; cells != 0; cells &= cells - 1) {
    const int number = __ffs(static_cast<int>(cells)) - 1;
    const std::int32_t left = left_of_cell(tile, number);
    const std::int32_t top = top_of_cell(tile, number);
    const DepositQuad quad = a.sums.quads[cell_at(a, left, top) * cell_quads + thread];
    const std::int32_t x = left + quad_x(thread);
    const std::int32_t y = top + quad_y(thread);
    const std::int32_t reach = min(std::int32_t{quad.reach}, deposit_reach);
    if ((quad.groups >> tile.group & 1) == 0 ||
        !sums.meets(x - reach, x + reach + 2, y - reach, y + reach + 2))
      continue;
    for_staircases<Channels>(
        a, x, y, quad.merged, [&](std::uint32_t group) { return group == tile.group; },
        [&](const SpreadSample<Channels>& sample, const Staircase& stairs, std::uint32_t share) {
          const std::int32_t wide = stairs.wide[stairs.boxes - 1];
          const std::int32_t high = stairs.high[0];
          if (max(wide, high) > deposit_reach) return;
          if (!sums.meets(sample.x - wide, sample.x + wide + sample.more, sample.y - high,
                          sample.y + high + sample.more))
            return;
          highlights = highlights || sample.highlight;
          typename TileSums<Planes, Short>::Summand value;
#pragma unroll
          for (int plane = 0; plane < Planes; ++plane) value.set(plane, sample.value(first + plane) * share);
          sums.add(stairs, sample.x, sample.y, sample.more, value);
        });
  }
  return highlights;
}

/// Of two columns of a row of the tile.
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
__device__ void store_sums(const DepositArguments& a, const GatheredTile& tile, int first,
                           const TileSums<Planes, Short>& sums) {
  constexpr int half_rows = deposit_tile_height / 2;
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
__device__ void store_nothing(const DepositArguments& a, const GatheredTile& tile) {
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < (a.channels + 1) * deposit_tile_width; i += threads)
    columns_of(a, tile.group, i / deposit_tile_width, tile.row)[tile.left() + i % deposit_tile_width] = 0;
  for (int i = thread; i < (a.channels + 1) * deposit_tile_height; i += threads)
    rows_of(a, tile.group, i / deposit_tile_height, tile.top() + i % deposit_tile_height)[tile.column] = 0;
}

/// Makes planes from `first` on; false: that takes long sums.
template <int Channels, int Planes, bool Short>
__device__ bool make_planes(const DepositArguments& a, const GatheredTile& tile, unsigned cells,
                            bool has_direct, int first, std::uint32_t* words) {
  TileSums<Planes, Short> sums(words, tile.left(), tile.top());
  sums.begin(has_direct ? tile_plane(a, tile.group, tile.index, first) : nullptr);
  __syncthreads();
  const bool highlights = gather<Channels>(a, tile, cells, first, sums);
  if (__syncthreads_or(highlights ? 1 : 0) != 0 && Short) return false;
  store_sums(a, tile, first, sums);
  __syncthreads();
  return true;
}

template <int Channels, int Planes>
__global__ void __launch_bounds__(threads, 3) gather_tiles(const __grid_constant__ DepositArguments a) {
  extern __shared__ uint4 tile_memory[];
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
  for (int first = 0; first <= Channels; first += Planes)
    if (!a.short_sums || !make_planes<Channels, Planes, true>(a, tile, cells, has_direct, first, words))
      make_planes<Channels, Planes, false>(a, tile, cells, has_direct, first, words);
}

template <int Channels, int Planes>
void launch(const DepositArguments& a, StreamHandle stream) {
  const dim3 grid(static_cast<unsigned>(tile_count(a)), a.last_group + 1);
  gather_tiles<Channels, Planes><<<grid, threads, deposit_shared_bytes(Planes), stream>>>(a);
}

}  // namespace

std::size_t deposit_shared_bytes(int planes) {
  return static_cast<std::size_t>(2 * planes * tile_words) * sizeof(std::uint32_t);
}

int allow_deposit(int channels) {
  return with_channels(channels, [&]<int Channels>() {
    const int status = allow_all_shared_memory(gather_tiles<Channels, Channels + 1>);
    return status != 0 ? status : allow_all_shared_memory(gather_tiles<Channels, 1>);
  });
}

void deposit_gather(const DepositArguments& a, StreamHandle stream) {
  with_channels(a.channels, [&]<int Channels>() {
    a.all_planes ? launch<Channels, Channels + 1>(a, stream) : launch<Channels, 1>(a, stream);
  });
}

}  // namespace satin::kernels
