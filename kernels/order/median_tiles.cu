// Medians of square windows of 3 x 3 to 15 x 15 pixels, by exchanges that do not depend on the values.
//
// The windows of a tile of pixels share its core: the pixels that lie in all of them. The core is kept
// sorted, without the values that are too small or too large to be a median. The columns beside the core, and
// the rows above and below it, are sorted, too. A tile is halved again and again: a half has a larger core,
// into which it merges the columns that are new in it, and longer rows. When one pixel is left, its median is
// known (Sugy, Fast Median Filter with Hierarchical Tiling, SIGGRAPH 2025). Lists are merged by Batcher's
// odd-even merging (Sorting networks and their applications, 1968); the compiler drops the exchanges that no
// median needs. Everything stays in registers, and keys of 8 and 16 bits are processed in pairs, two in a
// word.
//
// 3 x 3 pixels: a thread has tiles of 2 x 2 pixels, one below the other, and reads them from global memory.
// Larger windows: a thread has one tile of 4 x 2 pixels for each lane of its words, and a block reads the
// pixels that its windows see into shared memory.
//
// Windows have fewer pixels that count where they leave a picture with Border::shrink, and where colours are
// transparent. Other kernels find their medians by bisection of their bits.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "extremes/maths/extreme.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/order/rank_plane.cuh"

namespace satin::kernels::median_tiles {

/// Two values of 16 bits.
struct Pair {
  std::uint32_t word;
};
__device__ inline Pair least(Pair a, Pair b) { return {__vminu2(a.word, b.word)}; }
__device__ inline Pair most(Pair a, Pair b) { return {__vmaxu2(a.word, b.word)}; }
__device__ inline std::int32_t least(std::int32_t a, std::int32_t b) { return min(a, b); }
__device__ inline std::int32_t most(std::int32_t a, std::int32_t b) { return max(a, b); }

/// A word that holds the keys of `lanes` tiles, which are processed together: two keys of 8 or 16 bits, or
/// one of a float.
template <class Key>
struct Word {
  using Value = Pair;
  static constexpr int lanes = 2;
  static __device__ Value pack(Key first, Key second) { return {first | std::uint32_t{second} << 16}; }
  static __device__ Key unpack(Value value, int lane) { return static_cast<Key>(value.word >> 16 * lane); }
};
template <>
struct Word<FloatKey> {
  using Value = FloatKey;
  static constexpr int lanes = 1;
  static __device__ Value pack(FloatKey first, FloatKey) { return first; }
  static __device__ FloatKey unpack(Value value, int) { return value; }
};

/// Calls action(0), action(1) ... action(Count - 1) without a loop, so that lists stay in registers.
template <class Action, int... I>
__device__ void each(const Action& action, std::integer_sequence<int, I...> /*places*/) {
  (action(I), ...);
}
template <int Count, class Action>
__device__ void each(const Action& action) {
  each(action, std::make_integer_sequence<int, Count>());
}

/// Values in rising order.
template <class Value, int Size>
struct List {
  static constexpr int size = Size;
  Value of[Size];
};

template <int First, class Value, int Size>
__device__ auto every_second(const List<Value, Size>& list) {
  List<Value, (Size + 1 - First) / 2> half;
  each<half.size>([&](int i) { half.of[i] = list.of[2 * i + First]; });
  return half;
}

template <class Value, int A, int B>
__device__ List<Value, A + B> merged(const List<Value, A>& a, const List<Value, B>& b) {
  if constexpr (A == 1 && B == 1) {
    return {{least(a.of[0], b.of[0]), most(a.of[0], b.of[0])}};
  } else if constexpr (A == 1) {
    return merged(b, a);
  } else {
    const auto even = merged(every_second<0>(a), every_second<0>(b));
    List<Value, A + B> result;
    result.of[0] = even.of[0];
    const auto interleave = [&](const auto& odd) {
      each<(A + B) / 2>([&](int i) {
        if (i < odd.size && i + 1 < even.size) {
          result.of[2 * i + 1] = least(odd.of[i], even.of[i + 1]);
          result.of[2 * i + 2] = most(odd.of[i], even.of[i + 1]);
        } else {
          result.of[2 * i + 1] = i < odd.size ? odd.of[i] : even.of[i + 1];
        }
      });
    };
    if constexpr (B == 1)
      interleave(every_second<1>(a));
    else
      interleave(merged(every_second<1>(a), every_second<1>(b)));
    return result;
  }
}

/// Merges the `Count` lists list_at(First), list_at(First + 1) and so on.
template <int First, int Count, class ListAt>
__device__ auto joined(const ListAt& list_at) {
  if constexpr (Count == 1)
    return list_at(First);
  else
    return merged(joined<First, Count / 2>(list_at), joined<First + Count / 2, Count - Count / 2>(list_at));
}

template <int Kept, class Value, int Size>
__device__ List<Value, Kept> middle_of(const List<Value, Size>& list) {
  static_assert((Size - Kept) % 2 == 0);
  List<Value, Kept> kept;
  each<Kept>([&](int i) { kept.of[i] = list.of[i + (Size - Kept) / 2]; });
  return kept;
}

/// Returns the value of rank Size + 1 of two lists: the smallest max(a[i - 1], b[Size - i]), because each of
/// these has at least Size + 1 values up to it.
template <class Value, int Size>
__device__ Value median_of(const List<Value, Size + 1>& a, const List<Value, Size>& b) {
  Value median = a.of[Size];
  each<Size>([&](int i) { median = least(median, most(a.of[i], b.of[Size - 1 - i])); });
  return median;
}

/// A tile of Along x Across pixels, whose windows have `Side` pixels along both axes. The first axis is the
/// vertical one if the tile is turned. Coordinates count from the first pixel that the windows see.
template <class Value, int Side, int Along, int Across, bool turned = false>
struct Tile {
  static_assert(Along == Across || Along == 2 * Across);
  static constexpr int length = Side - Along + 1;    ///< size of the core along the first axis
  static constexpr int breadth = Side - Across + 1;  ///< size of the core along the second axis
  /// A value of the core can be a median if at most half of the window is above it, and at most half below.
  static constexpr int kept = std::min(length * breadth, Side* Side + 1 - length * breadth);

