// Second stage of the splat on CUDA: sums the samples of one group in one tile.
//
// A block reads the records of all cells whose samples may reach its tile and adds the corners of their
// staircases that lie in the tile, all planes together in shared memory. So no corner is added twice, and no
// other block writes the tile. Additions modulo 2^64 give the same sums in any order.
//
// Short sums (below 2^51) need a bound on the low parts that meet in a word. A staircase has at most one
// corner in a pixel; on the picture's border, where several meet, all but one cancel. Only samples with radii
// up to 12 pixels have two staircases. So at most 83^2 + 31^2 low parts meet if no visible sample reaches
// farther than 40 pixels; otherwise words are settled after a fixed number of records. Listed samples, any
// number of which may be in a cell, come last; words are settled before them unless the tile has few records.
//
// A warp adds the samples on the picture's border together, as their steps are many (BorderSteps). The steps
// of the boxes of a staircase cancel too, but for those in row 0, whose heights differ: up to 10 meet there.
// An outline has up to 18 boxes and no second staircase: from one sample on the upper border and one on the
// lower border at most 19 meet.
// The rows above row 0 have no samples, so that 83 * 42 + 31^2 + 2 * 9 * (83 + 31) low parts are the most.

#include <bit>
#include <climits>
#include <cstdlib>
#include <type_traits>

#include "core/with_type.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/lens/splat_tile.cuh"

namespace satin::kernels {

// Sums of a tile in shared memory.
//
// Shared memory adds 32-bit words, so a sum has two of them: a long sum has 64 bits and a carry between its
// words; a short sum has 19 + 32 bits and needs none. The low part of a short summand is balanced, in [-2^18,
// 2^18), so that 2^13 - 1 of them may meet in one word. High words, and so all sums, are exact modulo 2^51.

inline constexpr int tile_threads = 256;
inline constexpr int tile_words = splat_tile_pixels;

inline constexpr int low_bits = 19;
static_assert(low_bits + 32 == splat_short_bits);
/// Most low parts that may meet in one word.
inline constexpr int most_low_parts = (1 << (32 - low_bits)) - 1;

__device__ inline void add_to_shared(std::uint32_t address, std::uint32_t value) {
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address), "r"(value));
}
__device__ inline std::uint32_t fetch_and_add_to_shared(std::uint32_t address, std::uint32_t value) {
  std::uint32_t before;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(before) : "r"(address), "r"(value));
  return before;
}

/// Sums of `Planes` planes of a tile, by all threads of a block. `Lanes` lanes share a record: lane i has
/// planes i, i + Lanes, ...; the words of the lanes are neighbours in shared memory.
template <int Planes, int Lanes, bool Padded, bool Short>
class TileSums {
 public:
  static_assert(Planes % Lanes == 0);
  static constexpr int own_planes = Planes / Lanes;
  static constexpr int at_once = warp_size / Lanes;  ///< records of a warp
  /// Columns of a row. Corners outside the tile's columns are added to the last ones, each lane's in a bank of
  /// its own, since a branch for each corner takes longer.
  static constexpr int pitch = splat_tile_width + (Padded ? (warp_size + Lanes - 1) / Lanes : 0);
  static constexpr int shared_bytes = 2 * Planes * pitch * splat_tile_height * 4;
  /// Type of a colour, which is multiplied by a weight. Colours of short sums have at most 21 bits.
  using Factor = std::conditional_t<Short, std::uint32_t, std::uint64_t>;

  struct Summand {
    std::uint32_t low[own_planes];
    std::uint32_t high[own_planes];

    [[nodiscard]] __device__ Summand negative() const {
      Summand result;
#pragma unroll
      for (int plane = 0; plane < own_planes; ++plane) {
        result.low[plane] = 0 - low[plane];
        result.high[plane] = 0 - high[plane] - (!Short && low[plane] != 0 ? 1 : 0);
      }
      return result;
    }
    __device__ void set(int plane, std::uint64_t value) {
      if constexpr (Short) {
        const std::uint64_t raised = value + low_half;
        low[plane] = (static_cast<std::uint32_t>(raised) & low_mask) - low_half;
        high[plane] = static_cast<std::uint32_t>(raised >> low_bits);
      } else {
        low[plane] = static_cast<std::uint32_t>(value);
        high[plane] = static_cast<std::uint32_t>(value >> 32);
      }
    }
  };

