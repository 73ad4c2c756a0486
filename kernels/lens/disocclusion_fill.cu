// The disocclusion fill on CUDA.
//
// 1. Find the groups of each cell of 32 x 32 pixels. List the tiles of 64 x 32 pixels, for each group, that
// have nearer pixels with the group within reach of a window.
// 2. Pack groups, radii and compressed colours into planes with a border: each pixel is in a dozen tables.
// 3. A block takes a listed tile. It builds a summed-area table of the tile and its surroundings in shared
// memory, one quantity after the other, and reads the windows of its pixels before it builds the next.
//
// All groups are processed in one launch. If their samples do not fit into the list, all groups are processed
// again with more samples merged, then one after the other, so that the order decides which are dropped.

#include "lens/maths/disocclusion_fill.h"

#include <cstdint>

#include "core/with_type.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/lens/fill_tiles.cuh"
#include "kernels/lens/launch.h"
#include "kernels/pixels/plane.cuh"
#include "kernels/tables/shared_table.cuh"
#include "lens/layers.h"
#include "lens/maths/depth_groups.h"
#include "lens/maths/nonlocal_fill.h"

namespace satin::kernels {

static_assert(table_width == tile_width + 2 * fill_reach && table_height == tile_height + 2 * fill_reach);
static_assert(lane_pixels * warp_rows <= 32);  // a bit per pixel of the thread

inline constexpr int row_words = table_width / warp_size;
using SharedGroups = GroupBits[table_height][row_words];

/// Shared memory of a block beside the table.
struct SharedFill {
  SharedGroups groups;
  std::uint32_t taken;  ///< index in the list of tiles
  std::uint32_t sharp;  ///< samples for the non-local fill
  std::uint32_t first;  ///< index of the tile's first sample
  std::uint32_t slots;  ///< number of pixels that may have samples
  std::uint32_t of_warps[table_warps];
};

/// Fills one tile of one group, by one block.
template <int Channels>
class TileFill {
 public:
  __device__ TileFill(const FillDisocclusions<Channels>& fill, const FillTiles& tiles, int tile,
                      SharedTable table, SharedFill& shared)
      : fill_(fill),
        tiles_(tiles),
        table_(table),
        shared_(shared),
        left_(tile % tiles.columns * tile_width),
        top_(tile / tiles.columns * tile_height) {}

  __device__ FilledTile run() {
    table_.clear_border();
    read_groups();
    __syncthreads();
    integrate_counts();
    __syncthreads();
    if (__syncthreads_or(count() ? 1 : 0) == 0) return {};
    integrate_radii();
    __syncthreads();
    look_up([&](FillFound<Channels>& found, int i, std::uint32_t sum) { found.add_radius(i, sum); });
    if (__syncthreads_or(drop_unseen() ? 1 : 0) == 0) return {};
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      integrate_light(c);
      __syncthreads();
      look_up([&](FillFound<Channels>& found, int i, std::uint32_t sum) { found.add_colour(i, c, sum); });
    }
    return add_samples();
  }

 private:
  /// Coordinates in the tile of pixel i of the thread's 2 x 2 block.
  [[nodiscard]] __device__ static int x_of(int i) { return 2 * lane_index() + (i & 1); }
  [[nodiscard]] __device__ static int y_of(int i) {
    return static_cast<int>(threadIdx.x) / warp_size * 2 + (i >> 1);
  }
  [[nodiscard]] __device__ static int first_row() {
    return static_cast<int>(threadIdx.x) / warp_size * warp_rows;
  }
  /// Index of the lane's first pixel in row r, in planes with a border.
  [[nodiscard]] __device__ std::int64_t place(int r) const {
    return tiles_.place(left_ - fill_reach + lane_index() * lane_pixels, top_ - fill_reach + first_row() + r);
  }

  __device__ void read_groups() {
    const auto i = static_cast<int>(threadIdx.x);
    static_assert(table_height * row_words <= table_threads);
    if (i >= table_height * row_words) return;
    const std::int64_t corner =
        tiles_.place(left_ - fill_reach, top_ - fill_reach + i / row_words) / warp_size;
    shared_.groups[i / row_words][i % row_words] =
        tiles_.groups[(fill_.group - 1) * tiles_.bits_plane() + corner + i % row_words];
  }