  int along = 0;   ///< first pixel of the first window, along the first axis
  int across = 0;  ///< first pixel of the first window, along the second axis
  List<Value, kept> core;
  List<Value, breadth>
      columns[2 * Along - 1];                ///< lines across, before and behind the core; the last is unused
  List<Value, length> rows[2 * Across - 1];  ///< lines along, above and below the core; the last is unused

  /// Calls store(x, y, median) for every pixel of the tile. pixel(x, y) returns the value that windows see
  /// there.
  template <class Pixel, class Store>
  __device__ void find(const Pixel& pixel, const Store& store) const {
    find_half<0>(pixel, store);
    find_half<1>(pixel, store);
  }

  template <class Pixel>
  static __device__ Tile read(const Pixel& pixel) {
    Tile tile;
    tile.core = middle_of<kept>(
        joined<Along - 1, length>([&](int a) { return sorted_column(pixel, a, Across - 1); }));
    each<2 * (Along - 1)>(
        [&](int i) { tile.columns[i] = sorted_column(pixel, i < Along - 1 ? i : i + length, Across - 1); });
    each<2 * (Across - 1)>([&](int j) {
      const int b = j < Across - 1 ? j : j + breadth;
      tile.rows[j] = sorted_row<length>(pixel, Along - 1, b);
    });
    return tile;
  }

 private:
  template <class Pixel>
  static __device__ List<Value, 1> value_at(const Pixel& pixel, int a, int b) {
    return {{turned ? pixel(b, a) : pixel(a, b)}};
  }
  template <class Pixel>
  static __device__ List<Value, breadth> sorted_column(const Pixel& pixel, int a, int b) {
    return joined<0, breadth>([&](int i) { return value_at(pixel, a, b + i); });
  }
  template <int Count, class Pixel>
  static __device__ List<Value, Count> sorted_row(const Pixel& pixel, int a, int b) {
    return joined<0, Count>([&](int i) { return value_at(pixel, a + i, b); });
  }

