// Hidden samples, by tiles of 64 x 32 pixels: only those that hold something nearer than a group, with the
// group no farther than a window reaches. Each block builds the table of its tile and what lies around it in
// shared memory, one quantity after the other, and looks the windows of its pixels up before the next one.
//
// All groups are made at once. Where their samples do not fit into the list they are made again, one group
// after the other, as then the order says which ones are left away.

#include "lens/maths/disocclusion_fill.h"

#include "core/with_type.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/warp.cuh"
#include "kernels/lens/disocclusion_fill_table.cuh"
#include "kernels/lens/launch.h"
#include "lens/lens_layers.h"
#include "lens/maths/depth_groups.h"

namespace satin::kernels {
namespace {

constexpr int cell_side = fill_reach;  ///< whose groups are known
static_assert(cell_side == warp_size && tile_height == cell_side);
static_assert(lane_pixels * warp_rows <= 32);  // a bit each

struct FillTiles {
  int columns;
  int rows;
  int cell_columns;
  int cell_rows;
  std::uint32_t* count;        ///< of listed tiles
  std::uint32_t* taken;        ///< of the listed tiles, by blocks of the launch in work
  std::uint32_t* blocks_done;  ///< of the launch in work
  std::uint32_t* one_by_one;   ///< 1: all groups at once did not fit
  std::uint32_t* listed;       ///< group * columns * rows + tile
  std::uint8_t* cells;         ///< [cell_rows][cell_columns] bits of groups

  __host__ __device__ int tiles() const { return columns * rows; }
};
constexpr std::size_t fill_counters = 4;

int whole(int size, int part) { return (size + part - 1) / part; }

/// The workspace of a picture; returns its bytes.
std::size_t place(FillTiles& tiles, int width, int height, void* workspace) {
  tiles.columns = whole(width, tile_width);
  tiles.rows = whole(height, tile_height);
  tiles.cell_columns = whole(width, cell_side);
  tiles.cell_rows = whole(height, cell_side);
  const std::size_t words =
      fill_counters + std::size_t{lens_most_groups} * static_cast<std::size_t>(tiles.tiles());
  auto* counters = static_cast<std::uint32_t*>(workspace);
  tiles.count = counters;
  tiles.taken = counters + 1;
  tiles.blocks_done = counters + 2;
  tiles.one_by_one = counters + 3;
  tiles.listed = counters + fill_counters;
  tiles.cells = reinterpret_cast<std::uint8_t*>(counters + words);
  return words * sizeof(std::uint32_t) +
         static_cast<std::size_t>(tiles.cell_columns) * static_cast<std::size_t>(tiles.cell_rows);
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
  if (lane_index() == 0) tiles.cells[cell] = static_cast<std::uint8_t>(bits);
}

__device__ unsigned groups_of_cells(const FillTiles& tiles, int first_column, int last_column, int first_row,
                                    int last_row) {
  unsigned bits = 0;
  for (int row = max(first_row, 0); row <= min(last_row, tiles.cell_rows - 1); ++row)
    for (int column = max(first_column, 0); column <= min(last_column, tiles.cell_columns - 1); ++column)
      bits |= tiles.cells[row * tiles.cell_columns + column];
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
  for (int group = 1; group < lens_most_groups; ++group)
    if ((around >> group & 1U) != 0 && (inside & ((1U << group) - 1U)) != 0)
      tiles.listed[add_shared(tiles.count, 1)] = static_cast<std::uint32_t>(group * tiles.tiles() + tile);
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

/// One tile of one group, by one block.
template <int Channels>
class TileFill {
 public:
  __device__ TileFill(const FillDisocclusions<Channels>& fill, int column, int row, SharedTable table,
                      SharedGroups& groups)
      : fill_(fill), table_(table), groups_(groups), left_(column * tile_width), top_(row * tile_height) {}

  __device__ void run() {
    read_groups();
    table_.integrate(
        [&](int r, int p) { return fill_count(bit(in_group_, r, p), bit(from_group_on_, r, p)); });
    __syncthreads();
    if (__syncthreads_or(count() ? 1 : 0) == 0) return;
    table_.integrate([&](int r, int p) {
      return bit(in_group_, r, p) == 0 ? 0 : static_cast<std::uint32_t>(fill_.planes.radii[pixel(r, p)]);
    });
    __syncthreads();
    look_up([&](FillFound<Channels>& found, int i, std::uint32_t sum) { found.add_radius(i, sum); });
    if (__syncthreads_or(leave_away_unseen() ? 1 : 0) == 0) return;
    const LensUnit unit = *fill_.unit;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      if (c > 0) __syncthreads();
      table_.integrate([&](int r, int p) {
        return bit(in_group_, r, p) == 0
                   ? 0
                   : compressed(lens_light(fill_.planes.colours[pixel(r, p) * Channels + c], unit));
      });
      __syncthreads();
      look_up([&](FillFound<Channels>& found, int i, std::uint32_t sum) { found.add_colour(i, c, sum); });
    }
    add_samples();
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
  /// Place in the picture of row r and column p of what this thread adds to the table.
  [[nodiscard]] __device__ int column(int p) const {
    return left_ - fill_reach + lane_index() * lane_pixels + p;
  }
  [[nodiscard]] __device__ int row(int r) const {
    return top_ - fill_reach + static_cast<int>(threadIdx.x) / warp_size * warp_rows + r;
  }
  [[nodiscard]] __device__ std::int64_t pixel(int r, int p) const {
    return fill_.planes.place(column(p), row(r));
  }

  __device__ void read_groups() {
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) {
        const bool exists = fill_.planes.holds(column(p), row(r));
        const int own = exists ? fill_.planes.groups[pixel(r, p)] : -1;
        in_group_ |= (own == fill_.group ? 1U : 0U) << (r * lane_pixels + p);
        from_group_on_ |= (own >= fill_.group ? 1U : 0U) << (r * lane_pixels + p);
      }
    }
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
#pragma unroll
      for (int p = 0; p < lane_pixels; ++p) {
        const unsigned in_group = __ballot_sync(whole_warp, bit(in_group_, r, p) != 0);
        const unsigned from_group_on = __ballot_sync(whole_warp, bit(from_group_on_, r, p) != 0);
        const int y = static_cast<int>(threadIdx.x) / warp_size * warp_rows + r;
        if (lane_index() == 0) groups_.in_group[y][p] = in_group;
        if (lane_index() == 0) groups_.from_group_on[y][p] = from_group_on;
      }
    }
  }