  __device__ void integrate_counts() {
    constexpr int word_lanes = warp_size / lane_pixels;
    constexpr unsigned lane_bits = (1U << lane_pixels) - 1U;
    const int shift = lane_index() % word_lanes * lane_pixels;
    std::uint32_t rows[warp_rows];
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
      const GroupBits own = shared_.groups[first_row() + r][lane_index() / word_lanes];
      const std::uint32_t in_group = own.in_group >> shift & lane_bits;
      rows[r] = fill_count(in_group, own.from_group_on >> shift & lane_bits);
      in_group_ |= in_group << (r * lane_pixels);
    }
    table_.integrate([&](int r, std::uint32_t(&values)[lane_pixels]) {
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) values[p] = rows[r] >> p & fill_count(1, 1);
    });
  }

  /// Returns all ones if pixel p of row r is in the group.
  [[nodiscard]] __device__ std::uint32_t mask(int r, int p) const {
    return 0U - (in_group_ >> (r * lane_pixels + p) & 1U);
  }

  __device__ void integrate_radii() {
    int4 rows[warp_rows];
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) rows[r] = *reinterpret_cast<const int4*>(tiles_.radii + place(r));
    table_.integrate([&](int r, std::uint32_t(&values)[lane_pixels]) {
      const std::int32_t own[lane_pixels] = {rows[r].x, rows[r].y, rows[r].z, rows[r].w};
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) values[p] = static_cast<std::uint32_t>(own[p]) & mask(r, p);
    });
  }

  __device__ void integrate_light(int channel) {
    const std::uint16_t* light = tiles_.light + channel * tiles_.plane();
    uint2 rows[warp_rows];
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
      rows[r] = *reinterpret_cast<const uint2*>(light + place(r));
      rows[r].x &= __byte_perm(mask(r, 0), mask(r, 1), 0x5410);
      rows[r].y &= __byte_perm(mask(r, 2), mask(r, 3), 0x5410);
    }
    table_.integrate([&](int r, std::uint32_t(&values)[lane_pixels]) {
      values[0] = rows[r].x & 0xFFFFU;
      values[1] = rows[r].x >> 16;
      values[2] = rows[r].y & 0xFFFFU;
      values[3] = rows[r].y >> 16;
    });
  }

  /// Returns the bits of pixel (x, y) of the table as bit 0.
  [[nodiscard]] __device__ GroupBits bits_at(int x, int y) const {
    const GroupBits& word = shared_.groups[y][x / warp_size];
    return {word.in_group >> x % warp_size & 1U, word.from_group_on >> x % warp_size & 1U};
  }

  /// The search of FillDisocclusions::hidden_at() from pixel (x, y) of the picture.
  [[nodiscard]] __device__ int nearest(int x, int y, int step_x, int step_y) const {
    const int u = x - left_ + fill_reach;
    const int v = y - top_ + fill_reach;
    unsigned found = 0;
#pragma unroll
    for (int i = 1; i <= refined_reach; ++i)
      found |= bits_at(u + i * step_x, v + i * step_y).from_group_on << i;
    if (found == 0) return 0;
    const int distance = __ffs(static_cast<int>(found)) - 1;
    return bits_at(u + distance * step_x, v + distance * step_y).in_group != 0 ? distance : 0;
  }

  [[nodiscard]] __device__ std::uint32_t window(int i, int number) const {
    return table_.window(x_of(i) + fill_reach, y_of(i) + fill_reach, fill_window(number).reach);
  }

  [[nodiscard]] __device__ bool is_nearer(int x, int y) const {
    return fill_.planes.holds(left_ + x, top_ + y) &&
           bits_at(x + fill_reach, y + fill_reach).from_group_on == 0;
  }

  /// Loads the values of the thread's pixels for which needed(i), all in flight together.
  template <class T, class Needed>
  __device__ void load_own(const T* plane, T (&values)[4], const Needed& needed) const {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      values[i] = needed(i) ? plane[fill_.planes.place(left_ + x_of(i), top_ + y_of(i))] : 0;
  }

  /// Reads the windows of counts. Returns whether any of the thread's pixels may have a sample.
  __device__ bool count() {
    bool any = false;
    std::uint32_t radii[4];
    load_own(fill_.planes.magnitudes, radii, [&](int i) { return is_nearer(x_of(i), y_of(i)); });
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      FillFound<Channels>& found = found_[i];
      if (!is_nearer(x_of(i), y_of(i))) continue;
      std::uint32_t sums[fill_windows];
#pragma unroll
      for (int number = 0; number < fill_windows; ++number) sums[number] = window(i, number);
      if ((sums[fill_windows - 1] & 0xFFFFU) == 0) continue;
      fill_.expose(fill_.planes.place(left_ + x_of(i), top_ + y_of(i)), radii[i], [&](int reach) {
        return table_.window(x_of(i) + fill_reach, y_of(i) + fill_reach, reach) & 0xFFFFU;
      });
      found.first = fill_windows - 1;
#pragma unroll
      for (int number = fill_windows - 2; number >= 0; --number)
        if (found.first == number + 1 && sums[number] != 0) found.first = number;
#pragma unroll
      for (int number = 0; number < fill_windows; ++number)
        if (number >= found.first) found.add_counts(number, sums[number]);
      if (found.is_rare()) found.first = fill_windows;
      any = any || found.first < fill_windows;
    }
    return any;
  }

  /// Drops samples that do not show. Returns whether any remain.
  __device__ bool drop_unseen() {
    bool any = false;
    std::int32_t radii[4];
    load_own(fill_.planes.radii, radii, [&](int i) { return found_[i].first < fill_windows; });
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (found_[i].first == fill_windows) continue;
      if (!fill_.shows(radii[i], found_[i])) found_[i].first = fill_windows;
      any = any || found_[i].first < fill_windows;
    }
    return any;
  }

  template <class Add>
  __device__ void look_up(const Add& add) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (found_[i].first == fill_windows) continue;
