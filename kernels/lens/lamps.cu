// Lamps on CUDA. Most steps run one thread per place. Steps with much work at few places (bright cells, large
// lamps) run one warp per place, and steps over lists share them among all threads.

#include "lens/lamps.h"

#include "kernels/device/warp.cuh"
#include "kernels/lens/launch.h"
#include "kernels/pixels/each_place.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = 128;
constexpr unsigned list_blocks = 2048;

__device__ std::uint32_t warp_index() { return (blockIdx.x * threads + threadIdx.x) / warp_size; }
__device__ std::uint32_t warp_count() { return gridDim.x * threads / warp_size; }

/// LampScene::around(), computed by a warp.
template <int Channels>
__device__ typename LampScene<Channels>::Around around_by_warp(const LampScene<Channels>& scene, int x,
                                                               int y) {
  constexpr int side = 2 * lamp_cells_away + 1;
  typename LampScene<Channels>::Around all;
  for (int i = lane_index(); i < side * side; i += warp_size)
    scene.add_cell(x - lamp_cells_away + i % side, y - lamp_cells_away + i / side, all);
  all.sum = sum_of_lanes(all.sum);
  all.pixels = sum_of_lanes(static_cast<std::uint32_t>(all.pixels));
  all.bright = sum_of_lanes(all.bright);
  all.rows = sum_of_lanes(all.rows);
  return all;
}

/// for_lamps_of_cell(), by a warp.
template <int Channels, class OfLamp>
__device__ void for_lamps_by_warp(const LampScene<Channels>& scene, int x, int y, const OfLamp& lamp) {
  const auto around = around_by_warp(scene, x, y);
  if (!around.has_room_for_lamps()) return;
  const int across = scene.size_of(x, scene.planes.width);
  const int pixels = across * scene.size_of(y, scene.planes.height);
  for (int i = lane_index(); i < pixels; i += warp_size)
    for_lamp_at(scene, around, x * lamp_cell + i % across, y * lamp_cell + i / across, lamp);
}

/// Cells per warp. Bright cells are neighbours, so that more would leave some warps with far more work than
/// others.
constexpr int cells_of_warp = 2;

/// Calls work(x, y) for those of a warp's cells that have work, by all its lanes.
template <int Channels, class HasWork, class Work>
__device__ void for_cells_by_warp(const LampScene<Channels>& scene, const HasWork& has_work,
                                  const Work& work) {
  const int cells = scene.across() * scene.down();
  const int first = static_cast<int>(warp_index()) * cells_of_warp;
  if (first >= cells) return;
  const int own = first + lane_index();
  unsigned left =
      __ballot_sync(whole_warp, lane_index() < cells_of_warp && own < cells && has_work(scene.cells[own]));
  for (; left != 0; left &= left - 1) {
    const int cell = first + __ffs(static_cast<int>(left)) - 1;
    work(cell % scene.across(), cell / scene.across());
  }
}

/// Calls lamp(i, gain) for the listed lamps of this thread.
template <int Channels, class OfLamp>
__device__ void for_listed_lamps_of_thread(const LampScene<Channels>& scene, const OfLamp& lamp) {
  const std::uint32_t count = scene.listed_samples();
  for (std::uint32_t i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads)
    for_listed_lamp_at(scene, i, lamp);
}

template <int Channels>
__global__ void __launch_bounds__(threads) count_lamps(const __grid_constant__ CountLamps<Channels> step) {
  const LampScene<Channels>& scene = step.scene;
  for_cells_by_warp(
      scene, [](const LampCell& cell) { return cell.bright != 0; },
      [&](int x, int y) {
        std::uint32_t lamps = 0;
        for_lamps_by_warp(scene, x, y, [&](int, int, float) { ++lamps; });
        __syncwarp();
        lamps = sum_of_lanes(lamps);
        if (lane_index() != 0 || lamps == 0) return;
        scene.cells[y * scene.across() + x].lamps = lamps;
        add_shared(scene.lamps.wanted, lamps);
      });
}

template <int Channels>
__global__ void __launch_bounds__(threads) take_lamps(const __grid_constant__ TakeLamps<Channels> step) {
  const LampScene<Channels>& scene = step.scene;
  if (!scene.lamps.fits()) return;
  for_cells_by_warp(
      scene, [](const LampCell& cell) { return cell.lamps != 0; },
      [&](int x, int y) {
        for_lamps_by_warp(scene, x, y, [&](int u, int v, float gain) { step.take(u, v, gain); });
        __syncwarp();
      });
}

template <int Channels>
__global__ void __launch_bounds__(threads)
    count_listed_lamps(const __grid_constant__ CountListedLamps<Channels> step) {
  for_listed_lamps_of_thread(step.scene, [&](std::uint64_t, float) { step.count(); });
}

template <int Channels>
__global__ void __launch_bounds__(threads)
    take_listed_lamps(const __grid_constant__ TakeListedLamps<Channels> step) {
  if (!step.scene.lamps.fits()) return;
  for_listed_lamps_of_thread(step.scene, [&](std::uint64_t i, float gain) { step.take(i, gain); });
}

