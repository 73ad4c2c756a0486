// First stage of the splat on CUDA: sorts samples into cells of 32 x 32 pixels. For each cell and group it
// writes one record per sample (colour, weights, staircases), and the largest reach. The next stage
// (splat_gather.cu) reads, for each tile, the records of all cells that reach it.

#include "core/with_type.h"
#include "kernels/lens/splat_tile.cuh"
#include "lens/splat.h"

namespace satin::kernels {
namespace {

constexpr int most_groups = SplatJob::most_groups;
constexpr std::uint32_t no_group = 0xFF;
constexpr int warps = cell_quads / warp_size;
static_assert(warps == splat_subcells, "a subcell each");

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
};

/// lens_kernel() in one load.
__device__ LensKernel kernel_of(const SplatArguments& a, std::uint32_t radius, bool block) {
  const uint4 words = *reinterpret_cast<const uint4*>(&lens_kernel(a.kernels, radius, block));
  return {{words.x, words.y},
          {static_cast<std::uint16_t>(words.z & 0xFFFFU), static_cast<std::uint16_t>(words.z >> 16U)}};
}

template <int Channels>
__device__ SplatRecord record_of(const std::uint32_t* colour, LensKernel kernel, std::uint32_t weight,
                                 RecordPlace place) {
  SplatRecord record = {};
#pragma unroll
  for (int c = 0; c < Channels; ++c) record.colour[c] = colour[c];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    record.share[k] = sample_weight(kernel.weight[k], weight);
    record.staircase[k] = kernel.staircase[k];
  }
  record.place = place.bits();
  return record;
}

/// The sample of a record: a quad and one of its pixels.
class RecordSource {
 public:
  RecordSource() = default;
  __device__ RecordSource(int quad, int pixel) : number_(static_cast<std::uint16_t>(4 * quad + pixel)) {}

  [[nodiscard]] __device__ int quad() const { return number_ / 4; }
  [[nodiscard]] __device__ int pixel() const { return number_ % 4; }

 private:
  std::uint16_t number_;
};

struct GroupOfCell {
  std::int32_t reach;
  std::uint32_t of_warp[warps];  ///< number of records of each warp, then index of the first
  std::uint32_t count;
};

/// Raises the reaches of the groups of a warp's samples, which are mostly of one group.
__device__ void raise_reaches(GroupOfCell (&groups)[most_groups], std::uint32_t group, std::int32_t reach) {
  const std::uint32_t first = __shfl_sync(whole_warp, group, 0);
  if (__all_sync(whole_warp, group == first)) {
    for (int distance = 1; distance < warp_size; distance *= 2)
      reach = max(reach, __shfl_xor_sync(whole_warp, reach, distance));
    if (lane_index() != 0) return;
  }
  if (group != no_group && reach >= 0) atomicMax(&groups[group].reach, reach);
}

/// Numbers of records of all groups, a byte each: a warp has at most 128.
using RecordCounts = std::uint64_t;
static_assert(most_groups <= 8 && 4 * warp_size < 256);

__device__ std::uint32_t count_of(RecordCounts counts, std::uint32_t group) {
  return static_cast<std::uint32_t>(counts >> 8 * group) & 0xFFU;
}

/// Turns the warps' numbers of records into first indices. Called by one warp, with a group per lane.
__device__ void place_records(const SplatArguments& a, GroupOfCell (&groups)[most_groups]) {
  const int group = lane_index();
  const bool exists = group <= static_cast<int>(a.last_group);
  std::uint32_t count = 0;
  if (exists)
    for (const std::uint32_t of_warp : groups[group].of_warp) count += of_warp;
  const std::uint32_t begin = inclusive_scan(count) - count;
  if (!exists) return;
  std::uint32_t place = begin;
  for (std::uint32_t& of_warp : groups[group].of_warp) {
    const std::uint32_t own = of_warp;
    of_warp = place;
    place += own;
  }
  groups[group].count = count;
}

template <int Channels>
__device__ SplatRecord make_record(const SplatArguments& a, std::int64_t cell, const RecordSource& source) {
  const std::int32_t x = cell_left(a, cell) + quad_x(source.quad()) + (source.pixel() & 1);
  const std::int32_t y = cell_top(a, cell) + quad_y(source.quad()) + (source.pixel() >> 1);
  return record_of<Channels>(colours_at<Channels>(a, x, y), kernel_of(a, radius_at(a, x, y), false),
                             weight_at(a, x, y), {x, y, false});
}

