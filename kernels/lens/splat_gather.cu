// Second stage of the splat on CUDA: sums the samples of one group in one tile.
//
// A block reads the records of all subcells that may reach its tile and adds the corners of their
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
// Boxes of an aperture's picture may touch at corners, where two of one sign meet: its sums are long.

#include <bit>
#include <climits>
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
/// Halves of odd rows are exchanged, so that two neighbouring rows of samples share no banks.
inline constexpr int exchanged = 16;

/// Alignment of the tile in shared memory.
inline constexpr std::uint32_t row_bytes = splat_tile_width * 4;
static_assert(std::has_single_bit(row_bytes));

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

/// Sums of `Planes` planes of a tile, by all threads of a block.
template <int Planes, bool Short>
class TileSums {
 public:
  /// Type of a colour, which is multiplied by a weight. Colours of short sums have at most 21 bits.
  using Factor = std::conditional_t<Short, std::uint32_t, std::uint64_t>;

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

  __device__ void begin_with_nothing() {
    for (int i = static_cast<int>(threadIdx.x); i < 2 * Planes * tile_words / 4; i += tile_threads)
      reinterpret_cast<uint4*>(words_)[i] = make_uint4(0, 0, 0, 0);
  }

  /// Begins with the second differences that were added one by one, of the tile's planes from `first` on.
  __device__ void begin_with(const SplatArguments& a, const std::uint64_t* direct, int first) {
    const auto thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < splat_tile_pixels; i += tile_threads) {
      const int column = i % splat_tile_width;
      Summand value;
#pragma unroll
      for (int plane = 0; plane < Planes; ++plane) {
        value.set(plane, direct[direct_place(a, i, first + plane)]);
        std::uint32_t* word = words_ + 2 * plane * tile_words + word_of(i / splat_tile_width, column);
        word[0] = value.low[plane];
        word[tile_words] = value.high[plane];
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

  /// Adds those corners of a staircase that lie in the tile, row by row.
  __device__ void add(const NearStaircase& stairs, std::int32_t x, std::int32_t y, std::int32_t more,
                      const Summand& value) const {
    const Summand taken = value.negative();
    std::uint32_t before[2] = {};
#pragma unroll
    for (int k = 0; k < NearStaircase::most_boxes; ++k) {
      if (k >= stairs.boxes) break;
      const std::uint32_t columns[2] = {column_place(x - stairs.wide[k]),
                                        column_place(x + stairs.wide[k] + more)};
      const std::uint32_t rows[2] = {row_place(y - stairs.high[k]), row_place(y + stairs.high[k] + more)};
#pragma unroll
      for (int lower = 0; lower < 2; ++lower) {
        if (rows[lower] == outside_row) continue;
        const Summand& left = lower == 0 ? value : taken;
        const Summand& right = lower == 0 ? taken : value;
        if (k > 0) add_pair(before, rows[lower], right, left);
        add_pair(columns, rows[lower], left, right);
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
      const std::uint32_t rows[2] = {row_place(y + box.top), row_place(y + box.bottom)};
      const std::uint32_t columns[2] = {column_place(x + box.left), column_place(x + box.right)};
      add_pair(columns, rows[0], value, taken);
      add_pair(columns, rows[1], taken, value);
    }
  }

  /// Adds one second difference.
  __device__ void add_step(std::int32_t x, std::int32_t y, const Summand& value) const {
    add_corner(column_place(x) ^ row_place(y), value);
  }

  /// Reduces each low word to one low part. The block synchronises before and after.
  __device__ void settle() {
    for (int i = static_cast<int>(threadIdx.x); i < Planes * tile_words / 4; i += tile_threads) {
      const int plane = i / (tile_words / 4);
      uint4* words = reinterpret_cast<uint4*>(words_) + (plane * tile_words / 4 + i);
      uint4 low = words[0];
      uint4 high = words[tile_words / 4];
      settle(low.x, high.x);
      settle(low.y, high.y);
      settle(low.z, high.z);
      settle(low.w, high.w);
      words[0] = low;
      words[tile_words / 4] = high;
    }
  }

  /// Second difference at column 2 * lane + odd.
  [[nodiscard]] __device__ std::uint64_t sum(int plane, int row, int odd) const {
    const std::uint32_t* word = words_ + 2 * plane * tile_words + word_of(row, 2 * lane_index() + odd);
    const std::uint32_t low = word[0];
    const std::uint32_t high = word[tile_words];
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
  /// Set in the address of a row or column outside the tile.
  static constexpr std::uint32_t outside_row = 1U << 31;
  static constexpr std::uint32_t outside_column = 1U << 30;

  [[nodiscard]] static __device__ int word_of(int row, int column) {
    return row * splat_tile_width + (column ^ (row & 1) * exchanged);
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
  /// A corner's address is the exclusive or of its row's and its column's.
  [[nodiscard]] __device__ std::uint32_t row_place(std::int32_t y) const {
    const auto row = static_cast<std::uint32_t>(row_of(y));
    return row < splat_tile_height ? base_ + row * row_bytes + (row & 1) * (exchanged * word_bytes)
                                   : outside_row;
  }
  [[nodiscard]] __device__ std::uint32_t column_place(std::int32_t x) const {
    const auto column = static_cast<std::uint32_t>(column_of(x));
    return column < splat_tile_width ? column * word_bytes : outside_column;
  }

  /// Adds the corners of a box in one row.
  __device__ void add_pair(const std::uint32_t (&columns)[2], std::uint32_t row, const Summand& left,
                           const Summand& right) const {
    add_corner(columns[0] ^ row, left);
    add_corner(columns[1] ^ row, right);
  }

  __device__ void add_corner(std::uint32_t address, const Summand& value) const {
    if (address >= outside_column) return;
#pragma unroll
    for (int plane = 0; plane < Planes; ++plane, address += 2 * tile_words * word_bytes) {
      const std::uint32_t high_address = address + tile_words * word_bytes;
      if constexpr (Short) {
        add_to_shared(address, value.low[plane]);
        // Weights, the last plane, have no high part where staircases are large.
        if (plane + 1 < Planes || value.high[plane] != 0) add_to_shared(high_address, value.high[plane]);
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

/// Records for a tile in the left and the right half of the lane's cell.
struct TileRecords {
  RecordRun visible[2];
  RecordRun listed[2];
};

/// Returns the records in those subcells of the lane's cell that may reach the tile.
__device__ TileRecords records_of_cell(const SplatArguments& a, const GatheredTile& tile, int number) {
  constexpr int rows = splat_subcells / 2;
  const std::int32_t x = left_of_cell(tile, number);
  const std::int32_t y = top_of_cell(tile, number);
  const std::int64_t place = tile.group * cell_count(a) + cell_of(a, x, y);
  const std::int32_t reach = min(a.sums.cells[place].reach, splat_reach);
  // A sample at row y has corners in rows y - reach to y + reach + 2, and the like in columns.
  const std::int32_t top = max((tile.top() - reach - y - 2) / subcell_height, 0);
  const std::int32_t bottom =
      min((tile.top() + splat_tile_height - 1 + reach - y) / subcell_height, rows - 1);
  TileRecords records{};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const std::int32_t left = x + half * subcell_width;
    if (left - reach >= tile.left() + splat_tile_width || left + subcell_width + 1 + reach < tile.left() ||
        top > bottom)
      continue;
    const int first = half * rows + top;
    const int last = half * rows + bottom;
    records.visible[half] = run_of_subcells(a.sums.visible, place, first, last);
    records.listed[half] = run_of_subcells(a.sums.listed, place, first, last);
  }
  return records;
}

/// Records of the cells around a tile, in chunks of 32. A lane has the records of one cell.
class RecordsAround {
 public:
  __device__ explicit RecordsAround(const RecordRun& run)
      : first_(run.first), count_(run.count), end_(inclusive_scan((run.count + warp_size - 1) / warp_size)) {}

  [[nodiscard]] __device__ int chunks() const {
    return static_cast<int>(__shfl_sync(whole_warp, end_, warp_size - 1));
  }

  struct Own {
    int cell;             ///< number of the cell
    bool exists;          ///< whether the lane has a record
    std::uint32_t place;  ///< index of the record
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

/// Adds one record to planes `first` and following.
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
    if (stairs.outline.count != 0)
      sums.add(a.kernels.outlines + stairs.outline.first, stairs.outline.count, x, y, value);
    else
      sums.add(stairs, x, y, more, value);
  }
}

/// Adds one record on the border of the picture, by all lanes of a warp.
template <int Channels, int Planes, bool Short>
__device__ void add_border_record(const SplatArguments& a, const SplatRecord& record, std::int32_t x,
                                  std::int32_t y, int first, const TileSums<Planes, Short>& sums) {
  using Sums = TileSums<Planes, Short>;
  const auto add = [&](std::uint32_t share, const BorderSteps::Step& row, const BorderSteps::Step& column,
                       bool taken) {
    const auto height = static_cast<std::uint32_t>(row.height * column.height);
    const bool negative = static_cast<std::int32_t>(height) < 0;
    typename Sums::Summand value;
#pragma unroll
    for (int plane = 0; plane < Planes; ++plane)
      value.set(plane, std::uint64_t{value_of<Channels, typename Sums::Factor>(record, first + plane)} *
                           share * (negative ? 0 - height : height));
    sums.add_step(column.place, row.place, negative != taken ? value.negative() : value);
  };
#pragma unroll 1
  for (int k = 0; k < 2; ++k) {
    const std::uint32_t share = k == 0 ? record.share[0] : record.share[1];
    if (share == 0) continue;
    const Staircase& stairs = a.kernels.staircases[k == 0 ? record.staircase[0] : record.staircase[1]];
    const std::int32_t reach = stairs.reach;
    if (reach > splat_reach || !sums.meets(x - reach, x + reach + 1, y - reach, y + reach + 1)) continue;
    for_boxes(stairs, a.kernels.outlines, 1, [&](const KernelBox& box, std::int32_t sign) {
      const BorderSteps rows(y, box.top, box.bottom - 1, a.height);
      const BorderSteps columns(x, box.left, box.right - 1, a.width);
#pragma unroll 1
      for (std::int32_t i = lane_index(); i < rows.count() * columns.count(); i += warp_size)
        add(share, rows[i / columns.count()], columns[i % columns.count()], sign < 0);
    });
  }
}

/// Adds all records to planes `first` and following. Words are settled after `unsettled` chunks.
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
      const std::int32_t left = left_of_cell(tile, own.cell);
      const std::int32_t top = top_of_cell(tile, own.cell);
      const bool whole_warp_adds = cell_on_border(a, left, top);
      unsigned together = 0;
      if (own.exists) {
        const SplatRecord record = record_at(records, own.place);
        const RecordPlace place(record.place);
        const bool on_border = whole_warp_adds && is_repeated(a, place, left, top);
        if (!on_border) add_record<Channels>(a, record, left + place.x(), top + place.y(), first, sums);
        together = on_border ? 1 : 0;
      }
      if (!whole_warp_adds) continue;
      for (together = __ballot_sync(whole_warp, together); together != 0; together &= together - 1) {
        const SplatRecord record =
            record_at(records, __shfl_sync(whole_warp, own.place, __ffs(static_cast<int>(together)) - 1));
        const RecordPlace place(record.place);
        add_border_record<Channels>(a, record, left + place.x(), top + place.y(), first, sums);
      }
    }
  }
}

__device__ ulonglong2 summed_along(ulonglong2 pair) {
  const std::uint64_t both = inclusive_scan(static_cast<std::uint64_t>(pair.x + pair.y));
  return make_ulonglong2(both - pair.y, both);
}

/// Integrates the second differences and stores the sums. A warp takes half of the rows of a plane.
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

/// Whether more low parts may meet in a word than it holds; the same in all warps.
__device__ bool fill_words(const TileRecords& records, std::int32_t reach, bool top) {
  const auto visible = static_cast<int>(sum_of_lanes(records.visible[0].count + records.visible[1].count));
  const auto listed = static_cast<int>(sum_of_lanes(records.listed[0].count + records.listed[1].count));
  const int single = reach > unsettled_reach ? visible : min(visible, unsettled_corners);
  const int of_listed = top ? 2 * border_corners : 2;
  return single + double_corners + (top ? all_border_corners : 0) + of_listed * listed >= most_low_parts;
}

template <int Channels, int Planes, bool Short>
__device__ void make_planes(const SplatArguments& a, const GatheredTile& tile, const TileRecords& records,
                            bool has_direct, int first, std::uint32_t* words) {
  TileSums<Planes, Short> sums(words, tile.left(), tile.top());
  if (has_direct)
    sums.begin_with(a, tile_plane(a, tile.group, tile.index, 0), first);
  else
    sums.begin_with_nothing();
  __syncthreads();
  const bool top = tile.row == 0;
  const int visible = top ? unsettled_visible_top : unsettled_visible;
  const int unsettled = a.largest_reach > unsettled_reach ? visible : INT_MAX;
#pragma unroll 1
  for (int part = 0; part < 4; ++part) {
    const bool listed = part >= 2;
    const RecordRun left = listed ? records.listed[0] : records.visible[0];
    const RecordRun right = listed ? records.listed[1] : records.visible[1];
    const RecordsAround around(part % 2 == 0 ? left : right);
    if (around.chunks() == 0) continue;
    const bool settles = listed ? fill_words(records, a.largest_reach, top) : unsettled != INT_MAX;
    if (Short && part != 0 && settles) {
      __syncthreads();
      sums.settle();
      __syncthreads();
    }
    gather<Channels>(a, tile, around, listed ? a.sums.listed_records : a.sums.records,
                     !listed ? unsettled
                     : top   ? unsettled_listed_top
                             : unsettled_listed,
                     first, sums);
  }
  __syncthreads();
  store_sums(a, tile, first, sums);
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
    records += a.sums.cells[cell].count + run_of_subcells(a.sums.listed, cell, 0, splat_subcells - 1).count;
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

template <int Channels, int Planes>
__global__ void __launch_bounds__(threads, Planes > 4 ? 2 : 3)
    gather_tiles(const __grid_constant__ SplatArguments a) {
  extern __shared__ uint4 tile_memory[];
  const GatheredTile tile = numbered_tile(a, ordered_tile(a, blockIdx.x));
  const unsigned cells = cells_that_reach(a, tile);
  const std::int64_t mark = tile.group * tile_count(a) + tile.index;
  const bool has_direct = a.sums.direct[mark] != 0;
  if (threadIdx.x == 0) a.sums.spread[mark] = cells != 0 || has_direct ? 1 : 0;
  if (cells == 0 && !has_direct) return store_nothing(a, tile);
  TileRecords records{};
  if ((cells >> lane_index() & 1) != 0) records = records_of_cell(a, tile, lane_index());
  auto* words = reinterpret_cast<std::uint32_t*>(tile_memory);
  words += -__cvta_generic_to_shared(words) % row_bytes / sizeof(std::uint32_t);
  for (int first = 0; first <= Channels; first += Planes)
    if (a.short_sums)
      make_planes<Channels, Planes, true>(a, tile, records, has_direct, first, words);
    else
      make_planes<Channels, Planes, false>(a, tile, records, has_direct, first, words);
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
  const auto tiles = static_cast<unsigned>(tile_count(a)) * (a.last_group + 1);
  const std::size_t bytes = splat_shared_bytes(a.all_planes ? a.channels + 1 : 1);
  cudaMemsetAsync(a.sums.order_counts, 0, order_bins * sizeof(std::uint32_t), stream);
  order_tiles<<<blocks_for(tiles, threads), threads, 0, stream>>>(a);
  with_channels(a.channels, [&]<int Channels>() {
    a.all_planes ? gather_tiles<Channels, Channels + 1><<<tiles, threads, bytes, stream>>>(a)
                 : gather_tiles<Channels, 1><<<tiles, threads, bytes, stream>>>(a);
  });
}

}  // namespace satin::kernels
