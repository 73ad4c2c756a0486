// Connected components: union-find of the runs of a tile in shared memory, of the tiles' components across
// their seams in global memory by atomic minima, then labels by a scan over the roots in raster order (Playne
// and Hawick 2018; Allegretti, Bolelli, Grana 2019).

#include "kernels/label_words.cuh"
#include "kernels/tuning.h"
#include "kernels/warp.cuh"

namespace satin::kernels {
namespace {

constexpr int tile_entries = tile_threads * static_cast<int>(label_entries);
constexpr int row_entries = tile_words * static_cast<int>(label_entries);
constexpr std::uint32_t no_entry = 0xFFFFFFFFU;
constexpr int word_threads = tuning::label_word_threads;

/// The bits of the 32 words of a warp, 4 words a row, one a lane: neighbouring lanes read neighbouring
/// pixels, `at_once` words in flight.
__device__ std::uint32_t read_bits(const LabelArguments& arguments, const Tile& tile, int first_word) {
  constexpr int at_once = tuning::label_words_in_flight;
  const std::int64_t width = arguments.job.width;
  const std::uint8_t outside = arguments.job.zeros ? 1 : 0;
  std::uint32_t mine = 0;
#pragma unroll
  for (int group = 0; group < warp_size; group += at_once) {
    std::uint8_t values[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int word = first_word + group + i;
      const std::int64_t y = tile.row + word / tile_words;
      const std::int64_t x = (tile.word + word % tile_words) * label_word + lane_index();
      values[i] = outside;
      if (y < arguments.job.height && x < width)
        values[i] = static_cast<std::uint8_t>(arguments.mask.data[y * arguments.mask.row + x]);
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const unsigned bits = __ballot_sync(whole_warp, (values[i] == 0) == arguments.job.zeros);
      if (group + i == lane_index()) mine = bits;
    }
  }
  return mine;
}

/// One word of a tile, its surroundings in the tile, and the entries of the tile.
struct TileWord {
  Around around;
  int index = 0;
  const std::uint32_t* words = nullptr;
  std::uint32_t* parents = nullptr;