  template <int part, class Pixel, class Store>
  __device__ void find_half(const Pixel& pixel, const Store& store) const {
    constexpr int half = Along / 2;
    constexpr int first_new = part == 0 ? half - 1 : Along - 1;
    if constexpr (half == 1 && Across == 1) {
      const int a = along + part;
      const Value median = median_of(core, columns[first_new]);
      turned ? store(across, a, median) : store(a, across, median);
    } else {
      using Half = Tile<Value, Side, Across, half, !turned>;
      Half found{across, along + part * half};
      found.core =
          middle_of<Half::kept>(merged(core, joined<first_new, half>([&](int i) { return columns[i]; })));
      each<2 * (half - 1)>([&](int i) {
        found.rows[i] = columns[i < half - 1 ? part * half + i : Along + part * half + i - half];
      });
      const int a = along + (part == 0 ? half - 1 : Side);
      each<2 * (Across - 1)>([&](int j) {
        const int b = across + (j < Across - 1 ? j : j + breadth);
        found.columns[j] = merged(rows[j], sorted_row<half>(pixel, a, b));
      });
      found.find(pixel, store);
    }
  }
};

}  // namespace satin::kernels::median_tiles

namespace satin::kernels {
namespace {

using namespace median_tiles;

constexpr int border_threads = 256;

/// Whether `Pixels` keys at the beginning of a row, or a multiple of them further on, are an aligned vector.
template <class Key, int Pixels>
bool is_aligned(const void* data, std::int64_t row) {
  return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(row)) %
             (Pixels * sizeof(Key)) ==
         0;
}

/// Stores the keys of the pixels from x on in row y, as far as these are in the picture.
template <class Key, int Pixels>
__device__ void store_keys(const RankArguments& run, bool aligned, int x, int y, Vector<Key, Pixels> keys) {
  if (y >= run.job.height) return;
  if (aligned && x + Pixels <= run.job.width) {
#pragma unroll
    for (Key& key : keys.of) key = run.plain ? turn_key(key) : key;
    *reinterpret_cast<Vector<Key, Pixels>*>(row_of<Key>(run.output, y) + x) = keys;
    return;
  }
#pragma unroll
  for (int i = 0; i < Pixels; ++i)
    if (x + i < run.job.width) store_key(run, x + i, y, run.channel, keys.of[i]);
}

/// Returns place_of(). Positions outside the picture are found by a call, because few need its many
/// instructions.
__device__ __noinline__ int place_beyond(int position, int size, Border border) {
  return static_cast<int>(source_of(position, size, border));
}
__device__ int place_at(int position, std::int64_t size, Border border) {
  if (position >= 0 && position < size) return position;
  return place_beyond(position, static_cast<int>(size), border);
}

/// Returns the coordinate of the picture that windows read for this position, or -1. No window sees positions
/// from size + Reach on. Windows that shrink read repeated border pixels.
template <int Reach>
__device__ int read_place(int position, std::int64_t size, Border border) {
  return place_at(min(position, static_cast<int>(size) + Reach - 1), size,
                  border == Border::shrink ? Border::clamp : border);
}

/// Keys XOR sign_of have the order of unsigned numbers.
template <class Key>
constexpr std::uint32_t sign_of = std::is_same_v<Key, FloatKey> ? 0x80000000U : 0;

/// Returns the median of a window that shrinks, found bit by bit from the highest: the lanes of a warp share
/// the window, and count its values up to a bound.
template <class Key, int Reach>
__device__ Key shrunk_median(const RankArguments& run, int x, int y) {
  constexpr int side = 2 * Reach + 1;
  constexpr int of_lane = (side * side + warp_size - 1) / warp_size;
  std::uint32_t values[of_lane];
  std::uint32_t count = 0;
#pragma unroll
  for (int i = 0; i < of_lane; ++i) {
    const int place = i * warp_size + lane_index();
    const int from_x = x - Reach + place % side;
    const int from_y = y - Reach + place / side;
    const bool exists = place < side * side && from_x >= 0 && from_x < run.job.width && from_y >= 0 &&
                        from_y < run.job.height;
    values[i] = exists
                    ? static_cast<std::uint32_t>(key_at<Key>(run, from_x, from_y, run.channel)) ^ sign_of<Key>
                    : 0xFFFFFFFFU;
    count += exists ? 1 : 0;
  }
  const std::uint32_t rank = rank_of(run.job.percent, sum_of_lanes(count));
  std::uint32_t median = 0;
  for (int bit = 8 * static_cast<int>(sizeof(Key)) - 1; bit >= 0; --bit) {
    const std::uint32_t bound = median + (1U << bit) - 1;
    std::uint32_t met = 0;
#pragma unroll
    for (const std::uint32_t value : values) met += value <= bound ? 1 : 0;
    if (sum_of_lanes(met) < rank) median += 1U << bit;
  }
  return static_cast<Key>(median ^ sign_of<Key>);
}

/// Finds the medians of all pixels whose windows shrink, one per warp: first whole rows at the top and the
/// bottom, then the left and right ends of the other rows.
template <class Key, int Reach>
__global__ void __launch_bounds__(border_threads)
    find_border_medians(const __grid_constant__ RankArguments run) {
  const auto width = static_cast<int>(run.job.width);
  const auto height = static_cast<int>(run.job.height);
  const int rows = min(height, 2 * Reach);
  const int columns = min(width, 2 * Reach);
  const auto behind = [](int place, int count, int size) {
    return place < Reach ? place : size - count + place;
  };
  auto i = static_cast<std::int64_t>(blockIdx.x) * (border_threads / warp_size) + threadIdx.x / warp_size;
  int x = 0;
  int y = 0;
  if (i < std::int64_t{rows} * width) {
    x = static_cast<int>(i % width);
    y = behind(static_cast<int>(i / width), rows, height);
  } else {
    i -= std::int64_t{rows} * width;
    if (i >= std::int64_t{columns} * (height - rows)) return;
    x = behind(static_cast<int>(i % columns), columns, width);
    y = Reach + static_cast<int>(i / columns);
  }
  const Key median = shrunk_median<Key, Reach>(run, x, y);
  if (lane_index() == 0) store_key(run, x, y, run.channel, median);
}

template <class Key, int Reach>
void launch_border(const RankArguments& arguments, StreamHandle stream) {
  const RankJob& job = arguments.job;
  if (job.border != Border::shrink || job.weighted) return;
  constexpr int warps = border_threads / warp_size;
  const std::int64_t pixels = std::min<std::int64_t>(job.height, 2 * Reach) * job.width +
                              std::min<std::int64_t>(job.width, 2 * Reach) * job.height;
  find_border_medians<Key, Reach><<<block_count(pixels, warps), border_threads, 0, stream>>>(arguments);
}

// Windows of 3 x 3 pixels. The second lane of a word has the tiles two pixels to the right of the first
// one's.

constexpr int nine_reach = 1;
constexpr int nine_tile = 2;
constexpr int nine_seen = nine_tile + 2 * nine_reach;
constexpr int nine_warps = 4;  // per block, one below the other
constexpr int nine_rows = 8;   // per thread

/// The columns that a thread finds medians of, and those around them.
template <class Key>
class ThreadColumns {
 public:
  using Value = typename Word<Key>::Value;
  static constexpr int pixels = nine_tile * Word<Key>::lanes;  ///< columns of medians
  static constexpr int keys = pixels + 2 * nine_reach;