#pragma unroll
      for (int number = 0; number < fill_windows; ++number)
        if (number >= found_[i].first) add(found_[i], number, window(i, number));
    }
  }

  // Few pixels of a tile have samples, and these are expensive. They are compacted into slots in the table's
  // memory, which is free by then. Word 0 of a slot holds the pixel and its first window.
  static constexpr int tile_pixels = tile_width * tile_height;
  static constexpr int found_words = 4 + Channels;
  static constexpr int rounds = tile_pixels * found_words * 4 <= SharedTable::bytes ? 1 : 2;
  static constexpr int slots = tile_pixels / rounds;
  static_assert(slots * found_words * 4 <= SharedTable::bytes);

  [[nodiscard]] __device__ std::uint32_t& word(int number, std::uint32_t slot) const {
    return table_.memory()[static_cast<std::uint32_t>(number * slots) + slot];
  }
  [[nodiscard]] __device__ float get(int number, std::uint32_t slot) const {
    return __uint_as_float(word(number, slot));
  }
  __device__ void set(int number, std::uint32_t slot, float value) const {
    word(number, slot) = __float_as_uint(value);
  }

  __device__ void put_found(std::uint32_t slot, int i) const {
    const FillFound<Channels>& found = found_[i];
    word(0, slot) = static_cast<std::uint32_t>(found.first * tile_pixels + y_of(i) * tile_width + x_of(i));
    set(1, slot, found.in_group);
    set(2, slot, found.from_group_on);
    set(3, slot, found.radius);
#pragma unroll
    for (int c = 0; c < Channels; ++c) set(4 + c, slot, found.colour[c]);
  }

  /// Replaces a slot by the hidden sample of its pixel.
  __device__ void make_hidden(std::uint32_t slot) const {
    FillFound<Channels> found;
    const auto pixel = static_cast<int>(word(0, slot));
    found.first = pixel / tile_pixels;
    found.in_group = get(1, slot);
    found.from_group_on = get(2, slot);
    found.radius = get(3, slot);
#pragma unroll
    for (int c = 0; c < Channels; ++c) found.colour[c] = get(4 + c, slot);
    const auto search = [&](int x, int y, int step_x, int step_y) { return nearest(x, y, step_x, step_y); };
    const Hidden hidden =
        fill_.hidden_at(left_ + pixel % tile_width, top_ + pixel / tile_width % tile_height, found, search);
    set(1, slot, hidden.weight);
    set(3, slot, hidden.radius);
#pragma unroll
    for (int c = 0; c < Channels; ++c) set(4 + c, slot, hidden.colour[c]);
  }

  /// Makes the hidden samples of the thread's pixels, if its warp belongs to this round. Returns whether
  /// there are any.
  __device__ bool find_hidden(int round, Hidden (&hidden)[4]) {
    __syncthreads();
    if (threadIdx.x == 0) shared_.slots = 0;
    __syncthreads();
    const bool here = static_cast<int>(threadIdx.x) / (table_threads / rounds) == round;
    std::uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) count += here && found_[i].first < fill_windows ? 1U : 0U;
    const std::uint32_t up_to = inclusive_scan(count);
    std::uint32_t first = 0;
    if (lane_index() == warp_size - 1 && up_to != 0) first = atomicAdd(&shared_.slots, up_to);
    first = __shfl_sync(whole_warp, first, warp_size - 1) + up_to - count;
    std::uint32_t slot = first;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (here && found_[i].first < fill_windows) put_found(slot++, i);
    __syncthreads();
    for (std::uint32_t own = threadIdx.x; own < shared_.slots; own += table_threads) make_hidden(own);
    __syncthreads();
    bool any = false;
    slot = first;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (!here || found_[i].first == fill_windows) continue;
      hidden[i].weight = get(1, slot);
      hidden[i].radius = get(3, slot);