  __device__ std::uint32_t entry(int within) const {
    return static_cast<std::uint32_t>(index * label_entries + within);
  }
  [[nodiscard]] __device__ bool continues_left() const { return (around.word & around.left >> 31) != 0; }
};

/// Calls visit(within) for the entries of a word's runs.
template <class Visit>
__device__ void for_runs(std::uint32_t word, const Visit& visit) {
  for (std::uint32_t starts = starts_of(word); starts != 0; starts &= starts - 1)
    visit((__ffs(static_cast<int>(starts)) - 1) / 2);
}

/// Calls hang(entry, upper) for the first contact of every run with the row above, unless the run continues
/// one to the left, and join(entry, upper) for all others.
template <class Hang, class Join>
__device__ void for_links(const TileWord& at, int connectivity, const Hang& hang, const Join& join) {
  std::uint32_t hung = at.continues_left() ? 1 : 0;
  for_contacts(at.around, connectivity, [&](int bit, int upper) {
    const int within = start_of_run(at.around.word, bit) / 2;
    const int other = at.index - tile_words + (upper < 0 ? -1 : upper >> 5);
    const auto above =
        static_cast<std::uint32_t>(other * label_entries + start_of_run(at.words[other], upper & 31) / 2);
    if ((hung >> within & 1U) != 0) {
      join(at.entry(within), above);
    } else {
      hang(at.entry(within), above);
      hung |= 1U << within;
    }
  });
}

/// Every run under one that it touches to the left or above, if there is one: trees without any atomics.
__device__ void start_trees(const TileWord& at, int connectivity) {
  for_runs(at.around.word, [&](int within) { at.parents[at.entry(within)] = at.entry(within); });
  if (at.continues_left())
    at.parents[at.entry(0)] =
        at.entry(0) - static_cast<std::uint32_t>(label_entries - start_of_run(at.around.left, 31) / 2);
  for_links(
      at, connectivity, [&](std::uint32_t entry, std::uint32_t above) { at.parents[entry] = above; },
      [](std::uint32_t, std::uint32_t) {});
}

/// Pointer jumping until all parents of the block are roots.
__device__ void flatten(const TileWord& at) {
  const volatile std::uint32_t* parents = at.parents;
  bool changed = true;
  while (__syncthreads_or(changed) != 0) {
    changed = false;
    for_runs(at.around.word, [&](int within) {
      const std::uint32_t parent = parents[at.entry(within)];
      const std::uint32_t above = parents[parent];
      if (above == parent) return;
      atomicMin(at.parents + at.entry(within), above);
      changed = true;
    });
  }
}

__global__ void __launch_bounds__(tile_threads)
    label_tiles(const __grid_constant__ LabelArguments arguments) {
  __shared__ std::uint32_t words[tile_threads];
  __shared__ std::uint32_t parents[tile_entries];
  const Tile tile = tile_of_block(arguments);
  const int index = static_cast<int>(threadIdx.x);
  const int column = index % tile_words;
  const std::int64_t y = tile.row + index / tile_words;
  const std::int64_t place = y * arguments.words + tile.word + column;
  const bool exists = y < arguments.job.height && tile.word + column < arguments.words;

  TileWord at;
  at.index = index;
  at.words = words;
  at.parents = parents;
  Around& around = at.around;
  around.word = read_bits(arguments, tile, index - lane_index());
  words[index] = around.word;
  if (exists) arguments.bits[place] = around.word;
  __syncthreads();
  const bool has_left = column > 0;
  const bool has_right = column < tile_words - 1;
  if (has_left) around.left = words[index - 1];
  if (has_right) around.right = words[index + 1];
  if (index >= tile_words) {
    around.up = words[index - tile_words];
    if (has_left) around.up_left = words[index - tile_words - 1];
    if (has_right) around.up_right = words[index - tile_words + 1];
  }

  const int connectivity = arguments.job.connectivity;
  start_trees(at, connectivity);
  flatten(at);
  for_links(
      at, connectivity, [](std::uint32_t, std::uint32_t) {},
      [&](std::uint32_t entry, std::uint32_t above) { unite(parents, entry, above); });
  flatten(at);

  std::uint32_t roots = 0;
  for_runs(around.word, [&](int within) {
    if (parents[at.entry(within)] == at.entry(within)) roots |= 1U << within;
  });
  if (exists) arguments.tile_roots[place] = static_cast<std::uint16_t>(roots);
  for (int entry = index; entry < tile_entries; entry += tile_threads) {
    if (!has_run(words[entry / label_entries], entry % label_entries)) continue;
    const auto in_picture = [&](std::int64_t within) {
      const std::int64_t row = tile.row + within / row_entries;
      return (row * arguments.words + tile.word) * label_entries + within % row_entries;
    };
    arguments.parents[in_picture(entry)] = static_cast<std::uint32_t>(in_picture(parents[entry]));
  }
}

/// Entry of the run to which a bit belongs; `place` is the number of the word.
__device__ std::uint32_t entry_of(const LabelArguments& arguments, std::int64_t place, int bit) {
  return static_cast<std::uint32_t>(place * label_entries + start_of_run(arguments.bits[place], bit) / 2);
}

/// The words around one of the picture; the row above only if `with_above`.
__device__ Around around_word(const LabelArguments& arguments, std::int64_t y, std::int64_t column,
                              bool with_above) {
  const std::int64_t place = y * arguments.words + column;
  const bool has_left = column > 0;
  const bool has_right = column + 1 < arguments.words;
  Around around;
  around.word = arguments.bits[place];
  if (has_left) around.left = arguments.bits[place - 1];
  if (has_right) around.right = arguments.bits[place + 1];
  if (!with_above) return around;
  const std::int64_t above = place - arguments.words;
  around.up = arguments.bits[above];
  if (has_left) around.up_left = arguments.bits[above - 1];
  if (has_right) around.up_right = arguments.bits[above + 1];
  return around;
}

/// The root of the tile's component to which a bit belongs, or what that hangs under by now. Across tiles
/// only such roots get other parents: describe_tiles() rests on it.
__device__ std::uint32_t part_of(const LabelArguments& arguments, std::int64_t place, int bit) {
  return arguments.parents[entry_of(arguments, place, bit)];
}

/// One thread a word of the rows below a seam.
__global__ void __launch_bounds__(word_threads)
    join_rows(const __grid_constant__ LabelArguments arguments, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * word_threads + threadIdx.x;
  if (i >= count) return;
  const std::int64_t y = (i / arguments.words + 1) * tile_rows;
  const std::int64_t column = i % arguments.words;
  const std::int64_t place = y * arguments.words + column;
  std::uint32_t last_lower = no_entry;
  std::uint32_t last_upper = no_entry;
  for_contacts(around_word(arguments, y, column, true), arguments.job.connectivity, [&](int bit, int upper) {
    const std::int64_t other = place - arguments.words + (upper < 0 ? -1 : upper >> 5);
    const std::uint32_t lower_part = part_of(arguments, place, bit);
    const std::uint32_t upper_part = part_of(arguments, other, upper & 31);
    if (lower_part == last_lower && upper_part == last_upper) return;  // as most contacts of large components
    last_lower = lower_part;
    last_upper = upper_part;
    unite_parts(arguments.parents, lower_part, upper_part);
  });
}

/// One thread a word to the right of a seam.
__global__ void __launch_bounds__(word_threads)
    join_columns(const __grid_constant__ LabelArguments arguments, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * word_threads + threadIdx.x;
  if (i >= count) return;
  const std::int64_t seams = (arguments.words - 1) / tile_words;
  const std::int64_t y = i / seams;
  const std::int64_t column = (i % seams + 1) * tile_words;
  const std::int64_t place = y * arguments.words + column;
  const std::int64_t above = place - arguments.words;
  const bool in_tile = y % tile_rows != 0;  // so is the row above; otherwise join_rows() sees to it
  const Around around = around_word(arguments, y, column, in_tile);
  const bool here = (around.word & 1U) != 0;
  const bool left = around.left >> 31 != 0;
  const bool up = (around.up & 1U) != 0;
  const bool up_left = around.up_left >> 31 != 0;
  if (here && left && !(up && up_left))
    unite_parts(arguments.parents, part_of(arguments, place, 0), part_of(arguments, place - 1, 31));
  if (arguments.job.connectivity != 8) return;
  if (here && up_left && !left && !up)
    unite_parts(arguments.parents, part_of(arguments, place, 0), part_of(arguments, above - 1, 31));
  if (left && up && !here && !up_left)
    unite_parts(arguments.parents, part_of(arguments, place - 1, 31), part_of(arguments, above, 0));
}

/// Roots of tiles get the roots of their components as parents; nobody writes those of others here.
__global__ void __launch_bounds__(word_threads)
    find_roots(const __grid_constant__ LabelArguments arguments, std::int64_t count) {
  const std::int64_t place = std::int64_t{blockIdx.x} * word_threads + threadIdx.x;
  if (place >= count) return;
  std::uint32_t roots = 0;
  for (std::uint32_t left = arguments.tile_roots[place]; left != 0; left &= left - 1) {
    const int within = __ffs(static_cast<int>(left)) - 1;
    const auto entry = static_cast<std::uint32_t>(place * label_entries + within);
    const std::uint32_t root = root_of(arguments.parents, entry);
    static_cast<volatile std::uint32_t*>(arguments.parents)[entry] = root;
    if (root == entry) roots |= 1U << within;
  }
  arguments.roots[place] = static_cast<std::uint16_t>(roots);
  arguments.counts[place] = static_cast<std::uint8_t>(__popc(roots));
}

/// The parents of tiles' roots, which nobody else reads here, become labels.
__global__ void __launch_bounds__(word_threads)
    number_roots(const __grid_constant__ LabelArguments arguments, std::int64_t count) {
  const std::int64_t place = std::int64_t{blockIdx.x} * word_threads + threadIdx.x;
  if (place >= count) return;
  for (std::uint32_t left = arguments.tile_roots[place]; left != 0; left &= left - 1) {
    const std::int64_t entry = place * label_entries + __ffs(static_cast<int>(left)) - 1;
    arguments.parents[entry] = label_of_root(arguments, arguments.parents[entry]);
  }
  if (place + 1 == count) *arguments.total = arguments.before[place] + arguments.counts[place];
}

/// The label of an entry, 0 if no run begins there.
__device__ std::uint32_t label_of_entry(const LabelArguments& arguments, std::int64_t place,
                                        std::uint32_t word, int entry) {
  if (!has_run(word, entry)) return 0;
  const std::uint32_t parent = arguments.parents[place * label_entries + entry];
  return (arguments.tile_roots[place] >> entry & 1U) != 0 ? parent : arguments.parents[parent];
}

/// A warp writes 128 pixels of a row, four a lane.
__global__ void __launch_bounds__(tile_threads)
    write_pixels(const __grid_constant__ LabelArguments arguments) {
  constexpr int pixels = 4;
  constexpr int lanes_of_word = static_cast<int>(label_word) / pixels;
  constexpr int entries_of_lane = row_entries / warp_size;
  static_assert(tile_words * lanes_of_word == warp_size);
  __shared__ std::uint32_t all_labels[tile_threads / warp_size][row_entries];
  std::uint32_t* labels = all_labels[threadIdx.x / warp_size];
  const int lane = lane_index();
  const Tile tile = tile_of_block(arguments);
  const std::int64_t column = tile.word + lane / lanes_of_word;
  const std::int64_t x = column * label_word + lane % lanes_of_word * pixels;

  for (int row = static_cast<int>(threadIdx.x) / warp_size; row < tile_rows;
       row += tile_threads / warp_size) {
    const std::int64_t y = tile.row + row;
    if (y >= arguments.job.height) return;
    const std::int64_t place = y * arguments.words + column;
    const std::uint32_t word = column < arguments.words ? arguments.bits[place] : 0;
#pragma unroll
    for (int i = 0; i < entries_of_lane; ++i) {
      const int entry = lane * entries_of_lane + i;
      labels[entry] = label_of_entry(arguments, place, word, entry % static_cast<int>(label_entries));
    }
    __syncwarp();
    std::uint32_t found[pixels];
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      const int bit = lane % lanes_of_word * pixels + i;
      const int entry = lane / lanes_of_word * static_cast<int>(label_entries) + start_of_run(word, bit) / 2;
      found[i] = (word >> bit & 1U) != 0 ? labels[entry] : 0;
    }
    __syncwarp();
    auto* out = reinterpret_cast<std::uint32_t*>(arguments.labels.data + y * arguments.labels.row) + x;
    if (x + pixels <= arguments.job.width && reinterpret_cast<std::uintptr_t>(out) % sizeof(uint4) == 0) {
      __stcs(reinterpret_cast<uint4*>(out), make_uint4(found[0], found[1], found[2], found[3]));
    } else {
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        if (x + i < arguments.job.width) out[i] = found[i];
    }
  }
}

unsigned blocks_of(std::int64_t threads) {
  return static_cast<unsigned>((threads + word_threads - 1) / word_threads);
}

}  // namespace

void find_components(const LabelArguments& arguments, StreamHandle stream) {
  const std::int64_t height = arguments.job.height;
  label_tiles<<<tiles_of(arguments), tile_threads, 0, stream>>>(arguments);
  const std::int64_t below = (height - 1) / tile_rows * arguments.words;
  if (below > 0) join_rows<<<blocks_of(below), word_threads, 0, stream>>>(arguments, below);
  const std::int64_t beside = (arguments.words - 1) / tile_words * height;
  if (beside > 0) join_columns<<<blocks_of(beside), word_threads, 0, stream>>>(arguments, beside);
  const std::int64_t words = arguments.words * height;
  find_roots<<<blocks_of(words), word_threads, 0, stream>>>(arguments, words);
}

void write_labels(const LabelArguments& arguments, StreamHandle stream) {
  const std::int64_t words = arguments.words * arguments.job.height;
  number_roots<<<blocks_of(words), word_threads, 0, stream>>>(arguments, words);
  write_pixels<<<tiles_of(arguments), tile_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
