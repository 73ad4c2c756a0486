// Components of tiles, which are called parts: union-find of runs in shared memory (Playne and Hawick 2018;
// runs instead of pixels as Hennequin, Lacassagne, Cabaret, Meunier 2018).

#include <algorithm>
#include <bit>

#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/masks/label_words.cuh"

namespace satin::kernels {
namespace {

constexpr int max_joins = tuning::label_tile_joins;

/// Trees of a tile's runs. Sets of runs have one bit per run.
struct Shared {
  static constexpr int groups = tile_runs / warp_size;
  std::uint32_t words[tile_threads];
  std::uint32_t starts[tile_threads];
  std::uint32_t before[tile_threads];  ///< runs that begin in earlier words
  std::uint32_t parents[tile_runs];
  std::uint32_t roots[groups];
  std::uint32_t roots_before[groups];  ///< number of roots before this group of 32 runs
  std::uint32_t at_side[groups];       ///< roots of parts that touch a side of the tile
  std::uint32_t joins[max_joins];      ///< pairs of runs that touch, 16 bits for each run
  int of_warps[tile_threads / warp_size];
  int join_count;
  int parts;
};

__device__ Around around_word(const std::uint32_t* words, int index) {
  const int column = index % tile_words;
  const bool has_left = column > 0;
  const bool has_right = column < tile_words - 1;
  Around around;
  around.word = words[index];
  if (has_left) around.left = words[index - 1];
  if (has_right) around.right = words[index + 1];
  if (index < tile_words) return around;
  around.up = words[index - tile_words];
  if (has_left) around.up_left = words[index - tile_words - 1];
  if (has_right) around.up_right = words[index - tile_words + 1];
  return around;
}

/// Returns the sum of `mine` over the threads before this one; `all` becomes the sum over all threads.
__device__ int sum_before(int mine, Shared& shared, int& all) {
  const int scanned = inclusive_scan(mine);
  if (lane_index() == warp_size - 1) shared.of_warps[threadIdx.x / warp_size] = scanned;
  __syncthreads();
  int before = scanned - mine;
  all = 0;
#pragma unroll
  for (int warp = 0; warp < tile_threads / warp_size; ++warp) {
    if (warp < static_cast<int>(threadIdx.x) / warp_size) before += shared.of_warps[warp];
    all += shared.of_warps[warp];
  }
  return before;
}

/// Hangs every run that begins in a word under a run that it touches above: makes trees without atomics.
/// Returns the contacts that are left to be joined. `after` is 1 if the run above begins after the bit.
__device__ std::uint32_t hang_runs(std::uint32_t* parents, const Links& links, std::uint32_t contacts,
                                   int after) {
  std::uint32_t others = 0;
  for (; contacts != 0; contacts &= contacts - 1) {
    const std::uint32_t up_to = up_to_lowest(contacts);
    const std::uint32_t lower = links.lower(up_to);
    if ((links.starts & up_to) != 0 && parents[lower] == lower)
      parents[lower] = links.upper(up_to) + after;
    else
      others |= contacts & -contacts;
  }
  return others;
}

/// Hangs the greater root under the lesser one. Goes on with the other parent if another thread was faster.
__device__ void unite(std::uint32_t* parents, std::uint32_t a, std::uint32_t b) {
  while (true) {
    a = root_of(parents, a);
    b = root_of(parents, b);
    if (a == b) return;
    const std::uint32_t greater = max(a, b);
    const std::uint32_t lesser = min(a, b);
    const std::uint32_t before = atomicMin(parents + greater, lesser);
    if (before == greater) return;
    a = before;
    b = lesser;
  }
}

/// Lists the pairs of runs of some contacts from joins[slot] on. If the list is full, they are united at
/// once.
__device__ void list_joins(Shared& shared, const Links& links, std::uint32_t contacts, int after, int& slot) {
  for (; contacts != 0; contacts &= contacts - 1, ++slot) {
    const std::uint32_t up_to = up_to_lowest(contacts);
    const std::uint32_t lower = links.lower(up_to);
    const std::uint32_t upper = links.upper(up_to) + after;
    if (slot < max_joins)
      shared.joins[slot] = lower << 16 | upper;
    else
      unite(shared.parents, lower, upper);
  }
}

/// Joins the runs of contacts. Some words have many and most have none, so a list spreads them over the
/// threads.
__device__ void join_runs(Shared& shared, const Links& links, const Touching& contacts) {
  const int mine = __popc(contacts.here) + __popc(contacts.after);
  const int scanned = inclusive_scan(mine);
  int slot = 0;
  if (lane_index() == warp_size - 1 && scanned > 0) slot = atomicAdd(&shared.join_count, scanned);
  slot = __shfl_sync(whole_warp, slot, warp_size - 1) + scanned - mine;
  list_joins(shared, links, contacts.here, 0, slot);
  list_joins(shared, links, contacts.after, 1, slot);
  __syncthreads();
  const int count = min(shared.join_count, max_joins);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += tile_threads)
    unite(shared.parents, shared.joins[i] >> 16, shared.joins[i] & 0xFFFFU);
}

/// Pointer jumping until all parents of the block are roots.
__device__ void flatten(std::uint32_t* all, int runs) {
  const volatile std::uint32_t* parents = all;
  bool changed = true;
  while (__syncthreads_or(changed) != 0) {
    changed = false;
    for (int run = static_cast<int>(threadIdx.x); run < runs; run += tile_threads) {
      const std::uint32_t parent = parents[run];
      const std::uint32_t above = parents[parent];
      if (above == parent) continue;
      atomicMin(all + run, parents[above]);
      changed = true;
    }
  }
}

/// Makes roots the parents of all runs, and marks which runs are roots.
__device__ void find_roots(Shared& shared, int runs) {
  for (int first = static_cast<int>(threadIdx.x) - lane_index(); first < runs; first += tile_threads) {
    const int run = first + lane_index();
    bool is_root = false;
    if (run < runs) {
      const std::uint32_t root = root_of(shared.parents, static_cast<std::uint32_t>(run));
      is_root = root == static_cast<std::uint32_t>(run);
      atomicMin(shared.parents + run, root);
    }
    const unsigned roots = __ballot_sync(whole_warp, is_root);
    if (lane_index() == 0) shared.roots[first / warp_size] = roots;
  }
}

/// Counts, by one warp, the roots before each group of runs.
__device__ void count_roots(Shared& shared) {
  constexpr int mine = Shared::groups / warp_size;
  int counts[mine];
  int sum = 0;
#pragma unroll
  for (int i = 0; i < mine; ++i) {
    counts[i] = __popc(shared.roots[lane_index() * mine + i]);
    sum += counts[i];
  }
  const int scanned = inclusive_scan(sum);
  int before = scanned - sum;
#pragma unroll
  for (int i = 0; i < mine; ++i) {
    shared.roots_before[lane_index() * mine + i] = before;
    before += counts[i];
  }
  if (lane_index() == warp_size - 1) shared.parts = scanned;
}

__device__ std::uint32_t part_of_root(const Shared& shared, std::uint32_t root) {
  const std::uint32_t group = root / warp_size;
  return shared.roots_before[group] + __popc(shared.roots[group] & ((1U << root % warp_size) - 1));
}

__device__ void mark_side(Shared& shared, std::uint32_t run) {
  const std::uint32_t root = shared.parents[run];
  atomicOr(shared.at_side + root / warp_size, 1U << root % warp_size);
}

/// Marks the parts to which runs of a word at the tile's sides belong.
__device__ void mark_sides(Shared& shared, int index, std::uint32_t word) {
  const std::uint32_t before = shared.before[index];
  const std::uint32_t runs = __popc(shared.starts[index]);
  const int column = index % tile_words;
  if (index < tile_words || index >= tile_threads - tile_words) {
    for (std::uint32_t run = 0; run < runs; ++run) mark_side(shared, before + run);
  } else {
    if (column == 0 && (word & 1U) != 0) mark_side(shared, before);
    if (column == tile_words - 1 && word >> 31 != 0) mark_side(shared, before + runs - 1);
  }
}

__device__ std::uint32_t roots_of_word(const Shared& shared, int index) {
  const std::uint32_t before = shared.before[index];
  const std::uint32_t group = before / warp_size % Shared::groups;
  const std::uint32_t next = group + 1 < Shared::groups ? shared.roots[group + 1] : 0;
  return __funnelshift_r(shared.roots[group], next, before) & ((1U << __popc(shared.starts[index])) - 1);
}

__device__ void write_places(const Shared& shared, int index, std::uint16_t* places) {
  const std::uint32_t before = shared.before[index];
  std::uint32_t starts = shared.starts[index];
  std::uint32_t roots = roots_of_word(shared, index);
  if (roots == 0) return;
  std::uint32_t part = part_of_root(shared, before);
  for (std::uint32_t run = before; roots != 0; ++run, roots >>= 1, starts &= starts - 1) {
    if ((roots & 1U) == 0) continue;
    const std::uint32_t bit = __ffs(static_cast<int>(starts)) - 1;
    const std::uint32_t column = index % tile_words * static_cast<std::uint32_t>(label_word) + bit;
    const std::uint32_t first = index / tile_words << column_bits | column;
    const bool at_side = (shared.at_side[run / warp_size] >> run % warp_size & 1U) != 0;
    places[part++] = static_cast<std::uint16_t>(first | (at_side ? side_bit : 0));
  }
}

__device__ void store_words(const LabelArguments& arguments, const Tile& tile, const Shared& shared,
                            std::uint32_t before) {
  const int index = static_cast<int>(threadIdx.x);
  const std::uint32_t row = tile.row + index / tile_words;
  const std::uint32_t column = tile.word + index % tile_words;
  if (row >= arguments.job.height || column >= arguments.tiles.words) return;
  const std::int64_t place = row * arguments.tiles.words + column;
  arguments.bits[place] = shared.words[index];
  arguments.runs_before[place] = static_cast<std::uint16_t>(before);
}

__device__ void write_parts(const LabelArguments& arguments, const Tile& tile, const Shared& shared,
                            int runs) {
  const int index = static_cast<int>(threadIdx.x);
  const std::uint32_t first = first_of(arguments.tiles, tile.index);
  write_places(shared, index, arguments.part_place + first);
  for (int run = index; run < runs; run += tile_threads)
    arguments.part_of_run[first + run] =
        static_cast<std::uint16_t>(part_of_root(shared, shared.parents[run]));
  for (int part = index; part < shared.parts; part += tile_threads)
    arguments.parents[first + part] = first + part;
  if (index > 0) return;
  arguments.runs[tile.index] = static_cast<std::uint16_t>(runs);
  arguments.parts[tile.index] = static_cast<std::uint16_t>(shared.parts);
}

__global__ void __launch_bounds__(tile_threads, tuning::label_tile_blocks)
    label_tiles(const __grid_constant__ LabelArguments arguments) {
  __shared__ Shared shared;
  const Tile tile = tile_at(arguments.tiles, blockIdx.x);
  const int index = static_cast<int>(threadIdx.x);
  read_rows(arguments, tile, index / warp_size * 8, shared.words);
  if (index < Shared::groups) {
    shared.roots[index] = 0;
    shared.at_side[index] = 0;
  }
  if (index == 0) shared.join_count = 0;
  __syncthreads();
  const Around around = around_word(shared.words, index);
  Links links;
  links.starts = starts_of(around.word, around.left);
  int runs = 0;
  links.before = sum_before(__popc(links.starts), shared, runs);
  shared.starts[index] = links.starts;
  shared.before[index] = links.before;
  for (int run = index; run < runs; run += tile_threads) shared.parents[run] = run;
  store_words(arguments, tile, shared, links.before);
  __syncthreads();
  if (index >= tile_words) {
    links.up_starts = shared.starts[index - tile_words];
    links.up_before = shared.before[index - tile_words];
  }
  Touching contacts = touching(around, arguments.job.connectivity == 8);
  contacts.here = hang_runs(shared.parents, links, contacts.here, 0);
  contacts.after = hang_runs(shared.parents, links, contacts.after, 1);
  flatten(shared.parents, runs);
  join_runs(shared, links, contacts);
  __syncthreads();
  find_roots(shared, runs);
  __syncthreads();
  if (index < warp_size) count_roots(shared);
  mark_sides(shared, index, around.word);
  __syncthreads();
  write_parts(arguments, tile, shared, runs);
}

int bits_for(std::int64_t count) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
}

}  // namespace

LabelTiles tiles_of(const LabelJob& job) {
  LabelTiles tiles;
  tiles.words = (job.width + label_word - 1) / label_word;
  const std::int64_t columns = (tiles.words + tile_words - 1) / tile_words;
  const std::int64_t rows = (job.height + tile_rows - 1) / tile_rows;
  tiles.columns = static_cast<std::uint32_t>(columns);
  tiles.count = static_cast<std::uint32_t>(columns * rows);
  const std::int64_t words_of_tile = std::min<std::int64_t>(tiles.words, tile_words);
  const std::int64_t rows_of_tile = std::min<std::int64_t>(job.height, tile_rows);
  tiles.run_bits = bits_for(label_word / 2 * words_of_tile) + bits_for(rows_of_tile);
  return tiles;
}

void find_parts(const LabelArguments& arguments, StreamHandle stream) {
  label_tiles<<<arguments.tiles.count, tile_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