/// Computes the share of a lamp by one warp.
template <int Channels>
__global__ void __launch_bounds__(threads) share_lamps(const __grid_constant__ ShareLamps<Channels> step) {
  const LampScene<Channels>& scene = step.scene;
  const std::uint32_t count = *scene.lamps.count;
  for (std::uint32_t i = warp_index(); i < count; i += warp_count()) {
    Lamp& lamp = scene.lamps.lamps[i];
    const LampShape shape(scene.aperture, lamp.sample);
    const std::int32_t reach = shape.reach();
    std::int64_t light = 0;
    for (std::int32_t place = lane_index(); place < (2 * reach + 1) * lamp_lines; place += warp_size)
      light += lamp_light(shape, place / lamp_lines - reach, place % lamp_lines);
    light = static_cast<std::int64_t>(sum_of_lanes(static_cast<std::uint64_t>(light)));
    if (lane_index() == 0) scene.set_share(lamp, lamp_share(shape, light, scene.weight_of(lamp)));
  }
}

constexpr int cells_of_sum = (warp_size - 1) / lamp_cell;  ///< cells side by side that a warp sums

/// Returns the sum of lanes i to i + 6, a cell.
template <class T>
__device__ T sum_of_cell(T value) {
  const T two = value + __shfl_down_sync(whole_warp, value, 1);
  const T four = two + __shfl_down_sync(whole_warp, two, 2);
  return four + __shfl_down_sync(whole_warp, two, 4) + __shfl_down_sync(whole_warp, value, 6);
}

/// Sums the cells. A warp sums four cells side by side, and a lane a column; lane 0 has the column before.
template <int Channels>
__global__ void __launch_bounds__(threads)
    sum_lamp_cells(const __grid_constant__ SumLampCells<Channels> step) {
  const LampScene<Channels>& scene = step.scene;
  const int across = (scene.across() + cells_of_sum - 1) / cells_of_sum;
  const auto task = static_cast<int>(warp_index());
  const int first = task % across * cells_of_sum;
  const int y = task / across;
  if (y >= scene.down()) return;
  const int x = first * lamp_cell - 1 + lane_index();
  const int rows = x >= 0 && x < scene.planes.width ? scene.size_of(y, scene.planes.height) : 0;
  std::uint64_t sum = 0;
  std::uint64_t sums[3] = {};
  std::uint32_t counts = 0;
#pragma unroll
  for (int v = 0; v < lamp_cell; ++v) {
    bool bright = false;
    if (v < rows) {
      const std::int64_t at = scene.planes.place(x, y * lamp_cell + v);
      const std::uint32_t* colour = scene.colour_at(at);
      bright = step.is_bright(at);
      sum += scene.brightest(colour);
      for (int c = 0; c < Channels && c < 3; ++c) sums[c] += colour[c];
    }
    const unsigned all = __ballot_sync(whole_warp, bright) << 1;
    if (bright) counts += (all >> lane_index() & 1) != 0 ? 1 : 0x10001;
  }
  sum = sum_of_cell(sum);
  counts = sum_of_cell(counts);
  for (int c = 0; c < Channels && c < 3; ++c) sums[c] = sum_of_cell(sums[c]);
  const int own = first + (lane_index() - 1) / lamp_cell;
  if (lane_index() % lamp_cell != 1 || lane_index() > cells_of_sum * lamp_cell || own >= scene.across())
    return;
  LampCell cell;
  cell.sum = sum;
  for (int c = 0; c < 3; ++c) cell.colour[c] = static_cast<std::uint32_t>(sums[c] >> lamp_colour_shift);
  cell.bright = static_cast<std::uint16_t>(counts & 0xFFFF);
  cell.rows = static_cast<std::uint16_t>(counts >> 16);
  scene.cells[static_cast<std::int64_t>(y) * scene.across() + own] = cell;
}

struct LampsLaunch : EachPlace {
  using EachPlace::operator();

  template <int Channels>
  void operator()(std::int64_t across, std::int64_t down, const SumLampCells<Channels>& step) const {
    const std::int64_t tasks = (across + cells_of_sum - 1) / cells_of_sum * down;
    sum_lamp_cells<<<blocks_for(tasks, threads / warp_size), threads, 0, stream>>>(step);
  }

  template <int Channels>
  void operator()(std::int64_t across, std::int64_t down, const CountLamps<Channels>& step) const {
    count_lamps<<<blocks_for(across * down, cells_of_warp * threads / warp_size), threads, 0, stream>>>(step);
  }
  template <int Channels>
  void operator()(std::int64_t across, std::int64_t down, const TakeLamps<Channels>& step) const {
    take_lamps<<<blocks_for(across * down, cells_of_warp * threads / warp_size), threads, 0, stream>>>(step);
  }
  template <int Channels>
  void operator()(std::int64_t /*width*/, std::int64_t /*height*/,
                  const CountListedLamps<Channels>& step) const {
    count_listed_lamps<<<list_blocks, threads, 0, stream>>>(step);
  }
  template <int Channels>
  void operator()(std::int64_t /*width*/, std::int64_t /*height*/,
                  const TakeListedLamps<Channels>& step) const {
    take_listed_lamps<<<list_blocks, threads, 0, stream>>>(step);
  }
  template <int Channels>
  void operator()(std::int64_t /*width*/, std::int64_t /*height*/, const ShareLamps<Channels>& step) const {
    share_lamps<<<list_blocks, threads, 0, stream>>>(step);
  }
};

}  // namespace

template <>
struct LaunchOf<LampsJob> {
  using Type = LampsLaunch;
};

template void run_pixelwise(const LampsJob&, const LampsJob::Images&, const TransferView&, StreamHandle);
template void run_pixelwise(const AperturePictureJob&, const AperturePictureJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
