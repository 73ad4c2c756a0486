// Connected components of the picture from those of its tiles (label_tiles.cu), which are called parts: parts
// are united across the seams of tiles by a union-find in global memory. Then a scan over the first pixels of
// components in raster order gives the labels (Playne and Hawick 2018; Allegretti, Bolelli, Grana 2019).

#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/masks/label_words.cuh"

namespace satin::kernels {
namespace {

constexpr int word_threads = tuning::label_word_threads;
constexpr int parts_at_once = tuning::label_parts_in_flight;
constexpr int pixels_of_word = static_cast<int>(label_word);

__device__ std::uint32_t part_of(const LabelArguments& arguments, std::int64_t y, std::int64_t column,
                                 int bit) {
  const LabelTiles& tiles = arguments.tiles;
  const std::int64_t place = y * tiles.words + column;
  const std::uint32_t left = column % tile_words != 0 ? arguments.bits[place - 1] : 0;
  const std::uint32_t starts = starts_of(arguments.bits[place], left) & up_to(bit);
  const std::uint32_t run = arguments.runs_before[place] + __popc(starts) - 1;
  const auto tile = static_cast<std::uint32_t>(y / tile_rows) * tiles.columns +
                    static_cast<std::uint32_t>(column / tile_words);
  return first_of(tiles, tile) + arguments.part_of_run[first_of(tiles, tile) + run];
}

/// Returns a word of the picture and those around it; the row above only if `with_above`.
__device__ Around around_word(const LabelArguments& arguments, std::int64_t y, std::int64_t column,
                              bool with_above) {
  const std::int64_t words = arguments.tiles.words;
  const std::int64_t place = y * words + column;
  const bool has_left = column > 0;
  const bool has_right = column + 1 < words;
  Around around;
  around.word = arguments.bits[place];
  if (has_left) around.left = arguments.bits[place - 1];
  if (has_right) around.right = arguments.bits[place + 1];
  if (!with_above) return around;
  const std::int64_t above = place - words;
  around.up = arguments.bits[above];
  if (has_left) around.up_left = arguments.bits[above - 1];
  if (has_right) around.up_right = arguments.bits[above + 1];
  return around;
}

/// Returns the root. Every node on the path gets its grandparent as parent (Jaiganesh and Burtscher 2018). A
/// node that is no root never becomes one again, so that no other thread's link is lost.
__device__ std::uint32_t short_path(volatile std::uint32_t* parents, std::uint32_t part) {
  std::uint32_t parent = parents[part];
  while (parent != part) {
    const std::uint32_t above = parents[parent];
    if (above != parent) parents[part] = above;
    part = parent;
    parent = above;
  }
  return part;
}

/// Hangs the root that begins later under the other one. Tries again if another thread was faster.
__device__ void unite(const LabelArguments& arguments, std::uint32_t a, std::uint32_t b) {
  while (true) {
    a = short_path(arguments.parents, a);
    b = short_path(arguments.parents, b);
    if (a == b) return;
    const bool in_order = first_bit(arguments, a) < first_bit(arguments, b);
    const std::uint32_t later = in_order ? b : a;
    const std::uint32_t earlier = in_order ? a : b;
    const std::uint32_t before = atomicCAS(arguments.parents + later, later, earlier);
    if (before == later) return;
    a = before;
    b = earlier;
  }
}

/// The given lanes of a warp call this together. One of the lanes with equal pairs unites them: along the
/// seams of large components most pairs are equal.
__device__ void unite_pairs(const LabelArguments& arguments, unsigned lanes, std::uint32_t a,
                            std::uint32_t b) {
  const unsigned same = __match_any_sync(lanes, std::uint64_t{a} << 32 | b);
  if (__ffs(static_cast<int>(same)) - 1 == lane_index()) unite(arguments, a, b);
}

/// Unites the parts of a word of the row below a seam with those above. One warp per word, one lane per
/// pixel.
__device__ void join_rows(const LabelArguments& arguments, std::uint32_t thread) {
  const auto words = static_cast<std::uint32_t>(arguments.tiles.words);
  const std::uint32_t seam = thread / warp_size / words;
  const std::int64_t column = thread / warp_size - seam * words;
  const std::int64_t y = (std::int64_t{seam} + 1) * tile_rows;
  if (y >= arguments.job.height) return;
  const int bit = lane_index();
  const Contacts contacts =
      contacts_of(around_word(arguments, y, column, true), arguments.job.connectivity == 8);
  const auto join = [&](std::uint32_t touching, int aside) {
    if ((touching >> bit & 1U) == 0) return;
    const int upper = bit + aside;
    const std::int64_t upper_column = column + (upper < 0 ? -1 : upper / pixels_of_word);
    unite_pairs(arguments, touching, part_of(arguments, y, column, bit),
                part_of(arguments, y - 1, upper_column, upper & (pixels_of_word - 1)));
  };
  join(contacts.straight | contacts.falling, (contacts.falling >> bit & 1U) != 0 ? -1 : 0);
  join(contacts.rising, 1);
}

SATIN_HD std::uint32_t whole_warps(std::int64_t threads) {
  return static_cast<std::uint32_t>((threads + warp_size - 1) / warp_size * warp_size);
}

/// Unites the parts of a word to the right of a seam with those to the left. One thread per word; the
/// words of a warp are below each other.
__device__ void join_columns(const LabelArguments& arguments, std::uint32_t thread) {
  constexpr int last = pixels_of_word - 1;
  const std::uint32_t height = whole_warps(arguments.job.height);
  const std::uint32_t seam = thread / height;
  const std::int64_t y = thread - seam * height;
  const std::int64_t column = (std::int64_t{seam} + 1) * tile_words;
  const bool in_tile = y % tile_rows != 0;  // otherwise join_rows() unites with the row above
  Around around;
  if (y < arguments.job.height && column < arguments.tiles.words)
    around = around_word(arguments, y, column, in_tile);
  const bool here = (around.word & 1U) != 0;
  const bool left = around.left >> 31 != 0;
  const bool up = (around.up & 1U) != 0;
  const bool up_left = around.up_left >> 31 != 0;
  const auto join = [&](bool touches, std::int64_t y_left, std::int64_t y_right) {
    const unsigned lanes = __ballot_sync(whole_warp, touches);
    if (touches)
      unite_pairs(arguments, lanes, part_of(arguments, y_left, column - 1, last),
                  part_of(arguments, y_right, column, 0));
  };
  join(here && left && !(up && up_left), y, y);
  if (arguments.job.connectivity != 8) return;
  join(here && up_left && !left && !up, y - 1, y);
  join(left && up && !here && !up_left, y, y - 1);
}

/// Unites parts across the seams of tiles: the first blocks across seams between rows, the others between
/// columns.
__global__ void __launch_bounds__(word_threads)
    join_parts(const __grid_constant__ LabelArguments arguments, unsigned row_blocks) {
  if (blockIdx.x < row_blocks)
    join_rows(arguments, blockIdx.x * word_threads + threadIdx.x);
  else
    join_columns(arguments, (blockIdx.x - row_blocks) * word_threads + threadIdx.x);
}

/// Gives every part of a tile its root as parent, and marks the first pixels of the components that begin in
/// the tile.
__global__ void __launch_bounds__(tile_threads) find_roots(const __grid_constant__ LabelArguments arguments) {
  __shared__ std::uint32_t firsts[tile_threads];
  const LabelTiles& tiles = arguments.tiles;
  const Tile tile = tile_at(tiles, blockIdx.x);
  const int index = static_cast<int>(threadIdx.x);
  firsts[index] = 0;
  __syncthreads();
  const std::uint32_t first = first_of(tiles, tile.index);
  const std::uint32_t end = first + arguments.parts[tile.index];
  for (std::uint32_t from = first + threadIdx.x; from < end; from += parts_at_once * tile_threads) {
    std::uint32_t roots[parts_at_once];
    std::uint16_t places[parts_at_once];
#pragma unroll
    for (int i = 0; i < parts_at_once; ++i) {
      const std::uint32_t part = min(from + i * tile_threads, end - 1);
      roots[i] = static_cast<const volatile std::uint32_t*>(arguments.parents)[part];
      places[i] = arguments.part_place[part];
    }
#pragma unroll
    for (int i = 0; i < parts_at_once; ++i) {
      const std::uint32_t part = from + i * tile_threads;
      if (part >= end) break;
      if (roots[i] != part) {
        const std::uint32_t root = root_of(arguments.parents, roots[i]);
        if (root != roots[i]) static_cast<volatile std::uint32_t*>(arguments.parents)[part] = root;
      } else {
        const PartPlace at = unpacked(places[i]);
        atomicOr(firsts + at.row * tile_words + at.column / pixels_of_word, 1U << at.column % pixels_of_word);
      }
    }
  }
  __syncthreads();
  const std::uint32_t row = tile.row + index / tile_words;
  const std::uint32_t column = tile.word + index % tile_words;
  if (row >= arguments.job.height || column >= tiles.words) return;
  const std::int64_t place = row * tiles.words + column;
  arguments.firsts[place] = firsts[index];
  arguments.counts[place] = static_cast<std::uint8_t>(__popc(firsts[index]));
}

__device__ std::uint32_t label_at(const LabelArguments& arguments, std::uint32_t bit) {
  const std::uint32_t place = bit / pixels_of_word;
  return arguments.before[place] +
         __popc(arguments.firsts[place] & up_to(static_cast<int>(bit % pixels_of_word)));
}

/// Finds the labels of a tile's parts, and stores them in `labels` and in place of the parents.
__device__ void label_parts(const LabelArguments& arguments, std::uint32_t first, std::uint32_t parts,
                            std::uint32_t* labels) {
  for (std::uint32_t from = threadIdx.x; from < parts; from += parts_at_once * tile_threads) {
    std::uint32_t found[parts_at_once];
#pragma unroll
    for (int i = 0; i < parts_at_once; ++i)
      found[i] = arguments.parents[first + min(from + i * tile_threads, parts - 1)];
#pragma unroll
    for (std::uint32_t& root : found) root = first_bit(arguments, root);
#pragma unroll
    for (std::uint32_t& bit : found) bit = label_at(arguments, bit);
#pragma unroll
    for (int i = 0; i < parts_at_once; ++i) {
      const std::uint32_t part = from + i * tile_threads;
      if (part >= parts) break;
      labels[part] = found[i];
      arguments.parents[first + part] = found[i];
    }
  }
}

/// Writes the pixels of a tile, whose words are `mine`: a warp writes 128 pixels of a row, four per lane.
/// part_of_run[0] is for pixels before the first run.
__device__ void store_labels(const LabelArguments& arguments, const Tile& tile, const TileWord& mine,
                             const std::uint16_t* part_of_run, const std::uint32_t* labels) {
  constexpr int pixels = 4;
  constexpr int lanes_of_word = pixels_of_word / pixels;
  constexpr int rows = warp_size / tile_words;  // per warp
  static_assert(tile_words * lanes_of_word == warp_size);
  const int lane = lane_index();
  const std::uint32_t first_row = tile.row + threadIdx.x / warp_size * rows;
  const std::int64_t x = std::int64_t{tile.word} * label_word + lane * pixels;
  const int lane_bit = lane % lanes_of_word * pixels;
  const std::int64_t row_bytes = arguments.labels.row;
  auto* row = arguments.labels.data + first_row * row_bytes + x * std::int64_t{sizeof(std::uint32_t)};
  const bool aligned = (reinterpret_cast<std::uintptr_t>(row) | row_bytes) % sizeof(uint4) == 0;
  const bool at_once = aligned && x + pixels <= arguments.job.width;
#pragma unroll
  for (int i = 0; i < rows; ++i, row += row_bytes) {
    if (first_row + i >= arguments.job.height) return;
    const int from = i * tile_words + lane / lanes_of_word;
    const std::uint32_t word = __shfl_sync(whole_warp, mine.word, from);
    const std::uint32_t starts = __shfl_sync(whole_warp, mine.starts, from);
    const std::uint16_t* parts_of_runs = part_of_run + __shfl_sync(whole_warp, mine.before, from);
    std::uint32_t found[pixels];
#pragma unroll
    for (int k = 0; k < pixels; ++k) {
      const std::uint32_t label = labels[parts_of_runs[__popc(starts & up_to(lane_bit + k))]];
      found[k] = (word >> (lane_bit + k) & 1U) != 0 ? label : 0;
    }
    auto* out = reinterpret_cast<std::uint32_t*>(row);
    if (at_once) {
      __stcs(reinterpret_cast<uint4*>(out), make_uint4(found[0], found[1], found[2], found[3]));
    } else {
#pragma unroll
      for (int k = 0; k < pixels; ++k)
        if (x + k < arguments.job.width) out[k] = found[k];
    }
  }
}

__global__ void __launch_bounds__(tile_threads, tuning::label_tile_blocks)
    write_pixels(const __grid_constant__ LabelArguments arguments) {
  __shared__ std::uint32_t labels[tile_runs];
  __shared__ std::uint16_t part_of_run[tile_runs + 1];  // entry 0 is for no run
  const LabelTiles& tiles = arguments.tiles;
  const Tile tile = tile_at(tiles, blockIdx.x);
  const std::uint32_t first = first_of(tiles, tile.index);
  const TileWord mine = tile_word(arguments, tile, threadIdx.x);
  const std::uint32_t runs = arguments.runs[tile.index];
  for (std::uint32_t run = threadIdx.x; run < runs; run += tile_threads)
    part_of_run[run + 1] = arguments.part_of_run[first + run];
  if (threadIdx.x == 0) part_of_run[0] = 0;
  label_parts(arguments, first, arguments.parts[tile.index], labels);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    const std::int64_t last = tiles.words * arguments.job.height - 1;
    *arguments.total = arguments.before[last] + arguments.counts[last];
  }
  __syncthreads();
  store_labels(arguments, tile, mine, part_of_run, labels);
}

}  // namespace

void find_components(const LabelArguments& arguments, StreamHandle stream) {
  const LabelTiles& tiles = arguments.tiles;
  find_parts(arguments, stream);
  const std::int64_t below = (arguments.job.height - 1) / tile_rows * tiles.words * warp_size;
  const std::uint32_t height = whole_warps(arguments.job.height);
  const unsigned row_blocks = block_count(below, word_threads);
  const unsigned column_blocks = block_count((tiles.columns - std::int64_t{1}) * height, word_threads);
  if (row_blocks + column_blocks > 0)
    join_parts<<<row_blocks + column_blocks, word_threads, 0, stream>>>(arguments, row_blocks);
  find_roots<<<tiles.count, tile_threads, 0, stream>>>(arguments);
}

void write_labels(const LabelArguments& arguments, StreamHandle stream) {
  write_pixels<<<arguments.tiles.count, tile_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