  __device__ ThreadColumns(const RankArguments& run, int x, bool aligned) : run_(run), x_(x) {
    whole_ = aligned && x >= pixels && x + 2 * pixels <= run.job.width;
    if (whole_) return;
#pragma unroll
    for (int i = 0; i < keys; ++i)
      columns_[i] = read_place<nine_reach>(x - nine_reach + i, run.job.width, run.job.border);
  }

  __device__ void read(int y, Value (&row)[nine_seen]) const {
    const int from_y = read_place<nine_reach>(y, run_.job.height, run_.job.border);
    Key values[keys];
    if (whole_ && from_y >= 0) {
      read_whole(row_of<Key>(run_.source, from_y) + x_ - pixels, values);
    } else {
#pragma unroll
      for (int i = 0; i < keys; ++i) values[i] = key_or_outside<Key>(run_, columns_[i], from_y, run_.channel);
    }
#pragma unroll
    for (int i = 0; i < nine_seen; ++i) row[i] = Word<Key>::pack(values[i], values[i + pixels - nine_tile]);
  }

 private:
  static __device__ void read_whole(const Key* from, Key (&values)[keys]) {
    using Pixels = Vector<Key, pixels>;
    Pixels vectors[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) vectors[i] = reinterpret_cast<const Pixels*>(from)[i];
#pragma unroll
    for (int i = 0; i < keys; ++i) {
      const int column = pixels - nine_reach + i;
      values[i] = turn_key(vectors[column / pixels].of[column % pixels]);
    }
  }