#pragma unroll
      for (int c = 0; c < Channels; ++c) hidden[i].colour[c] = get(4 + c, slot);
      ++slot;
      any = any || hidden[i].weight > 0;
    }
    return any;
  }

  /// Appends the samples of the tile to the list, side by side.
  __device__ FilledTile add_samples() {
    const int column = (left_ + x_of(0)) / 2;
    const int row = (top_ + y_of(0)) / 2;
    Hidden hidden[4] = {};
    bool any = false;
#pragma unroll
    for (int round = 0; round < rounds; ++round) any = find_hidden(round, hidden) || any;
    std::uint32_t count = 0;
    std::uint32_t sharp = 0;
    if (any)
      fill_.for_samples_of_block(column, row, hidden, [&](const LensSample& sample) {
        ++count;
        sharp += sample.radius < nonlocal_radius ? 1U : 0U;
      });
    const FilledTile all = reserve(count, sharp);
    std::uint32_t at = all.first + first_of_thread_;
    if (any)
      fill_.for_samples_of_block(column, row, hidden, [&](const LensSample& sample) {
        if (at < fill_.list.capacity) fill_.list.samples[at] = sample;
        ++at;
      });
    return all;
  }

  /// Reserves list entries for the samples of all threads.
  __device__ FilledTile reserve(std::uint32_t count, std::uint32_t sharp) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::uint32_t up_to = inclusive_scan(count);
    if (lane_index() == warp_size - 1) shared_.of_warps[warp] = up_to;
    sharp = sum_of_lanes(sharp);
    if (threadIdx.x == 0) shared_.sharp = 0;
    __syncthreads();
    if (lane_index() == 0 && sharp != 0) atomicAdd(&shared_.sharp, sharp);
    std::uint32_t before = 0;
    std::uint32_t all = 0;
#pragma unroll
    for (int i = 0; i < table_warps; ++i) {
      before += i < warp ? shared_.of_warps[i] : 0;
      all += shared_.of_warps[i];
    }
    first_of_thread_ = before + up_to - count;
    __syncthreads();
    if (threadIdx.x == 0) {
      shared_.first = *fill_.list.count + add_shared(fill_.list.attempted, all);
      if (shared_.sharp != 0) add_shared(tiles_.counters->sharp + fill_.group, shared_.sharp);
    }
    __syncthreads();
    return {shared_.first, all};
  }

  const FillDisocclusions<Channels>& fill_;
  const FillTiles& tiles_;
  SharedTable table_;
  SharedFill& shared_;
  int left_;
  int top_;
  unsigned in_group_ = 0;  ///< a bit per pixel that the thread adds to the table
  std::uint32_t first_of_thread_ = 0;
  FillFound<Channels> found_[4];
};