  /// Steps to the nearest pixel of the kind that hidden_at() asks for, 0 if there is none; (x, y) is in the
  /// picture.
  [[nodiscard]] __device__ int nearest(int x, int y, int step_x, int step_y) const {
    const int u = x - left_ + fill_reach;
    const int v = y - top_ + fill_reach;
    unsigned found = 0;
#pragma unroll
    for (int i = 1; i <= refined_reach; ++i)
      found |= bit_at(groups_.from_group_on, u + i * step_x, v + i * step_y) << i;
    if (found == 0) return 0;
    const int distance = __ffs(static_cast<int>(found)) - 1;
    return bit_at(groups_.in_group, u + distance * step_x, v + distance * step_y) != 0 ? distance : 0;
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
      if ((window(i, fill_windows - 1) & 0xFFFFU) == 0) continue;
      found.first = fill_windows - 1;
#pragma unroll
      for (int number = fill_windows - 2; number >= 0; --number)
        if (found.first == number + 1 && window(i, number) != 0) found.first = number;
      each_window(i, [&](int number, std::uint32_t sum) { found.add_counts(number, sum); });
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
    for (int i = 0; i < 4; ++i)
      each_window(i, [&](int number, std::uint32_t sum) { add(found_[i], number, sum); });
  }

  template <class Add>
  __device__ void each_window(int i, const Add& add) const {
#pragma unroll
    for (int number = 0; number < fill_windows; ++number)
      if (number >= found_[i].first) add(number, window(i, number));
  }

  __device__ void add_samples() {
    const auto search = [&](int x, int y, int step_x, int step_y) { return nearest(x, y, step_x, step_y); };
    Hidden hidden[4];
    bool any = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      hidden[i] = fill_.hidden_at(left_ + x_of(i), top_ + y_of(i), found_[i], search);
      any = any || hidden[i].weight > 0;
    }
    if (any) fill_.add_block((left_ + x_of(0)) / 2, (top_ + y_of(0)) / 2, hidden);
  }

  const FillDisocclusions<Channels>& fill_;
  SharedTable table_;
  SharedGroups& groups_;
  int left_;
  int top_;
  unsigned in_group_ = 0;
  unsigned from_group_on_ = 0;
  FillFound<Channels> found_[4];
};