  __device__ TileSums(std::uint32_t* words, std::int32_t left, std::int32_t top)
      : words_(words), base_(shared_address(words)), left_(left), top_(top) {}

  /// Number of the lane's record among those of the warp; at least at_once if the lane is idle.
  [[nodiscard]] static __device__ int own_record() { return lane_index() / Lanes; }
  /// Plane i of the lane.
  [[nodiscard]] static __device__ int own_plane(int i) { return lane_index() % Lanes + i * Lanes; }

  __device__ void begin_with_nothing() {
    for (int i = static_cast<int>(threadIdx.x); i < shared_bytes / 16; i += tile_threads)
      reinterpret_cast<uint4*>(words_)[i] = make_uint4(0, 0, 0, 0);
  }

  /// Begins with the second differences that were added one by one, of the tile's planes from `first` on.
  __device__ void begin_with(const SplatArguments& a, const std::uint64_t* direct, int first) {
    for (int i = static_cast<int>(threadIdx.x); i < splat_tile_pixels; i += tile_threads) {
#pragma unroll
      for (int plane = 0; plane < Planes; ++plane) {
        Summand value;
        value.set(0, direct[direct_place(a, i, first + plane)]);
        std::uint32_t* word = words_ + word_of(plane, i / splat_tile_width, i % splat_tile_width);
        word[0] = value.low[0];
        word[plane_words] = value.high[0];
      }
    }
  }

  /// Whether a box has a corner in the tile, or may have one: what lies above or left of the picture counts
  /// on its border.
  [[nodiscard]] __device__ bool meets(std::int32_t first_x, std::int32_t last_x, std::int32_t first_y,
                                      std::int32_t last_y) const {
    return last_x >= left_ && first_x < left_ + splat_tile_width && last_y >= top_ &&
           first_y < top_ + splat_tile_height;
  }

  /// Adds those corners of a staircase that lie in the tile.
  __device__ void add(const NearStaircase& stairs, std::int32_t x, std::int32_t y, std::int32_t more,
                      const Summand& value) const {
    const Summand taken = value.negative();
    std::uint32_t before[2] = {};
#pragma unroll
    for (int k = 0; k < NearStaircase::most_boxes; ++k) {
      if (k >= stairs.boxes) break;
      const std::uint32_t columns[2] = {column_place(x - stairs.wide[k]),
                                        column_place(x + stairs.wide[k] + more)};
#pragma unroll
      for (int lower = 0; lower < 2; ++lower) {
        const std::uint32_t row =
            row_place(lower == 0 ? y - stairs.high[k] : y + stairs.high[k] + more);
        if (row >= outside) continue;
        if (k > 0) add_pair(before, row, lower == 0 ? taken : value, lower == 0 ? value : taken);
        add_pair(columns, row, lower == 0 ? value : taken, lower == 0 ? taken : value);
      }
      before[0] = columns[0];
      before[1] = columns[1];
    }
  }

  /// Adds those corners of boxes below each other that lie in the tile.
  __device__ void add(const KernelBox* boxes, std::uint32_t count, std::int32_t x, std::int32_t y,
                      const Summand& value) const {
    const Summand taken = value.negative();
#pragma unroll 1
    for (std::uint32_t k = 0; k < count; ++k) {
      const KernelBox box = boxes[k];
      const std::uint32_t columns[2] = {column_place(x + box.left), column_place(x + box.right)};
      const std::uint32_t rows[2] = {row_place(y + box.top), row_place(y + box.bottom)};
      if (rows[0] < outside) add_pair(columns, rows[0], value, taken);
      if (rows[1] < outside) add_pair(columns, rows[1], taken, value);
    }
  }

  /// Adds one second difference.
  __device__ void add_step(std::int32_t x, std::int32_t y, const Summand& value) const {
    const std::uint32_t row = row_place(y);
    if (row < outside) add_corner(corner(column_place(x), row), value);
  }

  /// Reduces each low word to one low part. The block synchronises before and after.
  __device__ void settle() {
    constexpr int quads = plane_words / 4;
    for (int i = static_cast<int>(threadIdx.x); i < own_planes * quads; i += tile_threads) {
      uint4* words = reinterpret_cast<uint4*>(words_) + (i / quads * quads + i);
      uint4 low = words[0];
      uint4 high = words[quads];
      settle(low.x, high.x);
      settle(low.y, high.y);
      settle(low.z, high.z);
      settle(low.w, high.w);
      words[0] = low;
      words[quads] = high;
    }
  }