namespace {

int ceil_divided(int size, int unit) { return (size + unit - 1) / unit; }

/// Workspace that is divided into arrays, each aligned to 16 bytes.
struct Workspace {
  std::byte* at;
  std::size_t bytes = 0;

  template <class T>
  T* take(std::int64_t count) {
    T* taken = reinterpret_cast<T*>(at + bytes);
    bytes += (static_cast<std::size_t>(count) * sizeof(T) + 15) / 16 * 16;
    return taken;
  }
};

FillTiles tiles_in(Workspace& workspace, const LensLayersJob& job) {
  const auto width = static_cast<int>(job.width);
  const auto height = static_cast<int>(job.height);
  FillTiles tiles{};
  tiles.columns = ceil_divided(width, tile_width);
  tiles.rows = ceil_divided(height, tile_height);
  tiles.cell_columns = ceil_divided(width, cell_side);
  tiles.cell_rows = ceil_divided(height, cell_side);
  const std::int64_t most = std::int64_t{lens_most_groups} * tiles.tiles();
  tiles.groups = workspace.take<GroupBits>(tiles.bits_plane() * (lens_most_groups - 1));
  tiles.radii = workspace.take<std::int32_t>(tiles.plane());
  tiles.light = workspace.take<std::uint16_t>(tiles.plane() * job.channels);
  tiles.counters = workspace.take<FillCounters>(1);
  tiles.list = workspace.take<std::uint32_t>(most);
  tiles.filled = workspace.take<FilledTile>(most);
  const std::int64_t cells = std::int64_t{tiles.cell_columns} * tiles.cell_rows;
  tiles.cells = workspace.take<std::uint8_t>(cells);
  tiles.wanted = workspace.take<std::uint8_t>(cells);
  return tiles;
}

/// Stores the group bits of 32 pixels of a row, by the warp that holds them.
__device__ void store_bits(const FillTiles& tiles, int x, int y, int group) {
  GroupBits own;
#pragma unroll
  for (int i = 1; i < lens_most_groups; ++i) {
    const GroupBits bits{__ballot_sync(whole_warp, group == i), __ballot_sync(whole_warp, group >= i)};
    if (lane_index() + 1 == i) own = bits;
  }
  if (lane_index() + 1 >= lens_most_groups) return;
  const std::int64_t word = tiles.place(x - lane_index(), y) / warp_size;
  tiles.groups[lane_index() * tiles.bits_plane() + word] = own;
}

constexpr int packed_rows = 2;  ///< rows per thread
static_assert(cell_side % packed_rows == 0 && plane_threads % cell_side == 0);

/// Packs groups, radii and compressed colours where listed tiles read them, and words for the non-local fill.
/// With `rest`, packs the words of all other pixels, if they are needed. A warp has pixels of one cell.
template <int Channels>
__global__ void __launch_bounds__(plane_threads)
    pack_pixels(const LensPlanes planes, const __grid_constant__ FillTiles tiles,
                const __grid_constant__ PackColours<Channels> words, bool rest) {
  if (rest && !tiles.counters->any_sharp()) return;
  const int x = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x);
  if (x - lane_index() >= planes.width) return;
  const bool exists = x < planes.width;
  const LensUnit unit = *words.fill.unit;
  const std::uint32_t used[] = {words.used(0), words.used(1), words.used(2)};
  for (int top = static_cast<int>(blockIdx.y) * packed_rows; top < planes.height;
       top += static_cast<int>(gridDim.y) * packed_rows) {
    if ((tiles.wanted[top / cell_side * tiles.cell_columns + x / cell_side] != 0) == rest) continue;
    const int bottom = min(top + packed_rows, planes.height);
#pragma unroll 2
    for (int y = top; y < bottom; ++y) {
      const std::int64_t at = planes.place(x, y);
      const int group = exists ? planes.groups[at] : -1;
      if (!rest) store_bits(tiles, x, y, group);
      if (!exists) continue;
      float light[4] = {};
      float compressed[4] = {};
#pragma unroll
      for (int c = 0; c < Channels; ++c) light[c] = lens_light(planes.colours[at * Channels + c], unit);
#pragma unroll
      for (int c = 0; c < Channels; ++c) compressed[c] = compressed_light(light[c]);
      words.fill.words[at] =
          words.packed(static_cast<std::uint32_t>(group), planes.edges[at], light, compressed, used);
      if (rest) continue;
      const std::int64_t place = tiles.place(x, y);
#pragma unroll
      for (int c = 0; c < Channels; ++c)
        tiles.light[place + c * tiles.plane()] = static_cast<std::uint16_t>(packed_light(compressed[c]));
      tiles.radii[place] = planes.radii[at];
    }
  }
}