/// The last block of a launch ends what was made.
__device__ void finish(const LensList& list, const FillTiles& tiles, bool all_groups) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || add_shared(tiles.blocks_done, 1) + 1 != gridDim.x) return;
  __threadfence();
  *tiles.blocks_done = 0;
  *tiles.taken = 0;
  const bool fits = list.complete();
  if (all_groups) *tiles.one_by_one = fits ? 0 : 1;
}

/// The next listed tile, by all threads of a block.
__device__ std::uint32_t take_tile(const FillTiles& tiles, std::uint32_t& shared) {
  __syncthreads();
  if (threadIdx.x == 0) shared = add_shared(tiles.taken, 1);
  __syncthreads();
  return shared;
}

/// Blocks take the listed tiles as they come free: those of one group, or of all if it is 0.
template <int Channels>
__global__ void __launch_bounds__(fill_threads, tuning::fill_blocks_per_multiprocessor)
    fill_listed_tiles(const __grid_constant__ FillDisocclusions<Channels> fill,
                      const __grid_constant__ FillTiles tiles) {
  extern __shared__ uint4 table_memory[];
  __shared__ SharedGroups groups;
  __shared__ std::uint32_t taken;
  const bool all_groups = fill.group == 0;
  if (!all_groups && *tiles.one_by_one == 0) return;
  SharedTable table(reinterpret_cast<std::uint32_t*>(table_memory));
  table.clear_border();
  const std::uint32_t count = *tiles.count;
  for (std::uint32_t i = take_tile(tiles, taken); i < count; i = take_tile(tiles, taken)) {
    const auto listed = static_cast<int>(tiles.listed[i]);
    const int group = listed / tiles.tiles();
    const int tile = listed % tiles.tiles();
    if (!all_groups && group != fill.group) continue;
    const FillDisocclusions<Channels> own{fill.planes, fill.unit, group, fill.list};
    TileFill<Channels>(own, tile % tiles.columns, tile / tiles.columns, table, groups).run();
  }
  finish(fill.list, tiles, all_groups);
}

}  // namespace

int prepare_fill_disocclusions(int channels) {
  return with_channels(channels,
                       [&]<int Channels>() { return allow_all_shared_memory(fill_listed_tiles<Channels>); });
}

std::size_t fill_workspace_bytes(const LensLayersJob& job) {
  FillTiles tiles{};
  return place(tiles, static_cast<int>(job.width), static_cast<int>(job.height), nullptr);
}

void fill_disocclusions(const LensLayersArguments& arguments, const LensScene& scene, StreamHandle stream) {
  const LensPlanes& planes = scene.planes;
  FillTiles tiles{};
  place(tiles, planes.width, planes.height, arguments.fill_workspace);
  cudaMemsetAsync(arguments.fill_workspace, 0, fill_counters * sizeof(std::uint32_t), stream);
  constexpr int cell_warps = tuning::fill_cell_threads / warp_size;
  find_groups_of_cells<<<whole(tiles.cell_columns * tiles.cell_rows, cell_warps), tuning::fill_cell_threads,
                         0, stream>>>(planes, tiles);
  list_tiles<<<whole(tiles.tiles(), tuning::fill_cell_threads), tuning::fill_cell_threads, 0, stream>>>(
      tiles);
  const int most_blocks = arguments.multiprocessors * tuning::fill_blocks_per_multiprocessor;
  const int blocks = most_blocks < tiles.tiles() ? most_blocks : tiles.tiles();
  with_channels(planes.channels, [&]<int Channels>() {
    for (int group = 0; group < arguments.job.most_groups; ++group) {
      const FillDisocclusions<Channels> fill{planes, scene.unit, group, scene.list};
      fill_listed_tiles<Channels><<<blocks, fill_threads, SharedTable::bytes, stream>>>(fill, tiles);
    }
  });
}

}  // namespace satin::kernels