  /// Second difference at column 2 * lane + odd.
  [[nodiscard]] __device__ std::uint64_t sum(int plane, int row, int odd) const {
    const std::uint32_t* word = words_ + word_of(plane, row, 2 * lane_index() + odd);
    const std::uint32_t low = word[0];
    const std::uint32_t high = word[plane_words];
    if constexpr (Short)
      return (std::uint64_t{high} << low_bits) +
             static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)});
    else
      return std::uint64_t{high} << 32 | low;
  }

 private:
  static constexpr std::uint32_t low_half = 1U << (low_bits - 1);
  static constexpr std::uint32_t low_mask = (1U << low_bits) - 1;
  static constexpr std::uint32_t word_bytes = 4;
  /// Low words of the planes that lanes have in turn; as many high words follow.
  static constexpr int plane_words = Lanes * pitch * splat_tile_height;
  /// Addresses of corners outside the tile are not below it.
  static constexpr std::uint32_t outside = 1U << 30;

  /// Exchanges the words of a column so that all columns of a plane are in different banks.
  [[nodiscard]] static __device__ std::uint32_t exchanged(std::uint32_t lane, std::uint32_t column) {
    if constexpr (Lanes == 4) return lane ^ (column >> 3 & 3);
    if constexpr (Lanes == 2) return lane ^ (column >> 4 & 1);
    return lane;
  }
  [[nodiscard]] static __device__ int word_of(int plane, int row, int column) {
    if constexpr (Lanes == 1) return (2 * plane * plane_words + row * pitch + (column ^ (row & 1) * 16));
    return plane / Lanes * 2 * plane_words + (row * pitch + column) * Lanes +
           static_cast<int>(exchanged(static_cast<std::uint32_t>(plane % Lanes), static_cast<std::uint32_t>(column)));
  }

  /// Shared address of the words, equal in all lanes. Taken from lane 0, because the compiler recomputes it
  /// for each corner otherwise.
  [[nodiscard]] static __device__ std::uint32_t shared_address(const std::uint32_t* words) {
    return __shfl_sync(whole_warp, static_cast<std::uint32_t>(__cvta_generic_to_shared(words)), 0);
  }

  static __device__ void settle(std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t raised = low + low_half;
    high += static_cast<std::uint32_t>(static_cast<std::int32_t>(raised) >> low_bits);
    low = (raised & low_mask) - low_half;
  }

  [[nodiscard]] __device__ std::int32_t row_of(std::int32_t y) const { return max(y - top_, -top_); }
  [[nodiscard]] __device__ std::int32_t column_of(std::int32_t x) const { return max(x - left_, -left_); }
  [[nodiscard]] __device__ std::uint32_t row_place(std::int32_t y) const {
    const auto row = static_cast<std::uint32_t>(row_of(y));
    return row < splat_tile_height ? base_ + row * (pitch * Lanes * word_bytes) +
                                         (Lanes == 1 ? (row & 1) * (16 * word_bytes) : 0)
                                   : 2 * outside;
  }
  [[nodiscard]] __device__ std::uint32_t column_place(std::int32_t x) const {
    const auto column = static_cast<std::uint32_t>(column_of(x));
    const auto lane = static_cast<std::uint32_t>(own_plane(0));
    const std::uint32_t beyond =
        Padded ? (splat_tile_width * Lanes + static_cast<std::uint32_t>(lane_index())) * word_bytes : outside;
    return column < splat_tile_width ? (column * Lanes + exchanged(lane, column)) * word_bytes : beyond;
  }
  /// A corner's address, from its column's and its row's.
  [[nodiscard]] static __device__ std::uint32_t corner(std::uint32_t column, std::uint32_t row) {
    return Lanes == 1 ? column ^ row : column + row;
  }

  __device__ void add_pair(const std::uint32_t (&columns)[2], std::uint32_t row, const Summand& first,
                           const Summand& second) const {
    add_corner(corner(columns[0], row), first);
    add_corner(corner(columns[1], row), second);
  }

  __device__ void add_corner(std::uint32_t address, const Summand& value) const {
    if (!Padded && address >= outside) return;
#pragma unroll
    for (int plane = 0; plane < own_planes; ++plane, address += 2 * plane_words * word_bytes) {
      const std::uint32_t high_address = address + plane_words * word_bytes;
      if constexpr (Short) {
        add_to_shared(address, value.low[plane]);
        // Weights, the last plane, have no high part where staircases are large.
        if (Padded || plane + 1 < own_planes || value.high[plane] != 0) add_to_shared(high_address, value.high[plane]);
      } else {
        const std::uint32_t before = fetch_and_add_to_shared(address, value.low[plane]);
        const bool carry = before + value.low[plane] < before;
        add_to_shared(high_address, value.high[plane] + (carry ? 1 : 0));
      }
    }
  }

  std::uint32_t* words_;
  std::uint32_t base_;  ///< shared address
  std::int32_t left_;
  std::int32_t top_;
};