/// Finds the groups of a cell, by one warp.
__global__ void __launch_bounds__(tuning::fill_cell_threads)
    find_groups_of_cells(const LensPlanes planes, const FillTiles tiles) {
  const int cell = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / warp_size);
  if (cell >= tiles.cell_columns * tiles.cell_rows) return;
  const int x = cell % tiles.cell_columns * cell_side + lane_index();
  const int top = cell / tiles.cell_columns * cell_side;
  unsigned bits = 0;
#pragma unroll
  for (int y = top; y < top + cell_side; ++y)
    if (planes.holds(x, y)) bits |= 1U << planes.groups[planes.place(x, y)];
  for (int distance = 1; distance < warp_size; distance *= 2)
    bits |= __shfl_xor_sync(whole_warp, bits, distance);
  if (lane_index() != 0) return;
  tiles.cells[cell] = static_cast<std::uint8_t>(bits);
  tiles.wanted[cell] = 0;
}

/// Calls use(cell) for the cells of a rectangle within the picture.
template <class Use>
__device__ void for_cells(const FillTiles& tiles, int first_column, int last_column, int first_row,
                          int last_row, const Use& use) {
  for (int row = max(first_row, 0); row <= min(last_row, tiles.cell_rows - 1); ++row)
    for (int column = max(first_column, 0); column <= min(last_column, tiles.cell_columns - 1); ++column)
      use(row * tiles.cell_columns + column);
}

__device__ unsigned groups_of_cells(const FillTiles& tiles, int first_column, int last_column, int first_row,
                                    int last_row) {
  unsigned bits = 0;
  for_cells(tiles, first_column, last_column, first_row, last_row,
            [&](int cell) { bits |= tiles.cells[cell]; });
  return bits;
}

/// Lists a tile for each group that it needs, by one thread. The order of the list does not matter.
__global__ void __launch_bounds__(tuning::fill_cell_threads) list_tiles(const FillTiles tiles) {
  constexpr int cells_across = tile_width / cell_side;
  const int tile = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (tile >= tiles.tiles()) return;
  const int column = tile % tiles.columns * cells_across;
  const int row = tile / tiles.columns;
  const unsigned inside = groups_of_cells(tiles, column, column + cells_across - 1, row, row);
  const unsigned around = groups_of_cells(tiles, column - 1, column + cells_across, row - 1, row + 1);
  bool listed = false;
  for (int group = 1; group < lens_most_groups; ++group) {
    if ((around >> group & 1U) == 0 || (inside & ((1U << group) - 1U)) == 0) continue;
    tiles.list[add_shared(&tiles.counters->listed, 1)] =
        static_cast<std::uint32_t>(group * tiles.tiles() + tile);
    listed = true;
  }
  if (!listed) return;
  for_cells(tiles, column - 1, column + cells_across, row - 1, row + 1,
            [&](int cell) { tiles.wanted[cell] = 1; });
}

/// Lets the last block of a launch complete the list. Samples that do not fit are dropped.
__device__ void finish(const LensList& list, const FillTiles& tiles, int group) {
  __threadfence();
  __syncthreads();
  FillCounters& counters = *tiles.counters;
  if (threadIdx.x != 0 || add_shared(&counters.blocks_done, 1) + 1 != gridDim.x) return;
  __threadfence();
  counters.blocks_done = 0;
  counters.taken = 0;
  const bool fits = list.complete();
  if (group == 0) counters.complete = fits ? 1 : 0;
  if (fits) return;
  for (int i = 0; i < lens_most_groups; ++i)
    if (group == 0 || i == group) counters.sharp[i] = 0;
}

