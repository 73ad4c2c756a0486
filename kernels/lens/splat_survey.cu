// What lies in cells of 32 x 32 pixels and their quads, for tiles that look for what reaches them.

#include "core/with_type.h"
#include "kernels/lens/splat_tile.cuh"
#include "lens/splat.h"

namespace satin::kernels {
namespace {

constexpr int most_groups = SplatJob::most_groups;
constexpr std::uint32_t no_group = 0xFF;

/// Samples of 2 x 2 pixels.
struct Quad {
  std::uint32_t group[4];
  std::uint32_t radius[4];
  std::uint32_t weight[4];

  __device__ Quad(const SplatArguments& a, std::int32_t x, std::int32_t y) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int32_t u = x + (i & 1);
      const std::int32_t v = y + (i >> 1);
      const bool exists = u < a.width && v < a.height;
      group[i] = exists ? group_at(a, u, v) : no_group;
      radius[i] = exists ? radius_at(a, u, v) : 0;
      weight[i] = exists ? weight_at(a, u, v) : 0;
    }
  }

  [[nodiscard]] __device__ bool spreads(int i) const {
    return radius[i] > lens_focus_radius && weight[i] != 0;
  }

  /// The samples are alike.
  template <int Channels>
  [[nodiscard]] __device__ bool merges(const SplatArguments& a, std::int32_t x, std::int32_t y) const {
    bool alike = can_merge(radius, a.merge_from);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      alike = alike && group[i] == group[0] && weight[i] == lens_full_weight && spreads(i);
    if (!alike) return false;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      alike = alike && !is_highlight<Channels>(a, colours_at<Channels>(a, x + (i & 1), y + (i >> 1)));
    return alike;
  }
};

/// Raises the reaches of groups by what the lanes of a warp have, mostly of one group.
__device__ void raise_reaches(std::int32_t (&reaches)[most_groups], std::uint32_t group, std::int32_t reach) {
  const std::uint32_t first = __shfl_sync(whole_warp, group, 0);
  if (__all_sync(whole_warp, group == first)) {
    for (int distance = 1; distance < warp_size; distance *= 2)
      reach = max(reach, __shfl_xor_sync(whole_warp, reach, distance));
    if (lane_index() != 0) return;
  }
  if (group != no_group && reach >= 0) atomicMax(reaches + group, reach);
}

/// One block a cell, one thread a quad.
template <int Channels>
__global__ void __launch_bounds__(cell_quads) survey_cells(const __grid_constant__ SplatArguments a) {
  __shared__ std::int32_t reaches[most_groups];
  __shared__ std::uint32_t focused;
  const auto thread = static_cast<int>(threadIdx.x);
  const std::int64_t cell = blockIdx.x;
  if (thread < most_groups) reaches[thread] = -1;
  if (thread == 0) focused = 0;
  __syncthreads();
  const std::int32_t x = cell_left(a, cell) + quad_x(thread);
  const std::int32_t y = cell_top(a, cell) + quad_y(thread);
  const Quad quad(a, x, y);
  SplatQuad result;
  unsigned in_focus = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::int32_t reach = -1;
    if (quad.spreads(i)) {
      reach = a.reaches[min(quad.radius[i], a.kernels.largest) / 256];
      result.groups |= static_cast<std::uint8_t>(1U << quad.group[i]);
      result.reach = max(result.reach, static_cast<std::int16_t>(reach));
    }
    if (quad.group[i] != no_group && quad.radius[i] <= lens_focus_radius) in_focus |= 1U << quad.group[i];
    raise_reaches(reaches, quad.group[i], reach);
  }
  if (a.merge_from != never_merged && quad.merges<Channels>(a, x, y))
    result.merged = merged_radius_of(quad.radius);
  a.sums.quads[cell * cell_quads + thread] = result;
  for (int distance = 1; distance < warp_size; distance *= 2)
    in_focus |= __shfl_xor_sync(whole_warp, in_focus, distance);
  if (lane_index() == 0 && in_focus != 0) atomicOr(&focused, in_focus);
  __syncthreads();
  if (thread == 0) a.sums.focused[cell] = static_cast<std::uint8_t>(focused);
  if (thread <= static_cast<int>(a.last_group))
    a.sums.reaches[thread * cell_count(a) + cell] = reaches[thread];
}