/// A block has a cell, a thread a quad.
template <int Channels>
__global__ void __launch_bounds__(cell_quads) survey_cells(const __grid_constant__ SplatArguments a) {
  __shared__ GroupOfCell groups[most_groups];
  __shared__ RecordSource sources[cell_pixels];
  __shared__ std::uint32_t focused;
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / warp_size;
  const std::int64_t cell = blockIdx.x;
  if (thread < most_groups) groups[thread].reach = -1;
  if (thread == 0) focused = 0;
  __syncthreads();
  const Quad quad(a, cell_left(a, cell) + quad_x(thread), cell_top(a, cell) + quad_y(thread));
  RecordCounts own = 0;
  unsigned in_focus = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::int32_t reach = -1;
    if (quad.spreads(i)) {
      reach = a.reaches[min(quad.radius[i], a.kernels.largest) / 256];
      own += RecordCounts{1} << 8 * quad.group[i];
    }
    if (quad.group[i] != no_group && quad.radius[i] <= lens_focus_radius) in_focus |= 1U << quad.group[i];
    raise_reaches(groups, quad.group[i], reach);
  }
  const RecordCounts end = inclusive_scan(own);
  const RecordCounts of_warp = __shfl_sync(whole_warp, end, warp_size - 1);
  if (lane_index() < most_groups) groups[lane_index()].of_warp[warp] = count_of(of_warp, lane_index());
  for (int distance = 1; distance < warp_size; distance *= 2)
    in_focus |= __shfl_xor_sync(whole_warp, in_focus, distance);
  if (lane_index() == 0 && in_focus != 0) atomicOr(&focused, in_focus);
  __syncthreads();
  if (warp == 0) place_records(a, groups);
  __syncthreads();
  RecordCounts before = end - own;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (!quad.spreads(i)) continue;
    sources[groups[quad.group[i]].of_warp[warp] + count_of(before, quad.group[i])] = {thread, i};
    before += RecordCounts{1} << 8 * quad.group[i];
  }
  __syncthreads();
  const GroupOfCell& last = groups[a.last_group];
  const std::uint32_t count = last.of_warp[0] + last.count;
  const std::uint32_t first = blockIdx.x * cell_pixels;
  for (std::uint32_t place = threadIdx.x; place < count; place += cell_quads)
    store_record(a.sums.records, first + place, make_record<Channels>(a, cell, sources[place]));
  __syncthreads();
  if (thread == 0) a.sums.focused[cell] = static_cast<std::uint8_t>(focused);
  if (thread <= static_cast<int>(a.last_group)) {
    const GroupOfCell& group = groups[thread];
    a.sums.cells[thread * cell_count(a) + cell] = {group.reach, first + group.of_warp[0], group.count};
    Subcell* subcells = a.sums.visible + (thread * cell_count(a) + cell) * splat_subcells;
    for (int i = 0; i < warps; ++i) {
      const std::uint32_t end = i + 1 < warps ? group.of_warp[i + 1] : group.of_warp[0] + group.count;
      subcells[i] = {end - group.of_warp[i], first + end};
    }
  }
}

// Listed samples by subcells of cells: count them, give each subcell a range of records, and write the
// records.

constexpr int listed_threads = 256;

/// Calls take(i, cell, subcell) for the listed samples that have a weight; `cell` belongs to the sample's
/// group, and `subcell` is an index of SplatSums::listed.
template <class Take>
__device__ void for_listed(const SplatArguments& a, const Take& take) {
  const std::uint32_t count = min(*a.count, a.most_listed);
  for (std::uint32_t i = blockIdx.x * listed_threads + threadIdx.x; i < count;
       i += gridDim.x * listed_threads) {
    const LensSample& sample = a.listed[i];
    const bool inside = sample.x >= 0 && sample.x < a.width && sample.y >= 0 && sample.y < a.height;
    if (!inside || sample.weight == 0) continue;
    const std::uint32_t group = min(std::uint32_t{sample.group}, a.last_group);
    const std::int64_t cell = group * cell_count(a) + cell_of(a, sample.x, sample.y);
    take(i, cell, cell * splat_subcells + subcell_of(sample.x, sample.y));
  }
}