  const RankArguments& run_;
  int x_;
  bool whole_;  ///< whether rows can be read as aligned vectors
  int columns_[keys] = {};
};

template <class Key>
__global__ void __launch_bounds__(nine_warps* warp_size)
    find_medians_of_nine(const __grid_constant__ RankArguments run, bool aligned) {
  using Columns = ThreadColumns<Key>;
  using Value = typename Columns::Value;
  const int x = (static_cast<int>(blockIdx.x) * warp_size + lane_index()) * Columns::pixels;
  const int warp = static_cast<int>(blockIdx.y) * nine_warps + static_cast<int>(threadIdx.x) / warp_size;
  if (x >= run.job.width) return;
  const Columns columns(run, x, aligned);
  const int first_y = warp * nine_rows;
  Value rows[nine_seen][nine_seen];
#pragma unroll
  for (int i = 0; i < 2 * nine_reach; ++i) columns.read(first_y - nine_reach + i, rows[nine_tile + i]);
#pragma unroll 2
  for (int y = first_y; y < min(first_y + nine_rows, static_cast<int>(run.job.height)); y += nine_tile) {
#pragma unroll
    for (int i = 0; i < nine_seen; ++i)
#pragma unroll
      for (int c = 0; c < nine_seen; ++c)
        if (i < 2 * nine_reach) rows[i][c] = rows[i + nine_tile][c];
    columns.read(y + nine_reach, rows[2]);
    columns.read(y + nine_reach + 1, rows[3]);
    Value medians[nine_tile][nine_tile];
    const auto pixel = [&](int column, int row) { return rows[row][column]; };
    Tile<Value, 2 * nine_reach + 1, nine_tile, nine_tile>::read(pixel).find(
        pixel, [&](int column, int row, Value median) { medians[row][column] = median; });
#pragma unroll
    for (int row = 0; row < nine_tile; ++row) {
      Vector<Key, Columns::pixels> keys;
#pragma unroll
      for (int i = 0; i < Columns::pixels; ++i)
        keys.of[i] = Word<Key>::unpack(medians[row][i % nine_tile], i / nine_tile);
      store_keys(run, aligned, x, y + row, keys);
    }
  }
}

template <class Key>
void launch_nine(const RankArguments& arguments, StreamHandle stream) {
  const RankJob& job = arguments.job;
  constexpr int pixels = ThreadColumns<Key>::pixels;
  const bool aligned = job.channels == 1 &&
                       is_aligned<Key, pixels>(arguments.source.data, arguments.source.row) &&
                       is_aligned<Key, pixels>(arguments.output.data, arguments.output.row);
  const dim3 blocks(block_count(job.width, pixels * warp_size),
                    block_count(job.height, nine_warps * nine_rows));
  find_medians_of_nine<Key><<<blocks, nine_warps * warp_size, 0, stream>>>(arguments, aligned);
  launch_border<Key, nine_reach>(arguments, stream);
}

// Windows of 5 x 5 to 15 x 15 pixels. The first lane of a word has the upper half of the block's rows, the
// second lane the lower half.

constexpr int tile_columns = 4;
constexpr int tile_rows = 2;      // 4 rows need fewer exchanges, but spill: 0.06 ms more at radius 6, H200
constexpr int tiles_across = 16;  // per block
constexpr int tiles_down = 8;     // per block
constexpr int tile_threads = tiles_across * tiles_down;
constexpr int tile_blocks = 2;  // per multiprocessor, at least: lets a thread have 255 registers

template <class Key, int Reach>
struct BlockPixels {
  using Value = typename Word<Key>::Value;
  static constexpr int columns = tiles_across * tile_columns;
  static constexpr int rows = tiles_down * tile_rows;  ///< rows of medians per lane
  static constexpr int block_rows = rows * Word<Key>::lanes;
  static constexpr int seen_columns = columns + 2 * Reach;
  static constexpr int seen_rows = rows + 2 * Reach;
  /// The first columns of all tiles are stored side by side, then the second ones, and so on. Each of these
  /// runs has 4 i + 2 columns, so that the two rows of tiles of a warp meet different banks.
  static constexpr int phase_stride = (seen_columns / tile_columns + 1 + 1) / 4 * 4 + 2;
  static_assert(phase_stride * tile_columns >= seen_columns &&
                tile_rows * tile_columns * phase_stride % 32 == 16);
  static constexpr int stride = tile_columns * phase_stride;

  Value values[seen_rows * stride];

  static __device__ constexpr int place(int x, int y) {
    return y * stride + x % tile_columns * phase_stride + x / tile_columns;
  }