/// Returns the index of the next listed tile, for all threads of a block.
__device__ std::uint32_t take_tile(const FillTiles& tiles, std::uint32_t& shared) {
  __syncthreads();
  if (threadIdx.x == 0) shared = add_shared(&tiles.counters->taken, 1);
  __syncthreads();
  return shared;
}

/// Blocks take the listed tiles of group `fill.group`, or of all groups if it is 0. Does nothing if an
/// earlier launch completed all groups.
template <int Channels>
__global__ void __launch_bounds__(table_threads, tuning::fill_blocks_per_multiprocessor)
    fill_listed_tiles(const __grid_constant__ FillDisocclusions<Channels> fill,
                      const __grid_constant__ FillTiles tiles) {
  extern __shared__ uint4 table_memory[];
  __shared__ SharedFill shared;
  const bool all_groups = fill.group == 0;
  if (tiles.counters->complete != 0) return;
  SharedTable table(reinterpret_cast<std::uint32_t*>(table_memory));
  const std::uint32_t count = tiles.counters->listed;
  for (std::uint32_t i = take_tile(tiles, shared.taken); i < count; i = take_tile(tiles, shared.taken)) {
    const auto listed = static_cast<int>(tiles.list[i]);
    const int group = listed / tiles.tiles();
    if (!all_groups && group != fill.group) continue;
    const FillDisocclusions<Channels> own{fill.planes, fill.unit, group, fill.list, fill.merged_radius};
    const FilledTile filled = TileFill<Channels>(own, tiles, listed % tiles.tiles(), table, shared).run();
    if (threadIdx.x == 0) tiles.filled[i] = filled;
  }
  finish(fill.list, tiles, fill.group);
}

}  // namespace

FillTiles fill_tiles(const LensLayersArguments& arguments) {
  Workspace workspace{static_cast<std::byte*>(arguments.fill_workspace)};
  return tiles_in(workspace, arguments.job);
}

int prepare_fill_disocclusions(int channels) {
  return with_channels(channels,
                       [&]<int Channels>() { return allow_all_shared_memory(fill_listed_tiles<Channels>); });
}

std::size_t fill_workspace_bytes(const LensLayersJob& job) {
  Workspace workspace{nullptr};
  tiles_in(workspace, job);
  return workspace.bytes;
}

void fill_disocclusions(const LensLayersArguments& arguments, const LensScene& scene, StreamHandle stream) {
  const LensPlanes& planes = scene.planes;
  const FillTiles tiles = fill_tiles(arguments);
  cudaMemsetAsync(tiles.counters, 0, sizeof(FillCounters), stream);
  cudaMemsetAsync(planes.exposed, 0, static_cast<std::size_t>(planes.place(0, planes.height)), stream);
  constexpr int cell_warps = tuning::fill_cell_threads / warp_size;
  find_groups_of_cells<<<ceil_divided(tiles.cell_columns * tiles.cell_rows, cell_warps),
                         tuning::fill_cell_threads, 0, stream>>>(planes, tiles);
  list_tiles<<<ceil_divided(tiles.tiles(), tuning::fill_cell_threads), tuning::fill_cell_threads, 0,
               stream>>>(tiles);
  const int most_blocks = arguments.multiprocessors * tuning::fill_blocks_per_multiprocessor;
  const int blocks = most_blocks < tiles.tiles() ? most_blocks : tiles.tiles();
  with_channels(planes.channels, [&]<int Channels>() {
    const PackColours<Channels> words{nonlocal_fill(arguments, scene)};
    const dim3 grid = plane_grid(planes.width, ceil_divided(planes.height, packed_rows));
    pack_pixels<Channels><<<grid, plane_threads, 0, stream>>>(planes, tiles, words, false);
    const auto launch = [&](int group, float merged_radius) {
      const FillDisocclusions<Channels> fill{planes, scene.unit, group, scene.list, merged_radius};
      fill_listed_tiles<Channels><<<blocks, table_threads, SharedTable::bytes, stream>>>(fill, tiles);
    };
    launch(0, arguments.job.merged_radius);
    launch(0, lower_merged_radius);
    for (int group = 1; group < arguments.job.most_groups; ++group) launch(group, every_merged_radius);
    pack_pixels<Channels><<<grid, plane_threads, 0, stream>>>(planes, tiles, words, true);
  });
}

}  // namespace satin::kernels
