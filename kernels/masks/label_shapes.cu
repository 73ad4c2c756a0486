// Positions and sizes of components: runs are summed in shared memory for every part of a tile, then each
// part is added to its component by atomic operations. All sums are integers, so their order does not matter.
// Two shortcuts avoid contention on large components: a warp first sums the part that most of its lanes have,
// and a block collects the component that is common in its tiles.

#include <algorithm>

#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/masks/label_words.cuh"

namespace satin::kernels {
namespace {

constexpr int parts_at_once = tuning::label_parts_in_flight;
constexpr int kept_parts = tuning::label_tile_slots;
constexpr int parts_per_thread = kept_parts / tile_threads;
static_assert(kept_parts % tile_threads == 0);
constexpr std::uint32_t none = 0xFFFFFFFFU;

/// Sums over pixels of one tile, in coordinates of the tile. A tile has 2^13 pixels, so the area needs 14
/// bits, the sum of rows 18 (258048 over a whole tile), and the sum of columns 20 (520192).
struct TileSums {
  std::uint32_t area_and_rows;  ///< area in the lower 14 bits
  std::uint32_t columns;
  std::uint32_t from_right;  ///< the largest of tile_last - column
  std::uint32_t right;
  std::uint32_t bottom;
};
constexpr int area_bits = 14;
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

__device__ TileSums joined_over_warp(const TileSums& sums) {
  return {__reduce_add_sync(whole_warp, sums.area_and_rows), __reduce_add_sync(whole_warp, sums.columns),
          __reduce_max_sync(whole_warp, sums.from_right), __reduce_max_sync(whole_warp, sums.right),
          __reduce_max_sync(whole_warp, sums.bottom)};
}

/// Reads before the atomic operation: most runs of a large component change nothing.
__device__ void raise(std::uint32_t* largest, std::uint32_t value) {
  if (*static_cast<volatile std::uint32_t*>(largest) < value) atomicMax(largest, value);
}

__device__ void add(TileSums& into, const TileSums& run) {
  atomicAdd(&into.area_and_rows, run.area_and_rows);
  atomicAdd(&into.columns, run.columns);
  atomicMax(&into.from_right, run.from_right);
  atomicMax(&into.right, run.right);
  atomicMax(&into.bottom, run.bottom);
}

__device__ void add(std::uint64_t* sum, std::uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

/// Returns a shape without pixels, whose first pixel is that of a part.
__device__ RegionShape shape_from(const LabelArguments& arguments, const Tile& tile, const PartPlace& first) {
  const std::uint32_t y = tile.row + first.row;
  RegionShape shape{};
  shape.first = static_cast<std::uint32_t>(y * arguments.job.width + tile.word * label_word + first.column);
  shape.left = none;
  shape.top = y;
  return shape;
}

__device__ void fill(RegionShape& shape, const TileSums& sums, const Tile& tile) {
  const std::uint32_t x = tile.word * static_cast<std::uint32_t>(label_word);
  shape.area = sums.area_and_rows & ((1U << area_bits) - 1);
  shape.left = x + (tile_last - sums.from_right);
  shape.right = x + sums.right;
  shape.bottom = tile.row + sums.bottom;
  shape.sum_x = sums.columns + std::uint64_t{x} * shape.area;
  shape.sum_y = (sums.area_and_rows >> area_bits) + std::uint64_t{tile.row} * shape.area;
}

__device__ void add(RegionShape& into, const RegionShape& part) {
  atomicAdd(&into.area, part.area);
  add(&into.sum_x, part.sum_x);
  add(&into.sum_y, part.sum_y);
  if (*static_cast<volatile std::uint32_t*>(&into.left) > part.left) atomicMin(&into.left, part.left);
  raise(&into.right, part.right);
  raise(&into.bottom, part.bottom);
}

/// Sums over the parts of one component in several tiles, which are then added to it at once.
struct Gathered {
  std::uint32_t label = 0;  ///< 0: none
  RegionShape shape;
};

__device__ void add(Gathered& into, std::uint32_t label, const RegionShape& part, RegionShape* shapes) {
  RegionShape& all = into.shape;
  if (into.label == label) {
    all.area += part.area;
    all.sum_x += part.sum_x;
    all.sum_y += part.sum_y;
    all.left = min(all.left, part.left);
    all.right = max(all.right, part.right);
    all.bottom = max(all.bottom, part.bottom);
    return;
  }
  if (into.label != 0) add(shapes[into.label - 1], all);
  into.label = label;
  all = part;
}

/// Whether a part is a whole component, whose shape is stored directly. Other parts are added to the shapes
/// that start_shapes() initializes.
__device__ bool is_whole(const PartPlace& place, std::uint32_t part) {
  return !place.at_side && part < kept_parts;
}

/// Initializes the shapes of the components that are added up from parts.
__global__ void __launch_bounds__(tile_threads)
    start_shapes(const __grid_constant__ LabelArguments arguments, RegionShape* shapes) {
  const Tile tile = tile_at(arguments.tiles, blockIdx.x);
  const std::uint32_t first = first_of(arguments.tiles, tile.index);
  const std::uint32_t parts = arguments.parts[tile.index];
  for (std::uint32_t from = threadIdx.x; from < parts; from += parts_at_once * tile_threads) {
    std::uint16_t places[parts_at_once];
    std::uint32_t labels[parts_at_once];
#pragma unroll
    for (int i = 0; i < parts_at_once; ++i) {
      const std::uint32_t part = min(from + i * tile_threads, parts - 1);
      places[i] = arguments.part_place[first + part];
      labels[i] = arguments.parents[first + part];
    }
#pragma unroll
    for (int i = 0; i < parts_at_once; ++i) {
      const std::uint32_t part = from + i * tile_threads;
      const PartPlace place = unpacked(places[i]);
      if (part >= parts || is_whole(place, part)) continue;
      const std::int64_t word =
          (tile.row + place.row) * arguments.tiles.words + tile.word + place.column / label_word;
      if ((arguments.firsts[word] >> place.column % label_word & 1U) != 0)
        shapes[labels[i] - 1] = shape_from(arguments, tile, place);
    }
  }
}

/// Returns the part of most lanes' first runs, `none` if no lane has a run.
__device__ std::uint32_t frequent_part(std::uint32_t mine) {
  const unsigned same = __match_any_sync(whole_warp, mine);
  const unsigned lanes = mine == none ? 0 : __popc(same);
  const unsigned most = __reduce_max_sync(whole_warp, lanes);
  const unsigned those = __ballot_sync(whole_warp, lanes == most);
  return __shfl_sync(whole_warp, mine, __ffs(static_cast<int>(those)) - 1);
}

struct Shared {
  TileSums sums[kept_parts];
  std::uint16_t part_of_run[tile_runs];
  std::uint32_t common_label;  ///< label of a component with many runs, 0 if there are no runs
  TileSums common;             ///< sums of its parts that are not whole
  Gathered gathered;
};

/// Sums the runs of a tile by parts. The caller waits for all threads afterwards.
__device__ void sum_runs(const LabelArguments& arguments, const Tile& tile, Shared& shared,
                         RegionShape* shapes) {
  const int index = static_cast<int>(threadIdx.x);
  const int row = index / tile_words;
  const std::uint32_t first = first_of(arguments.tiles, tile.index);
  const std::uint32_t runs = arguments.runs[tile.index];
  for (std::uint32_t run = threadIdx.x; run < runs; run += tile_threads)
    shared.part_of_run[run] = arguments.part_of_run[first + run];
  const TileWord mine = tile_word(arguments, tile, threadIdx.x);
  __syncthreads();
  const std::uint32_t last_run = mine.before - 1;
  const auto part_at = [&](int bit) -> std::uint32_t {
    return shared.part_of_run[last_run + __popc(mine.starts & up_to(bit))];
  };
  const std::uint32_t common_part =
      frequent_part(mine.word == 0 ? none : part_at(__ffs(static_cast<int>(mine.word)) - 1));
  if (index == 0) shared.common_label = common_part == none ? 0 : arguments.parents[first + common_part];
  TileSums common_in_warp{};
  const auto add_to = [&](std::uint32_t part, const TileSums& sums) {
    if (part < kept_parts) {
      add(shared.sums[part], sums);
    } else {
      RegionShape shape;
      fill(shape, sums, tile);
      add(shapes[arguments.parents[first + part] - 1], shape);
    }
  };
  const int first_column = index % tile_words * static_cast<int>(label_word);
  for (std::uint32_t starts = starts_of(mine.word, 0); starts != 0; starts &= starts - 1) {
    const int start = __ffs(static_cast<int>(starts)) - 1;
    const std::uint32_t gaps = ~(mine.word >> start);
    const int length = gaps == 0 ? 32 : __ffs(static_cast<int>(gaps)) - 1;
    const TileSums run = sums_of_run(static_cast<std::uint32_t>(first_column + start),
                                     static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(row));
    const std::uint32_t part = part_at(start);
    if (part == common_part)
      common_in_warp = joined(common_in_warp, run);
    else
      add_to(part, run);
  }
  common_in_warp = joined_over_warp(common_in_warp);
  if (lane_index() == 0 && common_part != none) add_to(common_part, common_in_warp);
}

__device__ void give_sums(const LabelArguments& arguments, const Tile& tile, Shared& shared,
                          RegionShape* shapes) {
  const std::uint32_t first = first_of(arguments.tiles, tile.index);
  const std::uint32_t kept =
      min(std::uint32_t{arguments.parts[tile.index]}, static_cast<std::uint32_t>(kept_parts));
  std::uint16_t places[parts_per_thread];
  std::uint32_t labels[parts_per_thread];
#pragma unroll
  for (int i = 0; i < parts_per_thread; ++i) {
    const std::uint32_t part = threadIdx.x + i * tile_threads;
    if (part >= kept) break;
    places[i] = arguments.part_place[first + part];
    labels[i] = arguments.parents[first + part];
  }
  __syncthreads();
  TileSums of_common{};
#pragma unroll
  for (int i = 0; i < parts_per_thread; ++i) {
    const std::uint32_t part = threadIdx.x + i * tile_threads;
    if (part >= kept) break;
    const PartPlace place = unpacked(places[i]);
    const TileSums sums = shared.sums[part];
    shared.sums[part] = {};
    if (!is_whole(place, part) && labels[i] == shared.common_label) {
      of_common = joined(of_common, sums);
      continue;
    }
    RegionShape shape = shape_from(arguments, tile, place);
    fill(shape, sums, tile);
    if (is_whole(place, part))
      shapes[labels[i] - 1] = shape;
    else
      add(shapes[labels[i] - 1], shape);
  }
  if (__any_sync(whole_warp, of_common.area_and_rows != 0)) {
    of_common = joined_over_warp(of_common);
    if (lane_index() == 0) add(shared.common, of_common);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  const std::uint32_t area_and_rows = atomicExch(&shared.common.area_and_rows, 0U);
  if (area_and_rows == 0) return;
  TileSums common = shared.common;
  common.area_and_rows = area_and_rows;
  shared.common = {};
  RegionShape shape;
  fill(shape, common, tile);
  add(shared.gathered, shared.common_label, shape, shapes);
}

/// Each block processes every gridDim.x-th tile.
__global__ void __launch_bounds__(tile_threads, tuning::label_shape_blocks)
    describe_tiles(const __grid_constant__ LabelArguments arguments, RegionShape* shapes) {
  __shared__ alignas(Shared) unsigned char memory[sizeof(Shared)];  // constructed by what follows
  auto& shared = *reinterpret_cast<Shared*>(memory);
  for (int part = static_cast<int>(threadIdx.x); part < kept_parts; part += tile_threads)
    shared.sums[part] = {};
  if (threadIdx.x == 0) {
    shared.common = {};
    shared.gathered.label = 0;
  }
  for (std::uint32_t index = blockIdx.x; index < arguments.tiles.count; index += gridDim.x) {
    const Tile tile = tile_at(arguments.tiles, index);
    sum_runs(arguments, tile, shared, shapes);
    give_sums(arguments, tile, shared, shapes);
  }
  __syncthreads();
  if (threadIdx.x == 0 && shared.gathered.label != 0)
    add(shapes[shared.gathered.label - 1], shared.gathered.shape);
}

}  // namespace

void describe_components(const LabelArguments& arguments, RegionShape* shapes, StreamHandle stream) {
  start_shapes<<<arguments.tiles.count, tile_threads, 0, stream>>>(arguments, shapes);
  describe_tiles<<<std::min(arguments.tiles.count, tuning::label_shape_grid), tile_threads, 0, stream>>>(
      arguments, shapes);
}

}  // namespace satin::kernels