  __device__ void read(const RankArguments& run, int first_x, int first_y) {
    const RankJob& job = run.job;
    const int left = first_x - Reach;
    const int top = first_y - Reach;
    const bool inside = left >= 0 && top >= 0 && left + seen_columns <= job.width &&
                        top + block_rows + 2 * Reach <= job.height;
    if (inside)
      return copy<4>([&](int x, int y) { return key_at<Key>(run, left + x, top + y, run.channel); });
    return copy<1>([&](int x, int y) {
      return key_or_outside<Key>(run, read_place<Reach>(left + x, job.width, job.border),
                                 read_place<Reach>(top + y, job.height, job.border), run.channel);
    });
  }

 private:
  /// `InFlight`: pixels of each lane that a thread reads together.
  template <int InFlight, class KeyAt>
  __device__ void copy(const KeyAt& key_at) {
    constexpr int pixels = seen_columns * seen_rows;
#pragma unroll InFlight
    for (int first = 0; first < pixels; first += tile_threads) {
      const int i = first + static_cast<int>(threadIdx.x);
      if (first + tile_threads > pixels && i >= pixels) break;
      const int column = i % seen_columns;
      const int row = i / seen_columns;
      const Key upper = key_at(column, row);
      Key lower = upper;
      if constexpr (Word<Key>::lanes == 2) lower = key_at(column, row + rows);
      values[place(column, row)] = Word<Key>::pack(upper, lower);
    }
  }
};

template <class Key, int Reach>
__global__ void __launch_bounds__(tile_threads, tile_blocks)
    find_medians_by_tiles(const __grid_constant__ RankArguments run, bool aligned) {
  using Pixels = BlockPixels<Key, Reach>;
  using Value = typename Pixels::Value;
  __shared__ Pixels pixels;
  const int first_x = static_cast<int>(blockIdx.x) * Pixels::columns;
  const int first_y = static_cast<int>(blockIdx.y) * Pixels::block_rows;
  pixels.read(run, first_x, first_y);
  __syncthreads();
  const int across = static_cast<int>(threadIdx.x) % tiles_across;
  const int down = static_cast<int>(threadIdx.x) / tiles_across;
  const Value* own = pixels.values + Pixels::place(tile_columns * across, tile_rows * down);
  const auto pixel = [&](int x, int y) { return own[Pixels::place(x, y)]; };
  Value medians[tile_rows][tile_columns];
  Tile<Value, 2 * Reach + 1, tile_columns, tile_rows>::read(pixel).find(
      pixel, [&](int x, int y, Value median) { medians[y][x] = median; });
#pragma unroll
  for (int lane = 0; lane < Word<Key>::lanes; ++lane) {
#pragma unroll
    for (int y = 0; y < tile_rows; ++y) {
      Vector<Key, tile_columns> keys;
#pragma unroll
      for (int x = 0; x < tile_columns; ++x) keys.of[x] = Word<Key>::unpack(medians[y][x], lane);
      store_keys(run, aligned, first_x + tile_columns * across,
                 first_y + lane * Pixels::rows + tile_rows * down + y, keys);
    }
  }
}

template <class Key, int Reach>
void launch_tiled(const RankArguments& arguments, StreamHandle stream) {
  using Pixels = BlockPixels<Key, Reach>;
  const RankJob& job = arguments.job;
  const bool aligned =
      job.channels == 1 && is_aligned<Key, tile_columns>(arguments.output.data, arguments.output.row);
  const dim3 blocks(block_count(job.width, Pixels::columns), block_count(job.height, Pixels::block_rows));
  find_medians_by_tiles<Key, Reach><<<blocks, tile_threads, 0, stream>>>(arguments, aligned);
  launch_border<Key, Reach>(arguments, stream);
}

// Pictures with alpha. Pixels beyond a border that shrinks windows do not count, nor do transparent ones for
// colours. The kernels above find medians of all pixels that they read. Here a block lists the windows with
// pixels that do not count, and a thread finds the median of one.

constexpr int partial_columns = 64;  // per block
constexpr int partial_rows = 32;     // per block
constexpr int partial_threads = 256;

template <class Key, int Reach>
class PartialWindows {
 public:
  /// Whether no window of the block leaves the picture.
  static __device__ bool is_inside(const RankJob& job) {
    return first_x() >= Reach && first_x() + partial_columns + Reach <= job.width && first_y() >= Reach &&
           first_y() + partial_rows + Reach <= job.height;
  }