namespace {

constexpr int threads = tile_threads;
constexpr int warps = threads / warp_size;

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
/// Whether samples of cell `number` around the tile may reach it.
__device__ bool cell_reaches(const SplatArguments& a, const GatheredTile& tile, int number) {
  const std::int32_t x = left_of_cell(tile, number);
  const std::int32_t y = top_of_cell(tile, number);
  if (x < 0 || y < 0 || x >= a.width || y >= a.height) return false;
  const std::int32_t reach =
      min(a.sums.cells[tile.group * cell_count(a) + cell_of(a, x, y)].reach, splat_reach);
  return reach >= 0 && x - reach < tile.left() + splat_tile_width &&
         x + splat_cell + 1 + reach >= tile.left() && y - reach < tile.top() + splat_tile_height &&
         y + splat_cell + 1 + reach >= tile.top();
}

/// Returns a bit per cell around whose samples may reach the tile; the same in all warps.
__device__ unsigned cells_that_reach(const SplatArguments& a, const GatheredTile& tile) {
  return __ballot_sync(
      whole_warp, lane_index() < columns_of_cells * rows_of_cells && cell_reaches(a, tile, lane_index()));
}

/// Records of the cells around a tile, in chunks of 32. A lane has the records of one cell.
class RecordsAround {
 public:
  __device__ RecordsAround(std::uint32_t first, std::uint32_t count)
      : first_(first), count_(count), end_(inclusive_scan((count + warp_size - 1) / warp_size)) {}

  [[nodiscard]] __device__ int count() const { return static_cast<int>(sum_of_lanes(count_)); }
  [[nodiscard]] __device__ int chunks() const {
    return static_cast<int>(__shfl_sync(whole_warp, end_, warp_size - 1));
  }

  struct Chunk {
    int cell;             ///< number of the cell
    std::uint32_t first;  ///< index of the first record
    int count;
  };
  [[nodiscard]] __device__ Chunk chunk(int index) const {
    const auto number = static_cast<std::uint32_t>(index);
    const int cell = __popc(__ballot_sync(whole_warp, end_ <= number));
    const std::uint32_t count = __shfl_sync(whole_warp, count_, cell);
    const std::uint32_t end = __shfl_sync(whole_warp, end_, cell);
    const std::uint32_t before = (number + (count + warp_size - 1) / warp_size - end) * warp_size;
    return {cell, __shfl_sync(whole_warp, first_, cell) + before,
            static_cast<int>(min(count - before, std::uint32_t{warp_size}))};
  }

 private:
  std::uint32_t first_;
  std::uint32_t count_;
  std::uint32_t end_;  ///< number of chunks up to and including this cell
};

constexpr int double_corners = 31 * 31;  ///< most second staircases that meet in one word
constexpr int unsettled_reach = 40;
constexpr int unsettled_corners = (2 * unsettled_reach + 3) * (2 * unsettled_reach + 3);
static_assert(unsettled_corners + double_corners < most_low_parts);
/// Most steps in one word of row 0, of a staircase on the border and of all on the upper and lower border.
constexpr int border_corners = 2 * NearStaircase::most_boxes;
constexpr int all_border_corners = border_corners * 2 * (columns_of_cells * splat_cell + 31);
static_assert(all_border_corners < most_low_parts - double_corners);
/// Chunks of visible samples, and of listed samples with two staircases each, that need no settling.
constexpr int unsettled_visible = (most_low_parts - double_corners) / warp_size;
constexpr int unsettled_visible_top = (most_low_parts - double_corners - all_border_corners) / warp_size;
constexpr int unsettled_listed = most_low_parts / (2 * warp_size);
constexpr int unsettled_listed_top = most_low_parts / (2 * border_corners * warp_size);

/// Colours of a record in the lane's planes, from plane `first` on; 1 in the plane of weights.
template <int Channels, class Sums>
struct RecordFactors {
  typename Sums::Factor of_plane[Sums::own_planes];

