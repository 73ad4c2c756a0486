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
#include "kernels/lens/disocclusion_fill_tile.cuh"
#include "kernels/lens/fill_tiles.cuh"
#include "kernels/lens/launch.h"
#include "kernels/pixels/plane.cuh"
#include "lens/lens_layers.h"
#include "lens/maths/depth_groups.h"
#include "lens/maths/nonlocal_work.h"

namespace satin::kernels {
namespace {

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

/// The bits of 32 pixels of a row, by the warp that has them.
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

constexpr int packed_rows = 2;  ///< of a thread
static_assert(cell_side % packed_rows == 0 && plane_threads % cell_side == 0);

/// Groups, radii and compressed colours where tiles look, and words for the non-local fill. The rest gets its
/// words later, if they are needed. A warp has pixels of one cell.
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
  with_channels(planes.channels, [&]<int Channels>() {
    const PackColours<Channels> words{nonlocal_fill(arguments, scene)};
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