  /// Lists the windows that have pixels which count and pixels which do not. Pixels of colours that stay
  /// transparent are stored at once. Returns the number of windows.
  __device__ int list(const RankArguments& run, int first, int last, bool hides) {
    const RankJob& job = run.job;
    if (!mark_missing(run, hides)) return 0;
    const int column = static_cast<int>(threadIdx.x) % partial_columns;
    const int first_row = static_cast<int>(threadIdx.x) / partial_columns * rows_of_thread;
    const int x = first_x() + column;
    const std::int64_t columns = counted(window_around(x, Reach), job.width, job.border);
    int missing = 0;
#pragma unroll
    for (int row = 0; row < 2 * Reach; ++row) missing += missing_in(column, first_row + row);
    for (int row = first_row; row < first_row + rows_of_thread; ++row) {
      missing += missing_in(column, row + 2 * Reach);
      const int y = first_y() + row;
      if (missing > 0 && x < job.width && y < job.height) {
        const std::int64_t rows = counted(window_around(y, Reach), job.height, job.border);
        const auto existing = static_cast<std::uint32_t>(columns * rows);
        const auto count = static_cast<std::uint32_t>(side * side - missing);
        if (count == 0 || (hides && run.plain && existing - count >= rank_of(job.percent, existing)))
          for (int c = first; c < last; ++c) store_key(run, x, y, c, key_at<Key>(run, x, y, c));
        else
          windows_[atomicAdd(&count_, 1)] = {static_cast<std::uint8_t>(column),
                                             static_cast<std::uint8_t>(row),
                                             static_cast<std::uint16_t>(rank_of(job.percent, count))};
      }
      missing -= missing_in(column, row);
    }
    __syncthreads();
    return count_;
  }

  /// Finds the medians of the windows in one channel.
  __device__ void find(const RankArguments& run, int channel) {
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < seen_rows * seen_columns; i += partial_threads) {
      const int row = i / seen_columns;
      const int column = i % seen_columns;
      const int x = place_at(first_x() - Reach + column, run.job.width, run.job.border);
      const int y = place_at(first_y() - Reach + row, run.job.height, run.job.border);
      const bool is_missing = (missing_[row][column / warp_size] >> column % warp_size & 1) != 0;
      keys_[row][column] = is_missing ? static_cast<Bits>(~Bits{0})
                                      : static_cast<Bits>(key_or_outside<Key>(run, x, y, channel) ^ sign);
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count_; i += partial_threads) {
      const Window window = windows_[i];
      std::uint32_t median = 0;
      for (int bit = 8 * static_cast<int>(sizeof(Key)) - 1; bit >= 0; --bit) {
        const std::uint32_t bound = median + (1U << bit) - 1;
        int met = 0;
        for (int row = 0; row < side; ++row)
#pragma unroll
          for (int column = 0; column < side; ++column)
            met += keys_[window.row + row][window.column + column] <= bound ? 1 : 0;
        if (met < window.rank) median += 1U << bit;
      }
      store_key(run, first_x() + window.column, first_y() + window.row, channel,
                static_cast<Key>(median ^ sign));
    }
  }

 private:
  static constexpr int side = 2 * Reach + 1;
  static constexpr int seen_columns = partial_columns + 2 * Reach;
  static constexpr int seen_rows = partial_rows + 2 * Reach;
  static constexpr int words = partial_columns / warp_size + 1;
  static constexpr int rows_of_thread = partial_rows * partial_columns / partial_threads;
  static_assert(2 * Reach < warp_size);

  /// Bits of a key, in an order without signs.
  using Bits = std::make_unsigned_t<Key>;
  static constexpr Bits sign = sign_of<Key>;

  struct Window {
    std::uint8_t column;
    std::uint8_t row;
    std::uint16_t rank;
  };

  static __device__ int first_x() { return static_cast<int>(blockIdx.x) * partial_columns; }
  static __device__ int first_y() { return static_cast<int>(blockIdx.y) * partial_rows; }

  /// Returns whether windows see a pixel that does not count.
  __device__ bool mark_missing(const RankArguments& run, bool hides) {
    const RankJob& job = run.job;
    const int left = first_x() - Reach;
    const int top = first_y() - Reach;
    const int last = job.channels - 1;
    if (is_inside(job))  // alpha hides pixels: otherwise the block would have nothing to do
      return mark([&](int column, int row) {
        return !counts(key_at<Key>(run, left + column, top + row, last), 1, false);
      });
    return mark([&](int column, int row) {
      const int x = place_at(left + column, job.width, job.border);
      const int y = place_at(top + row, job.height, job.border);
      const bool exists = job.border == Border::constant || (x >= 0 && y >= 0);
      return !exists || (hides && !counts(key_or_outside<Key>(run, x, y, last), 1, false));
    });
  }