// Samples of the list by cells: they are counted, cells get places in any order, and samples take them.

constexpr int listed_threads = 256;

/// Calls take(i, cell) for the listed samples that are spread: the cell of the sample's group.
template <class Take>
__device__ void for_listed(const SplatArguments& a, const Take& take) {
  const std::uint32_t count = min(*a.count, a.most_listed);
  for (std::uint32_t i = blockIdx.x * listed_threads + threadIdx.x; i < count;
       i += gridDim.x * listed_threads) {
    const LensSample& sample = a.listed[i];
    const bool inside = sample.x >= 0 && sample.x < a.width && sample.y >= 0 && sample.y < a.height;
    if (!inside || sample.weight == 0) continue;
    const std::uint32_t group = min(std::uint32_t{sample.group}, a.last_group);
    take(i, group * cell_count(a) + cell_of(a, sample.x, sample.y));
  }
}

__global__ void __launch_bounds__(listed_threads) count_listed(const __grid_constant__ SplatArguments a) {
  for_listed(a, [&](std::uint32_t i, std::int64_t cell) {
    const std::int32_t reach = a.reaches[min(a.listed[i].radius, a.kernels.largest) / 256];
    atomicAdd(&a.sums.listed[cell].count, 1U);
    if (a.sums.reaches[cell] < reach) atomicMax(a.sums.reaches + cell, reach);
  });
}

/// One thread a cell of a group: where its places begin.
__global__ void __launch_bounds__(listed_threads) begin_listed(const __grid_constant__ SplatArguments a) {
  const std::int64_t cell = std::int64_t{blockIdx.x} * listed_threads + threadIdx.x;
  const std::uint32_t count = cell < cell_count(a) * (a.last_group + 1) ? a.sums.listed[cell].count : 0;
  const std::uint32_t end = inclusive_scan(count);
  std::uint32_t first = 0;
  if (lane_index() == warp_size - 1 && end != 0) first = atomicAdd(a.sums.placed, end);
  first = __shfl_sync(whole_warp, first, warp_size - 1);
  if (count != 0) a.sums.listed[cell].end = first + end - count;
}

__global__ void __launch_bounds__(listed_threads) place_listed(const __grid_constant__ SplatArguments a) {
  for_listed(a, [&](std::uint32_t i, std::int64_t cell) {
    a.sums.places[atomicAdd(&a.sums.listed[cell].end, 1U)] = i;
  });
}

void survey_list(const SplatArguments& a, StreamHandle stream) {
  constexpr unsigned blocks = 1056;
  const std::int64_t cells = cell_count(a) * (a.last_group + 1);
  // the number of places comes after the cells
  cudaMemsetAsync(a.sums.listed, 0,
                  static_cast<std::size_t>(cells) * sizeof(ListedCell) + sizeof(std::uint32_t), stream);
  if (a.most_listed == 0) return;
  count_listed<<<blocks, listed_threads, 0, stream>>>(a);
  begin_listed<<<static_cast<unsigned>((cells + listed_threads - 1) / listed_threads), listed_threads, 0,
                 stream>>>(a);
  place_listed<<<blocks, listed_threads, 0, stream>>>(a);
}

}  // namespace

void splat_survey(const SplatArguments& a, StreamHandle stream) {
  with_channels(a.channels, [&]<int Channels>() {
    survey_cells<Channels><<<static_cast<unsigned>(cell_count(a)), cell_quads, 0, stream>>>(a);
  });
  survey_list(a, stream);
}

}  // namespace satin::kernels
