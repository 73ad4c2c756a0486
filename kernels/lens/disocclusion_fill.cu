// Hidden samples, by tiles of 64 x 32 pixels: only those that hold something nearer than a group, with the
// group no farther than a window reaches. Each block builds the table of its tile and what lies around it in
// shared memory, one quantity after the other, and looks the windows of its pixels up before the next one.
// Compressed colours are made once, as every pixel is in a dozen tables.
//
// All groups are made at once. Where their samples do not fit into the list they are made again, one group
// after the other, as then the order says which ones are left away.

#include "lens/maths/disocclusion_fill.h"

#include "core/with_type.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/lens/disocclusion_fill_table.cuh"
#include "kernels/lens/fill_tiles.cuh"
#include "kernels/lens/launch.h"
#include "kernels/pixels/plane.cuh"
#include "lens/lens_layers.h"
#include "lens/maths/depth_groups.h"
#include "lens/maths/nonlocal_work.h"

namespace satin::kernels {
namespace {

static_assert(lane_pixels * warp_rows <= 32);  // a bit each

int whole(int size, int part) { return (size + part - 1) / part; }

/// Parts of a workspace one after the other, each of which may hold 16 bytes at once.
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

FillTiles place(const LensLayersJob& job, Workspace& workspace) {
  const auto width = static_cast<int>(job.width);
  const auto height = static_cast<int>(job.height);
  FillTiles tiles{};
  tiles.columns = whole(width, tile_width);
  tiles.rows = whole(height, tile_height);
  tiles.cell_columns = whole(width, cell_side);
  tiles.cell_rows = whole(height, cell_side);
  const std::int64_t most = std::int64_t{lens_most_groups} * tiles.tiles();
  tiles.tags = workspace.take<std::uint32_t>(tiles.plane());
  tiles.light = workspace.take<std::uint16_t>(tiles.plane() * job.channels);
  tiles.counters = workspace.take<FillCounters>(1);
  tiles.list = workspace.take<std::uint32_t>(most);
  tiles.filled = workspace.take<FilledTile>(most);
  const std::int64_t cells = std::int64_t{tiles.cell_columns} * tiles.cell_rows;
  tiles.cells = workspace.take<std::uint8_t>(cells);
  tiles.wanted = workspace.take<std::uint8_t>(cells);
  return tiles;
}

constexpr int packed_rows = 8;  ///< of a thread
static_assert(cell_side % packed_rows == 0 && plane_threads % cell_side == 0);

/// Tags and compressed colours where tiles look, and words for the non-local fill. The rest gets its words
/// later, if they are needed.
template <int Channels>
__global__ void __launch_bounds__(plane_threads)
    pack_pixels(const LensPlanes planes, const __grid_constant__ FillTiles tiles,
                const __grid_constant__ PackColours words, bool rest) {
  if (rest && !tiles.counters->any_sharp()) return;
  const int x = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x);
  if (x >= planes.width) return;
  const LensUnit unit = *words.fill.unit;
  for (int top = static_cast<int>(blockIdx.y) * packed_rows; top < planes.height;
       top += static_cast<int>(gridDim.y) * packed_rows) {
    if ((tiles.wanted[top / cell_side * tiles.cell_columns + x / cell_side] != 0) == rest) continue;
    const int bottom = min(top + packed_rows, planes.height);
#pragma unroll 2
    for (int y = top; y < bottom; ++y) {
      const std::int64_t at = planes.place(x, y);
      float light[4] = {};
#pragma unroll
      for (int c = 0; c < Channels; ++c) light[c] = lens_light(planes.colours[at * Channels + c], unit);
      words.fill.words[at] = words.packed(at, light);
      if (rest) continue;
      const std::int64_t place = tiles.place(x, y);
#pragma unroll
      for (int c = 0; c < Channels; ++c)
        tiles.light[place + c * tiles.plane()] = static_cast<std::uint16_t>(compressed(light[c]));
      tiles.tags[place] = fill_tag(planes.radii[at], planes.groups[at]);
    }
  }
}

/// One warp a cell: the bits of the groups in it.
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

/// Calls use(cell) for the cells of a rectangle that are in the picture.
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

/// One thread a tile. The order of a list does not matter: samples have none.
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

/// Which pixels of the table are of the group, and which are of it or behind it. Bit l of word p of a row is
/// of column 4 l + p.
struct SharedGroups {
  std::uint32_t in_group[table_height][lane_pixels];
  std::uint32_t from_group_on[table_height][lane_pixels];
};
[[nodiscard]] __device__ unsigned bit_at(const std::uint32_t (&rows)[table_height][lane_pixels], int x,
                                         int y) {
  return rows[y][x % lane_pixels] >> (x / lane_pixels) & 1U;
}

/// What a block shares beside the table.
struct SharedFill {
  SharedGroups groups;
  std::uint32_t taken;  ///< number of the tile in the list
  std::uint32_t sharp;  ///< samples that the non-local fill takes
  std::uint32_t first;  ///< sample of the tile
  std::uint32_t of_warps[fill_warps];
};

/// One tile of one group, by one block.
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
    read_groups();
    table_.integrate([&](int r, std::uint32_t(&values)[lane_pixels]) {
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p)
        values[p] = fill_count(bit(in_group_, r, p), bit(from_group_on_, r, p));
    });
    __syncthreads();
    if (__syncthreads_or(count() ? 1 : 0) == 0) return {};
    table_.integrate([&](int r, std::uint32_t(&values)[lane_pixels]) {
      const uint4 tags = tags_of(r);
      const std::uint32_t own[lane_pixels] = {tags.x, tags.y, tags.z, tags.w};
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p)
        values[p] = bit(in_group_, r, p) == 0 ? 0 : static_cast<std::uint32_t>(tag_radius(own[p]));
    });
    __syncthreads();
    look_up([&](FillFound<Channels>& found, int i, std::uint32_t sum) { found.add_radius(i, sum); });
    if (__syncthreads_or(leave_away_unseen() ? 1 : 0) == 0) return {};
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      integrate_light(c);
      __syncthreads();
      look_up([&](FillFound<Channels>& found, int i, std::uint32_t sum) { found.add_colour(i, c, sum); });
    }
    return add_samples();
  }

 private:
  /// Places in the tile of the four pixels of this thread, a block of 2 x 2.
  [[nodiscard]] __device__ static int x_of(int i) { return 2 * lane_index() + (i & 1); }
  [[nodiscard]] __device__ static int y_of(int i) {
    return static_cast<int>(threadIdx.x) / warp_size * 2 + (i >> 1);
  }
  [[nodiscard]] __device__ static std::uint32_t bit(unsigned bits, int r, int p) {
    return bits >> (r * lane_pixels + p) & 1U;
  }
  /// Place of the lane's first pixel of row r, in planes with a border.
  [[nodiscard]] __device__ std::int64_t place(int r) const {
    return tiles_.place(left_ - fill_reach + lane_index() * lane_pixels,
                        top_ - fill_reach + static_cast<int>(threadIdx.x) / warp_size * warp_rows + r);
  }
  [[nodiscard]] __device__ uint4 tags_of(int r) const {
    return *reinterpret_cast<const uint4*>(tiles_.tags + place(r));
  }

  __device__ void read_groups() {
    const auto group = static_cast<std::uint32_t>(fill_.group + 1);
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
      const uint4 tags = tags_of(r);
      const std::uint32_t own[lane_pixels] = {tag_group(tags.x), tag_group(tags.y), tag_group(tags.z),
                                              tag_group(tags.w)};
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) {
        in_group_ |= (own[p] == group ? 1U : 0U) << (r * lane_pixels + p);
        from_group_on_ |= (own[p] >= group ? 1U : 0U) << (r * lane_pixels + p);
      }
    }
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) {
        const unsigned in_group = __ballot_sync(whole_warp, bit(in_group_, r, p) != 0);
        const unsigned from_group_on = __ballot_sync(whole_warp, bit(from_group_on_, r, p) != 0);
        const int y = static_cast<int>(threadIdx.x) / warp_size * warp_rows + r;
        if (lane_index() == 0) shared_.groups.in_group[y][p] = in_group;
        if (lane_index() == 0) shared_.groups.from_group_on[y][p] = from_group_on;
      }
    }
  }

  __device__ void integrate_light(int channel) {
    const std::uint16_t* light = tiles_.light + channel * tiles_.plane();
    uint2 rows[warp_rows];
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) rows[r] = *reinterpret_cast<const uint2*>(light + place(r));
    table_.integrate([&](int r, std::uint32_t(&values)[lane_pixels]) {
      const std::uint32_t own[lane_pixels] = {rows[r].x & 0xFFFFU, rows[r].x >> 16, rows[r].y & 0xFFFFU,
                                              rows[r].y >> 16};
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) values[p] = bit(in_group_, r, p) == 0 ? 0 : own[p];
    });
  }

  /// Steps to the nearest pixel of the kind that hidden_at() asks for, 0 if there is none; (x, y) is in the
  /// picture.
  [[nodiscard]] __device__ int nearest(int x, int y, int step_x, int step_y) const {
    const int u = x - left_ + fill_reach;
    const int v = y - top_ + fill_reach;
    unsigned found = 0;
#pragma unroll
    for (int i = 1; i <= refined_reach; ++i)
      found |= bit_at(shared_.groups.from_group_on, u + i * step_x, v + i * step_y) << i;
    if (found == 0) return 0;
    const int distance = __ffs(static_cast<int>(found)) - 1;
    return bit_at(shared_.groups.in_group, u + distance * step_x, v + distance * step_y) != 0 ? distance : 0;
  }

  [[nodiscard]] __device__ std::uint32_t window(int i, int number) const {
    return table_.window(x_of(i) + fill_reach, y_of(i) + fill_reach, fill_window(number).reach);
  }

  /// Whether any of the thread's pixels has a sample.
  __device__ bool count() {
    bool any = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      FillFound<Channels>& found = found_[i];
      if (!fill_.is_nearer(left_ + x_of(i), top_ + y_of(i))) continue;
      std::uint32_t sums[fill_windows];
#pragma unroll
      for (int number = 0; number < fill_windows; ++number) sums[number] = window(i, number);
      if ((sums[fill_windows - 1] & 0xFFFFU) == 0) continue;
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

  /// Whether samples remain.
  __device__ bool leave_away_unseen() {
    bool any = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (found_[i].first == fill_windows) continue;
      if (!fill_.shows(left_ + x_of(i), top_ + y_of(i), found_[i])) found_[i].first = fill_windows;
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

  /// The samples of a tile lie side by side in the list.
  __device__ FilledTile add_samples() {
    const auto search = [&](int x, int y, int step_x, int step_y) { return nearest(x, y, step_x, step_y); };
    const int column = (left_ + x_of(0)) / 2;
    const int row = (top_ + y_of(0)) / 2;
    Hidden hidden[4];
    bool any = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      hidden[i] = fill_.hidden_at(left_ + x_of(i), top_ + y_of(i), found_[i], search);
      any = any || hidden[i].weight > 0;
    }
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

  /// Places in the list for the samples of all threads.
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
    for (int i = 0; i < fill_warps; ++i) {
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
  unsigned in_group_ = 0;
  unsigned from_group_on_ = 0;
  std::uint32_t first_of_thread_ = 0;
  FillFound<Channels> found_[4];
};

/// The last block of a launch ends what was made. Samples of groups that do not fit do not exist.
__device__ void finish(const LensList& list, const FillTiles& tiles, int group) {
  __threadfence();
  __syncthreads();
  FillCounters& counters = *tiles.counters;
  if (threadIdx.x != 0 || add_shared(&counters.blocks_done, 1) + 1 != gridDim.x) return;
  __threadfence();
  counters.blocks_done = 0;
  counters.taken = 0;
  const bool fits = list.complete();
  if (group == 0) counters.one_by_one = fits ? 0 : 1;
  if (fits) return;
  for (int i = 0; i < lens_most_groups; ++i)
    if (group == 0 || i == group) counters.sharp[i] = 0;
}

/// The next listed tile, by all threads of a block.
__device__ std::uint32_t take_tile(const FillTiles& tiles, std::uint32_t& shared) {
  __syncthreads();
  if (threadIdx.x == 0) shared = add_shared(&tiles.counters->taken, 1);
  __syncthreads();
  return shared;
}

/// Blocks take the listed tiles as they come free: those of one group, or of all if it is 0.
template <int Channels>
__global__ void __launch_bounds__(fill_threads, tuning::fill_blocks_per_multiprocessor)
    fill_listed_tiles(const __grid_constant__ FillDisocclusions<Channels> fill,
                      const __grid_constant__ FillTiles tiles) {
  extern __shared__ uint4 table_memory[];
  __shared__ SharedFill shared;
  const bool all_groups = fill.group == 0;
  if (!all_groups && tiles.counters->one_by_one == 0) return;
  SharedTable table(reinterpret_cast<std::uint32_t*>(table_memory));
  table.clear_border();
  const std::uint32_t count = tiles.counters->listed;
  for (std::uint32_t i = take_tile(tiles, shared.taken); i < count; i = take_tile(tiles, shared.taken)) {
    const auto listed = static_cast<int>(tiles.list[i]);
    const int group = listed / tiles.tiles();
    if (!all_groups && group != fill.group) continue;
    const FillDisocclusions<Channels> own{fill.planes, fill.unit, group, fill.list};
    const FilledTile filled = TileFill<Channels>(own, tiles, listed % tiles.tiles(), table, shared).run();
    if (threadIdx.x == 0) tiles.filled[i] = filled;
  }
  finish(fill.list, tiles, fill.group);
}

}  // namespace

FillTiles fill_tiles(const LensLayersArguments& arguments) {
  Workspace workspace{static_cast<std::byte*>(arguments.fill_workspace)};
  return place(arguments.job, workspace);
}

int prepare_fill_disocclusions(int channels) {
  return with_channels(channels,
                       [&]<int Channels>() { return allow_all_shared_memory(fill_listed_tiles<Channels>); });
}

std::size_t fill_workspace_bytes(const LensLayersJob& job) {
  Workspace workspace{nullptr};
  place(job, workspace);
  return workspace.bytes;
}

void fill_disocclusions(const LensLayersArguments& arguments, const LensScene& scene, StreamHandle stream) {
  const LensPlanes& planes = scene.planes;
  const FillTiles tiles = fill_tiles(arguments);
  cudaMemsetAsync(tiles.counters, 0, sizeof(FillCounters), stream);
  constexpr int cell_warps = tuning::fill_cell_threads / warp_size;
  find_groups_of_cells<<<whole(tiles.cell_columns * tiles.cell_rows, cell_warps), tuning::fill_cell_threads,
                         0, stream>>>(planes, tiles);
  list_tiles<<<whole(tiles.tiles(), tuning::fill_cell_threads), tuning::fill_cell_threads, 0, stream>>>(
      tiles);
  const int most_blocks = arguments.multiprocessors * tuning::fill_blocks_per_multiprocessor;
  const int blocks = most_blocks < tiles.tiles() ? most_blocks : tiles.tiles();
  const PackColours words{nonlocal_fill(arguments, scene)};
  with_channels(planes.channels, [&]<int Channels>() {
    const dim3 grid = plane_grid(planes.width, whole(planes.height, packed_rows));
    pack_pixels<Channels><<<grid, plane_threads, 0, stream>>>(planes, tiles, words, false);
    for (int group = 0; group < arguments.job.most_groups; ++group) {
      const FillDisocclusions<Channels> fill{planes, scene.unit, group, scene.list};
      fill_listed_tiles<Channels><<<blocks, fill_threads, SharedTable::bytes, stream>>>(fill, tiles);
    }
    pack_pixels<Channels><<<grid, plane_threads, 0, stream>>>(planes, tiles, words, true);
  });
}

}  // namespace satin::kernels