  template <class IsMissing>
  __device__ bool mark(const IsMissing& is_missing) {
    constexpr int warps = partial_threads / warp_size;
    constexpr int rows_of_warp = (seen_rows + warps - 1) / warps;
    const int first_row = static_cast<int>(threadIdx.x) / warp_size;
    if (threadIdx.x == 0) count_ = 0;
    bool missing[rows_of_warp][words];  // all pixels are read before the first of them is waited for
#pragma unroll
    for (int i = 0; i < rows_of_warp; ++i)
#pragma unroll
      for (int word = 0; word < words; ++word) {
        const int row = first_row + i * warps;
        const int column = word * warp_size + lane_index();
        const bool is_seen = row < seen_rows && column < seen_columns;
        missing[i][word] = is_missing(min(column, seen_columns - 1), min(row, seen_rows - 1)) && is_seen;
      }
    bool found = false;
#pragma unroll
    for (int i = 0; i < rows_of_warp; ++i)
#pragma unroll
      for (int word = 0; word < words; ++word) {
        const int row = first_row + i * warps;
        const unsigned bits = __ballot_sync(whole_warp, missing[i][word]);
        if (lane_index() == 0 && row < seen_rows) missing_[row][word] = bits;
        found = found || missing[i][word];
      }
    return __syncthreads_or(found) != 0;
  }

  /// Returns the number of pixels that do not count in a row of the windows around a column.
  __device__ int missing_in(int column, int row) const {
    const std::uint32_t* bits = &missing_[row][column / warp_size];
    constexpr std::uint32_t window_bits = (2U << 2 * Reach) - 1;
    return __popc(__funnelshift_r(bits[0], bits[1], column % warp_size) & window_bits);
  }

  std::uint32_t missing_[seen_rows][words];  ///< a bit for each pixel
  Bits keys_[seen_rows][seen_columns];       ///< largest where pixels are missing
  Window windows_[partial_rows * partial_columns];
  int count_;  ///< windows
};

template <class Key, int Reach>
__global__ void __launch_bounds__(partial_threads)
    find_partial_medians(const __grid_constant__ RankArguments run) {
  __shared__ PartialWindows<Key, Reach> windows;
  const RankJob& job = run.job;
  const bool of_alpha = blockIdx.z != 0;
  if (of_alpha && windows.is_inside(job)) return;
  const int colours = job.channels - 1;
  const int first = of_alpha ? colours : 0;
  const int last = of_alpha ? job.channels : colours;
  if (windows.list(run, first, last, !of_alpha) == 0) return;
  for (int channel = first; channel < last; ++channel) windows.find(run, channel);
}

template <class Key, int Reach>
void launch_partial(const RankArguments& arguments, StreamHandle stream) {
  const RankJob& job = arguments.job;
  const dim3 blocks(block_count(job.width, partial_columns), block_count(job.height, partial_rows),
                    job.border == Border::shrink ? 2 : 1);
  find_partial_medians<Key, Reach><<<blocks, partial_threads, 0, stream>>>(arguments);
}

/// Calls launch.operator()<Key, Reach>() with the type of the keys and the reach of the windows.
template <class Launch>
void with_window(const RankJob& job, const Launch& launch) {
  with_key(job.type, [&]<class Key>() {
    const auto try_reach = [&]<int Reach>() {
      if (job.reach.x == Reach) launch.template operator()<Key, Reach>();
    };
    [&]<int... I>(std::integer_sequence<int, I...>) { (try_reach.template operator()<I + 1>(), ...); }
    (std::make_integer_sequence<int, largest_tiled_reach>());
  });
}

}  // namespace

void medians_by_networks(const RankArguments& arguments, StreamHandle stream) {
  with_window(arguments.job, [&]<class Key, int Reach>() {
    if constexpr (Reach == nine_reach)
      launch_nine<Key>(arguments, stream);
    else
      launch_tiled<Key, Reach>(arguments, stream);
  });
}

void partial_medians(const RankArguments& arguments, StreamHandle stream) {
  with_window(arguments.job, [&]<class Key, int Reach>() { launch_partial<Key, Reach>(arguments, stream); });
}

}  // namespace satin::kernels
