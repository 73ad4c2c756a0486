// Places and sizes of components: sums of runs in shared memory for every component of a tile, then one
// atomic operation a number. Integers: their order does not matter.

#include "kernels/label_words.cuh"
#include "kernels/tuning.h"
#include "kernels/warp.cuh"

namespace satin::kernels {
namespace {

constexpr int word_threads = tuning::label_word_threads;
constexpr int slots = tuning::label_tile_slots;
constexpr std::uint32_t none = 0xFFFFFFFFU;

/// Sums over pixels of one tile, by their places in it: at most 2^13 pixels, so that the area needs 14 bits,
/// the rows, of which the greatest is 63, need 18 (their sum over a whole tile is 258048), and the columns 20
/// (520192).
struct TileSums {
  std::uint32_t area_and_rows;  ///< area in the lower 14 bits
  std::uint32_t columns;
  std::uint32_t from_right;  ///< the largest of tile_last - column
  std::uint32_t right;
  std::uint32_t bottom;
};
constexpr int area_bits = 14;
constexpr int tile_last = tile_words * static_cast<int>(label_word) - 1;
static_assert((tile_last + 1) * tile_rows < 1 << area_bits);
static_assert((tile_last + 1) * tile_rows * (tile_rows - 1) / 2 < 1 << (32 - area_bits));

__device__ TileSums sums_of_run(std::uint32_t column, std::uint32_t length, std::uint32_t row) {
  TileSums sums;
  sums.area_and_rows = length | row * length << area_bits;
  sums.columns = length * column + length * (length - 1) / 2;
  sums.from_right = tile_last - column;
  sums.right = column + length - 1;
  sums.bottom = row;
  return sums;
}

__device__ TileSums joined(const TileSums& a, const TileSums& b) {
  return {a.area_and_rows + b.area_and_rows, a.columns + b.columns, max(a.from_right, b.from_right),
          max(a.right, b.right), max(a.bottom, b.bottom)};
}

/// Reads first: most runs of a large component change nothing.
__device__ void raise(std::uint32_t* largest, std::uint32_t value) {
  if (*static_cast<volatile std::uint32_t*>(largest) < value) atomicMax(largest, value);
}

__device__ void add(TileSums& into, const TileSums& run) {
  atomicAdd(&into.area_and_rows, run.area_and_rows);
  atomicAdd(&into.columns, run.columns);
  raise(&into.from_right, run.from_right);
  raise(&into.right, run.right);
  raise(&into.bottom, run.bottom);
}

__device__ void add(std::uint64_t* sum, std::uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

/// One component in a tile whose first pixel is (x, y).
__device__ RegionShape shape_of(const TileSums& sums, std::uint32_t x, std::uint32_t y) {
  RegionShape shape{};
  shape.area = sums.area_and_rows & ((1U << area_bits) - 1);
  shape.left = x + (tile_last - sums.from_right);
  shape.right = x + sums.right;
  shape.bottom = y + sums.bottom;
  shape.sum_x = sums.columns + std::uint64_t{x} * shape.area;
  shape.sum_y = (sums.area_and_rows >> area_bits) + std::uint64_t{y} * shape.area;
  return shape;
}

__device__ void add(RegionShape& into, const RegionShape& part) {
  atomicAdd(&into.area, part.area);
  add(&into.sum_x, part.sum_x);
  add(&into.sum_y, part.sum_y);
  if (*static_cast<volatile std::uint32_t*>(&into.left) > part.left) atomicMin(&into.left, part.left);
  raise(&into.right, part.right);
  raise(&into.bottom, part.bottom);
}

/// All but the first pixel and the top, which are known.
__device__ void store(RegionShape& into, const RegionShape& whole) {
  into.area = whole.area;
  into.left = whole.left;
  into.right = whole.right;
  into.bottom = whole.bottom;
  into.sum_x = whole.sum_x;
  into.sum_y = whole.sum_y;
}

/// Shapes without pixels, but with their first ones: those of the roots.
__global__ void __launch_bounds__(word_threads)
    start_shapes(const __grid_constant__ LabelArguments arguments, std::int64_t count, RegionShape* shapes) {
  const std::int64_t place = std::int64_t{blockIdx.x} * word_threads + threadIdx.x;
  if (place >= count) return;
  std::uint32_t index = arguments.before[place];
  const std::uint32_t word = arguments.bits[place];
  const std::int64_t y = place / arguments.words;
  const std::int64_t x = place % arguments.words * label_word;
  for (std::uint32_t left = arguments.roots[place]; left != 0; left &= left - 1) {
    const std::int64_t at = x + start_of_entry(word, __ffs(static_cast<int>(left)) - 1);
    shapes[index++] = {static_cast<std::uint32_t>(y * arguments.job.width + at),
                       0,
                       none,
                       0,
                       static_cast<std::uint32_t>(y),
                       0,
                       0,
                       0};
  }
}

/// The number of a tile's roots before this thread's word, by two scans of warps.
__device__ int roots_before(int mine, int* of_warps) {
  const int scanned = inclusive_scan(mine);
  if (lane_index() == warp_size - 1) of_warps[threadIdx.x / warp_size] = scanned;
  __syncthreads();
  int before = scanned - mine;
  for (int warp = 0; warp < static_cast<int>(threadIdx.x) / warp_size; ++warp) before += of_warps[warp];
  return before;
}

__global__ void __launch_bounds__(tile_threads)
    describe_tiles(const __grid_constant__ LabelArguments arguments, RegionShape* shapes) {
  __shared__ TileSums sums[slots];
  __shared__ int first_slot[tile_threads];
  __shared__ int of_warps[tile_threads / warp_size];
  for (int slot = static_cast<int>(threadIdx.x); slot < slots; slot += tile_threads) sums[slot] = {};

  const Tile tile = tile_of_block(arguments);
  const int index = static_cast<int>(threadIdx.x);
  const int column = index % tile_words;
  const int row = index / tile_words;
  const std::int64_t place = (tile.row + row) * arguments.words + tile.word + column;
  const bool exists = tile.row + row < arguments.job.height && tile.word + column < arguments.words;
  const std::uint32_t word = exists ? arguments.bits[place] : 0;
  const std::uint32_t roots = exists ? arguments.tile_roots[place] : 0;
  first_slot[index] = roots_before(__popc(roots), of_warps);
  __syncthreads();

  const auto x = static_cast<std::uint32_t>(tile.word * label_word);
  const auto y = static_cast<std::uint32_t>(tile.row);
  std::int64_t pending_root = -1;  // runs of one component in a word are joined first
  TileSums pending{};
  const auto flush = [&] {
    if (pending_root < 0) return;
    const std::int64_t root_place = pending_root / label_entries;
    const auto words_above = static_cast<std::uint32_t>(root_place - tile.row * arguments.words);
    const std::uint32_t root_row = words_above / static_cast<std::uint32_t>(arguments.words);
    const auto root_column = static_cast<std::uint32_t>(words_above - root_row * arguments.words - tile.word);
    const std::uint32_t earlier =
        arguments.tile_roots[root_place] & ((1U << pending_root % label_entries) - 1);
    const int slot = first_slot[root_row * tile_words + root_column] + __popc(earlier);
    if (slot < slots)
      add(sums[slot], pending);
    else
      add(shapes[arguments.parents[pending_root] - 1], shape_of(pending, x, y));
  };
  for (std::uint32_t starts = starts_of(word); starts != 0; starts &= starts - 1) {
    const int start = __ffs(static_cast<int>(starts)) - 1;
    const std::uint32_t gaps = ~(word >> start);
    const int length = gaps == 0 ? 32 : __ffs(static_cast<int>(gaps)) - 1;
    const TileSums run = sums_of_run(static_cast<std::uint32_t>(column * label_word + start),
                                     static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(row));
    const std::int64_t entry = place * label_entries + start / 2;
    const bool is_root = (roots >> start / 2 & 1U) != 0;
    const std::int64_t root = is_root ? entry : arguments.parents[entry];
    if (root == pending_root) {
      pending = joined(pending, run);
      continue;
    }
    flush();
    pending_root = root;
    pending = run;
  }
  flush();
  __syncthreads();
  int slot = first_slot[index];
  for (std::uint32_t left = roots; left != 0 && slot < slots; left &= left - 1, ++slot) {
    const std::uint32_t label = arguments.parents[place * label_entries + __ffs(static_cast<int>(left)) - 1];
    const TileSums& found = sums[slot];
    const RegionShape shape = shape_of(found, x, y);
    const bool whole = row > 0 && found.bottom < tile_rows - 1 && found.from_right < tile_last &&
                       found.right < tile_last;  // it reaches no other tile
    if (whole)
      store(shapes[label - 1], shape);
    else
      add(shapes[label - 1], shape);
  }
}

}  // namespace

void describe_components(const LabelArguments& arguments, RegionShape* shapes, StreamHandle stream) {
  const std::int64_t words = arguments.words * arguments.job.height;
  const auto blocks = static_cast<unsigned>((words + word_threads - 1) / word_threads);
  start_shapes<<<blocks, word_threads, 0, stream>>>(arguments, words, shapes);
  describe_tiles<<<tiles_of(arguments), tile_threads, 0, stream>>>(arguments, shapes);
}

}  // namespace satin::kernels