/// The lanes of a warp with the same subcell, as most have: they add together.
class LanesOfSubcell {
 public:
  __device__ explicit LanesOfSubcell(std::int64_t subcell)
      : lanes_(__match_any_sync(__activemask(), static_cast<unsigned>(subcell))) {}

  /// Adds one for each lane. Returns the number before this lane's one.
  __device__ std::uint32_t count(std::uint32_t& number) const {
    const int first = __ffs(static_cast<int>(lanes_)) - 1;
    std::uint32_t before = 0;
    if (lane_index() == first) before = atomicAdd(&number, static_cast<std::uint32_t>(__popc(lanes_)));
    return __shfl_sync(lanes_, before, first) +
           static_cast<std::uint32_t>(__popc(lanes_ & ((1U << lane_index()) - 1)));
  }

 private:
  unsigned lanes_;
};

__global__ void __launch_bounds__(listed_threads) count_listed(const __grid_constant__ SplatArguments a) {
  for_listed(a, [&](std::uint32_t i, std::int64_t cell, std::int64_t subcell) {
    const std::int32_t reach = a.reaches[min(a.listed[i].radius, a.kernels.largest) / 256];
    LanesOfSubcell(subcell).count(a.sums.listed[subcell].count);
    if (a.sums.cells[cell].reach < reach) atomicMax(&a.sums.cells[cell].reach, reach);
  });
}

/// Gives each subcell its range of records, by one thread. Cells are in any order, the subcells of one side
/// by side.
__global__ void __launch_bounds__(listed_threads) begin_listed(const __grid_constant__ SplatArguments a) {
  static_assert(warp_size % splat_subcells == 0);
  const std::int64_t subcell = std::int64_t{blockIdx.x} * listed_threads + threadIdx.x;
  const bool exists = subcell < cell_count(a) * (a.last_group + 1) * splat_subcells;
  const std::uint32_t count = exists ? a.sums.listed[subcell].count : 0;
  const std::uint32_t end = inclusive_scan(count);
  std::uint32_t first = 0;
  if (lane_index() == warp_size - 1 && end != 0) first = atomicAdd(a.sums.placed, end);
  first = __shfl_sync(whole_warp, first, warp_size - 1);
  if (exists) a.sums.listed[subcell].end = first + end - count;
}

template <int Channels>
__global__ void __launch_bounds__(listed_threads) place_listed(const __grid_constant__ SplatArguments a) {
  for_listed(a, [&](std::uint32_t i, std::int64_t /*cell*/, std::int64_t subcell) {
    const LensSample sample = a.listed[i];
    const bool block = sample.block == 2;
    const LensKernel kernel = kernel_of(a, sample.radius, block);
    const std::uint32_t place = LanesOfSubcell(subcell).count(a.sums.listed[subcell].end);
    store_record(
        a.sums.listed_records, place,
        record_of<Channels>(sample.colour, kernel, sample.weight, RecordPlace(sample.x, sample.y, block)));
  });
}

}  // namespace

void splat_survey(const SplatArguments& a, StreamHandle stream) {
  with_channels(a.channels, [&]<int Channels>() {
    survey_cells<Channels><<<static_cast<unsigned>(cell_count(a)), cell_quads, 0, stream>>>(a);
  });
  constexpr unsigned blocks = 1056;
  const std::int64_t subcells = cell_count(a) * (a.last_group + 1) * splat_subcells;
  // The number of records follows the subcells.
  cudaMemsetAsync(a.sums.listed, 0,
                  static_cast<std::size_t>(subcells) * sizeof(Subcell) + sizeof(std::uint32_t), stream);
  if (a.most_listed == 0) return;
  count_listed<<<blocks, listed_threads, 0, stream>>>(a);
  begin_listed<<<blocks_for(subcells, listed_threads), listed_threads, 0, stream>>>(a);
  with_channels(a.channels,
                [&]<int Channels>() { place_listed<Channels><<<blocks, listed_threads, 0, stream>>>(a); });
}

}  // namespace satin::kernels