  __device__ RecordFactors(const RecordColours* colours, std::uint32_t place, int first) {
    if constexpr (Sums::own_planes == 1) {
      const int plane = first + Sums::own_plane(0);
      of_plane[0] = plane < Channels ? colours[place].colour[plane] : 1;
    } else {
      const SplatRecord record{colours[place], {}};
#pragma unroll
      for (int i = 0; i < Sums::own_planes; ++i)
        of_plane[i] = value_of<Channels, typename Sums::Factor>(record, first + Sums::own_plane(i));
    }
  }
  [[nodiscard]] __device__ typename Sums::Summand times(std::uint64_t by) const {
    typename Sums::Summand value;
#pragma unroll
    for (int i = 0; i < Sums::own_planes; ++i) value.set(i, std::uint64_t{of_plane[i]} * by);
    return value;
  }
};

__device__ RecordShape shape_at(const SplatRecords& records, std::uint32_t place) {
  const uint4 words = reinterpret_cast<const uint4*>(records.shapes)[place];
  return {{words.x, words.y},
          {static_cast<std::uint16_t>(words.z & 0xFFFFU), static_cast<std::uint16_t>(words.z >> 16U)},
          words.w};
}

/// Adds one record, by the lanes that share it.
template <int Channels, class Sums>
__device__ void add_record(const SplatArguments& a, const RecordShape& shape,
                           const RecordFactors<Channels, Sums>& factors, std::int32_t x, std::int32_t y,
                           const Sums& sums) {
  const std::int32_t more = RecordPlace(shape.place).more();
#pragma unroll 1
  for (int k = 0; k < 2; ++k) {
    const std::uint32_t share = k == 0 ? shape.share[0] : shape.share[1];
    if (share == 0) continue;
    const NearStaircase stairs = a.near[k == 0 ? shape.staircase[0] : shape.staircase[1]];
    const std::int32_t reach = stairs.reach;
    if (stairs.boxes == 0 || !sums.meets(x - reach, x + reach + more, y - reach, y + reach + more)) continue;
    const typename Sums::Summand value = factors.times(share);
    if (stairs.outline.count != 0)
      sums.add(a.kernels.outlines + stairs.outline.first, stairs.outline.count, x, y, value);
    else
      sums.add(stairs, x, y, more, value);
  }
}

/// Adds one record on the border of the picture, by all lanes of a warp.
template <int Channels, class Sums>
__device__ void add_border_record(const SplatArguments& a, const RecordShape& shape,
                                  const RecordFactors<Channels, Sums>& factors, std::int32_t x,
                                  std::int32_t y, const Sums& sums) {
  const auto add = [&](std::uint32_t share, const BorderSteps::Step& row, const BorderSteps::Step& column,
                       bool taken) {
    const auto height = static_cast<std::uint32_t>(row.height * column.height);
    const bool negative = static_cast<std::int32_t>(height) < 0;
    const typename Sums::Summand value =
        factors.times(std::uint64_t{share} * (negative ? 0 - height : height));
    sums.add_step(column.place, row.place, negative != taken ? value.negative() : value);
  };
#pragma unroll 1
  for (int k = 0; k < 2; ++k) {
    const std::uint32_t share = k == 0 ? shape.share[0] : shape.share[1];
    if (share == 0) continue;
    const Staircase& stairs = a.kernels.staircases[k == 0 ? shape.staircase[0] : shape.staircase[1]];
    const std::int32_t reach = stairs.reach;
    if (reach > splat_reach || !sums.meets(x - reach, x + reach + 1, y - reach, y + reach + 1)) continue;
    for_boxes(stairs, a.kernels.outlines, 1, [&](const KernelBox& box, std::int32_t sign) {
      const BorderSteps rows(y, box.top, box.bottom - 1, a.height);
      const BorderSteps columns(x, box.left, box.right - 1, a.width);
      if (Sums::own_record() >= Sums::at_once) return;
#pragma unroll 1
      for (std::int32_t i = Sums::own_record(); i < rows.count() * columns.count(); i += Sums::at_once)
        add(share, rows[i / columns.count()], columns[i % columns.count()], sign < 0);
    });
  }
}

/// Adds all records to planes `first` and following. Words are settled after `unsettled` chunks.
template <int Channels, bool Short, class Sums>
__device__ void gather(const SplatArguments& a, const GatheredTile& tile, const RecordsAround& around,
                       const SplatRecords& records, int unsettled, int first, Sums& sums) {
  const int chunks = around.chunks();
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int own = Sums::own_record() < Sums::at_once ? Sums::own_record() : warp_size;
  for (int begin = 0; begin < chunks; begin += unsettled) {
    if (Short && begin != 0) {
      __syncthreads();
      sums.settle();
      __syncthreads();
    }
    const int end = min(chunks, begin + unsettled);
    for (int number = begin + warp; number < end; number += warps) {
      const RecordsAround::Chunk chunk = around.chunk(number);
      const std::int32_t left = left_of_cell(tile, chunk.cell);
      const std::int32_t top = top_of_cell(tile, chunk.cell);
      const bool on_border = cell_on_border(a, left, top);
#pragma unroll 1
      for (int i = own; i < chunk.count; i += Sums::at_once) {
        const std::uint32_t at = chunk.first + static_cast<std::uint32_t>(i);
        const RecordShape shape = shape_at(records, at);
        const RecordPlace place(shape.place);
        const RecordFactors<Channels, Sums> factors(records.colours, at, first);
        if (on_border && is_repeated(a, place, left, top)) continue;
        add_record(a, shape, factors, left + place.x(), top + place.y(), sums);
      }
      if (!on_border) continue;
      __syncwarp();
      bool repeated = false;
      if (lane_index() < chunk.count)
        repeated = is_repeated(
            a, RecordPlace(records.shapes[chunk.first + static_cast<std::uint32_t>(lane_index())].place),
            left, top);
      for (unsigned together = __ballot_sync(whole_warp, repeated); together != 0; together &= together - 1) {
        const std::uint32_t at =
            chunk.first + static_cast<std::uint32_t>(__ffs(static_cast<int>(together)) - 1);
        const RecordShape shape = shape_at(records, at);
        const RecordPlace place(shape.place);
        add_border_record(a, shape, RecordFactors<Channels, Sums>(records.colours, at, first),
                          left + place.x(), top + place.y(), sums);
      }
    }
  }
}

__device__ ulonglong2 summed_along(ulonglong2 pair) {
  const std::uint64_t both = inclusive_scan(static_cast<std::uint64_t>(pair.x + pair.y));
  return make_ulonglong2(both - pair.y, both);
}

/// Integrates the second differences and stores the sums. A warp takes half of the rows of a plane.
template <int Planes, class Sums>
__device__ void store_sums(const SplatArguments& a, const GatheredTile& tile, int first,
                           const Sums& sums) {
  constexpr int half_rows = splat_tile_height / 2;
  for (int task = static_cast<int>(threadIdx.x) / warp_size; task < 2 * Planes; task += warps) {
    const int plane = task / 2;
    const bool lower = task % 2 != 0;
    std::uint64_t* to = tile_plane(a, tile.group, tile.index, first + plane);
    ulonglong2 sum = make_ulonglong2(0, 0);
    if (lower) {
#pragma unroll 4
      for (int row = 0; row < half_rows; ++row) {
        sum.x += sums.sum(plane, row, 0);
        sum.y += sums.sum(plane, row, 1);
      }
      sum = summed_along(sum);
    }
    const int planes = a.channels + 1;
    std::uint64_t* rows =
        rows_of(a, tile.group, tile.top()) + std::int64_t{tile.column} * planes + first + plane;
    const int top = lower ? half_rows : 0;
#pragma unroll 4
    for (int row = top; row < top + half_rows; ++row) {
      const ulonglong2 along =
          summed_along(make_ulonglong2(sums.sum(plane, row, 0), sums.sum(plane, row, 1)));
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

/// Stores that nothing leaves the tile.
__device__ void store_nothing(const SplatArguments& a, const GatheredTile& tile) {
  const auto thread = static_cast<int>(threadIdx.x);
  const int planes = a.channels + 1;
  std::uint64_t* columns = columns_of(a, tile.group, tile.row) + std::int64_t{tile.left()} * planes;
  for (int i = thread; i < planes * splat_tile_width; i += threads) columns[i] = 0;
  std::uint64_t* rows = rows_of(a, tile.group, tile.top()) + std::int64_t{tile.column} * planes;
  for (int i = thread; i < planes * splat_tile_height; i += threads)
    rows[std::int64_t{i / planes} * a.tile_columns * planes + i % planes] = 0;
}

struct TileRecords {
  RecordsAround visible;
  RecordsAround listed;
  bool has_direct;

  /// Whether more low parts may meet in a word than it holds; the same in all warps.
  [[nodiscard]] __device__ bool fill_words(std::int32_t reach, bool top) const {
    const int single = reach > unsettled_reach ? visible.count() : min(visible.count(), unsettled_corners);
    const int of_listed = top ? 2 * border_corners : 2;
    return single + double_corners + (top ? all_border_corners : 0) + of_listed * listed.count() >=
           most_low_parts;
  }
};

template <int Channels, int Planes, int Lanes, bool Padded, bool Short>
__device__ void make_planes(const SplatArguments& a, const GatheredTile& tile, const TileRecords& records,
                            int first, std::uint32_t* words) {
  TileSums<Planes, Lanes, Padded, Short> sums(words, tile.left(), tile.top());
  if (records.has_direct)
    sums.begin_with(a, tile_plane(a, tile.group, tile.index, 0), first);
  else
    sums.begin_with_nothing();
  __syncthreads();
  const bool top = tile.row == 0;
  const int visible = top ? unsettled_visible_top : unsettled_visible;
  const int unsettled = a.largest_reach > unsettled_reach ? visible : INT_MAX;
  gather<Channels, Short>(a, tile, records.visible, a.sums.records, unsettled, first, sums);
  if (records.listed.chunks() != 0) {
    if (Short && records.fill_words(a.largest_reach, top)) {
      __syncthreads();
      sums.settle();
      __syncthreads();
    }
    gather<Channels, Short>(a, tile, records.listed, a.sums.listed_records,
                     top ? unsettled_listed_top : unsettled_listed, first, sums);
  }
  __syncthreads();
  store_sums<Planes>(a, tile, first, sums);
  __syncthreads();
}

/// Tile `number` of all groups' tiles.
__device__ GatheredTile numbered_tile(const SplatArguments& a, std::uint32_t number) {
  const auto tiles = static_cast<std::uint32_t>(tile_count(a));
  GatheredTile tile;
  tile.group = number / tiles;
  tile.index = number % tiles;
  tile.column = static_cast<std::int32_t>(tile.index % a.tile_columns);
  tile.row = static_cast<std::int32_t>(tile.index / a.tile_columns);
  return tile;
}
__device__ std::uint32_t tiles_of_groups(const SplatArguments& a) {
  return static_cast<std::uint32_t>(tile_count(a)) * (a.last_group + 1);
}

constexpr std::uint32_t records_of_bin = 768;
static_assert(order_bins == warp_size);

/// Sorts tiles into bins by the number of records that may reach them, so that long blocks start first.
/// Repetitions beyond the picture's border count as many records as the others.
__global__ void __launch_bounds__(threads) order_tiles(const __grid_constant__ SplatArguments a) {
  const std::uint32_t number = blockIdx.x * threads + threadIdx.x;
  const unsigned lanes = __ballot_sync(whole_warp, number < tiles_of_groups(a));
  if (number >= tiles_of_groups(a)) return;
  const GatheredTile tile = numbered_tile(a, number);
  std::uint32_t records = 0;
#pragma unroll 5
  for (int i = 0; i < columns_of_cells * rows_of_cells; ++i) {
    if (!cell_reaches(a, tile, i)) continue;
    const std::int64_t cell =
        tile.group * cell_count(a) + cell_of(a, left_of_cell(tile, i), top_of_cell(tile, i));
    records += a.sums.cells[cell].count + a.sums.listed[cell].count;
  }
  const bool on_border =
      tile.column == 0 || tile.row == 0 || tile.column + 1 == a.tile_columns || tile.row + 1 == a.tile_rows;
  if (on_border) records *= 2;
  const std::uint32_t bin =
      order_bins - 1 - min((records + records_of_bin - 1) / records_of_bin, order_bins - 1U);
  const unsigned same = __match_any_sync(lanes, bin);
  const int first = __ffs(static_cast<int>(same)) - 1;
  std::uint32_t place = 0;
  if (lane_index() == first)
    place = atomicAdd(a.sums.order_counts + bin, static_cast<std::uint32_t>(__popc(same)));
  place =
      __shfl_sync(same, place, first) + static_cast<std::uint32_t>(__popc(same & ((1U << lane_index()) - 1)));
  a.sums.order[bin * tiles_of_groups(a) + place] = number;
}

/// Returns the number of a block's tile.
__device__ std::uint32_t ordered_tile(const SplatArguments& a, std::uint32_t block) {
  const std::uint32_t own = a.sums.order_counts[lane_index()];
  const std::uint32_t end = inclusive_scan(own);
  const int bin = __popc(__ballot_sync(whole_warp, end <= block));
  const std::uint32_t before = __shfl_sync(whole_warp, end - own, bin);
  return a.sums.order[static_cast<std::uint32_t>(bin) * tiles_of_groups(a) + block - before];
}

template <int Channels, int Planes, int Lanes, bool Padded>
__global__ void __launch_bounds__(threads, Planes > 4 ? 2 : 3)
    gather_tiles(const __grid_constant__ SplatArguments a) {
  extern __shared__ uint4 tile_memory[];
  const GatheredTile tile = numbered_tile(a, ordered_tile(a, blockIdx.x));
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
  auto* words = reinterpret_cast<std::uint32_t*>(tile_memory);
  words += -__cvta_generic_to_shared(words) % 256 / sizeof(std::uint32_t);
  for (int first = 0; first <= Channels; first += Planes)
    if (a.short_sums)
      make_planes<Channels, Planes, Lanes, Padded, true>(a, tile, records, first, words);
    else
      make_planes<Channels, Planes, Lanes, Padded, false>(a, tile, records, first, words);
}

}  // namespace

std::size_t splat_shared_bytes(int planes) {
  static const int lanes = getenv("V_LANES") != nullptr ? atoi(getenv("V_LANES")) : 14;
  const int pitch = splat_tile_width + (lanes < 10 ? 0 : lanes == 12 ? 16 : (warp_size + planes - 1) / planes);
  return static_cast<std::size_t>(2 * planes * pitch * splat_tile_height) * sizeof(std::uint32_t) + 256;
}

int allow_splat(int channels) {
  return with_channels(channels, [&]<int Channels>() {
    if constexpr (Channels == 3) {
      static_cast<void>(allow_all_shared_memory(gather_tiles<Channels, Channels + 1, 1, false>));
      static_cast<void>(allow_all_shared_memory(gather_tiles<Channels, Channels + 1, 2, false>));
      static_cast<void>(allow_all_shared_memory(gather_tiles<Channels, Channels + 1, 2, true>));
      static_cast<void>(allow_all_shared_memory(gather_tiles<Channels, Channels + 1, 4, false>));
    }
    const int status = allow_all_shared_memory(gather_tiles<Channels, Channels + 1, Channels + 1, true>);
    return status != 0 ? status : allow_all_shared_memory(gather_tiles<Channels, 1, 1, true>);
  });
}

void splat_gather(const SplatArguments& a, StreamHandle stream) {
  const auto tiles = static_cast<unsigned>(tile_count(a)) * (a.last_group + 1);
  const std::size_t bytes = splat_shared_bytes(a.all_planes ? a.channels + 1 : 1);
  cudaMemsetAsync(a.sums.order_counts, 0, order_bins * sizeof(std::uint32_t), stream);
  order_tiles<<<blocks_for(tiles, threads), threads, 0, stream>>>(a);
  with_channels(a.channels, [&]<int Channels>() {
    static const int lanes = getenv("V_LANES") != nullptr ? atoi(getenv("V_LANES")) : 14;
    if constexpr (Channels == 3) {
      if (lanes == 1) return gather_tiles<Channels, 4, 1, false><<<tiles, threads, bytes, stream>>>(a);
      if (lanes == 2) return gather_tiles<Channels, 4, 2, false><<<tiles, threads, bytes, stream>>>(a);
      if (lanes == 12) return gather_tiles<Channels, 4, 2, true><<<tiles, threads, bytes, stream>>>(a);
      if (lanes == 4) return gather_tiles<Channels, 4, 4, false><<<tiles, threads, bytes, stream>>>(a);
    }
    a.all_planes ? gather_tiles<Channels, Channels + 1, Channels + 1, true><<<tiles, threads, bytes, stream>>>(a)
                 : gather_tiles<Channels, 1, 1, true><<<tiles, threads, bytes, stream>>>(a);
  });
}

}  // namespace satin::kernels
