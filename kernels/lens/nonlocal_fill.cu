// The non-local fill: steps of one thread a place but for the sums at sampled points, and the tiles that hold
// sharp hidden samples of a group, one block each. A block makes every pass over its tile and what lies
// around it in shared memory: entries of pixels, sums of 25 rows, then of 25 columns.

#include "lens/maths/nonlocal_fill.h"

#include "core/with_type.h"
#include "kernels/device/warp.cuh"
#include "kernels/lens/launch.h"
#include "kernels/pixels/each_place.cuh"
#include "lens/lens_layers.h"

namespace satin::kernels {
namespace {

constexpr int side = 32;  ///< of a tile
constexpr int around = side + 2 * known_reach;
constexpr int threads = 256;
constexpr int thread_samples = side * side / threads;  ///< at most
constexpr int row_parts = 4;  ///< of the rows of a tile, each summed by one thread a column
static_assert(row_parts * around <= threads && side % row_parts == 0);
constexpr int thread_columns = side * side / threads;  ///< of one row, whose windows a thread sums
static_assert(side == warp_size);

int tiles_of(int size) { return (size + side - 1) / side; }

/// Value and count of an entry or of sums of entries, both below 2^31.
__device__ std::uint64_t joined(const KnownEntry& entry) {
  return std::uint64_t{entry.count} << 32 | entry.value;
}

struct SharedPasses {
  static constexpr int pitch = side + 1;
  union {
    std::uint64_t entries[around * around];
    std::uint64_t windows[side * pitch];  ///< [column][row]: sums over 25 x 25 entries
  };
  std::uint64_t columns[around * pitch];  ///< [column][row]: sums over the 25 rows around
  std::uint32_t places[side * side];      ///< of the samples, from 0 on
  std::uint32_t count;                    ///< of the samples
};

/// The sharp hidden samples of one tile, by one block; a thread has every 256th of them.
template <int Channels>
class NonlocalBlock {
 public:
  __device__ NonlocalBlock(const NonlocalFill& fill, int group, int tile, SharedPasses& shared)
      : fill_(fill),
        group_(group),
        shared_(shared),
        left_(tile % fill.tile_columns() * side),
        top_(tile / fill.tile_columns() * side) {}

  __device__ void run() {
    collect();
    const LensUnit unit = *fill_.unit;
    NonlocalMean means[thread_samples];
    pass(SquareEntry{fill_, group_}, [&](int i, const KnownEntry& sums) { means[i].add_squares(sums); });
#pragma unroll
    for (int c = 0; c < 3; ++c)
      if (c < fill_.colours)
        pass(CodeEntry{fill_, group_, c},
             [&](int i, const KnownEntry& sums) { means[i].add_codes(c, sums); });
    pass(GuardEntry{fill_, group_},
         [&](int i, const KnownEntry& sums) { means[i].begin<Channels>(sample(i), sums, unit); });
    const std::uint32_t count = 2 * fill_.work->offsets;
    for (std::uint32_t n = 0; n < count; ++n) {
      const Offset best = fill_.work->offset[n / 2];
      const Offset offset = n % 2 == 0 ? best : Offset{-best.x, -best.y};
      pass(DifferenceEntry{fill_, group_, offset}, [&](int i, const KnownEntry& sums) {
        means[i].add_offset<Channels>(fill_, sample(i), offset, sums, unit);
      });
    }
#pragma unroll
    for (int i = 0; i < thread_samples; ++i)
      if (has_sample(i)) means[i].store<Channels>(sample(i), unit);
  }

 private:
  [[nodiscard]] __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  [[nodiscard]] __device__ bool has_sample(int i) const {
    return static_cast<std::uint32_t>(thread() + i * threads) < shared_.count;
  }
  [[nodiscard]] __device__ LensSample& sample(int i) const {
    return fill_.list.samples[shared_.places[thread() + i * threads]];
  }

  /// The tile's samples, in any order; their places are forgotten.
  __device__ void collect() {
    if (thread() == 0) shared_.count = 0;
    __syncthreads();
#pragma unroll
    for (int i = thread(); i < side * side; i += threads) {
      const int x = left_ + i % side;
      const int y = top_ + i / side;
      if (!fill_.planes.holds(x, y)) continue;
      std::uint32_t& place = fill_.places[fill_.planes.place(x, y)];
      if (place == 0) continue;
      shared_.places[atomicAdd(&shared_.count, 1U)] = place - 1;
      place = 0;
    }
    __syncthreads();
  }

  /// take(i, sums) of every sample of the thread.
  template <class Entry, class Take>
  __device__ void pass(const Entry& entry, const Take& take) {
    for (int i = thread(); i < around * around; i += threads)
      shared_.entries[i] = joined(entry(left_ - known_reach + i % around, top_ - known_reach + i / around));
    __syncthreads();
    sum_rows();
    __syncthreads();
    sum_columns();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < thread_samples; ++i) {
      if (!has_sample(i)) continue;
      const LensSample& own = sample(i);
      const std::uint64_t sum = shared_.windows[(own.x - left_) * SharedPasses::pitch + own.y - top_];
      take(i, KnownEntry{static_cast<std::uint32_t>(sum), static_cast<std::uint32_t>(sum >> 32)});
    }
    __syncthreads();
  }

  __device__ void sum_rows() {
    constexpr int rows = side / row_parts;
    if (thread() >= row_parts * around) return;
    const int x = thread() % around;
    const int first = thread() / around * rows;
    std::uint64_t sum = 0;
    for (int y = 0; y < 2 * known_reach; ++y) sum += shared_.entries[(first + y) * around + x];
    for (int y = first; y < first + rows; ++y) {
      sum += shared_.entries[(y + 2 * known_reach) * around + x];
      shared_.columns[x * SharedPasses::pitch + y] = sum;
      sum -= shared_.entries[y * around + x];
    }
  }

  /// A lane has a row, a warp some columns.
  __device__ void sum_columns() {
    const int first = thread() / side * thread_columns;
    const std::uint64_t* columns = shared_.columns + first * SharedPasses::pitch + thread() % side;
    std::uint64_t* windows = shared_.windows + first * SharedPasses::pitch + thread() % side;
    std::uint64_t sum = 0;
    for (int x = 0; x < 2 * known_reach; ++x) sum += columns[x * SharedPasses::pitch];
#pragma unroll
    for (int x = 0; x < thread_columns; ++x) {
      sum += columns[(x + 2 * known_reach) * SharedPasses::pitch];
      windows[x * SharedPasses::pitch] = sum;
      sum -= columns[x * SharedPasses::pitch];
    }
  }

  const NonlocalFill& fill_;
  int group_;
  SharedPasses& shared_;
  int left_;
  int top_;
};

template <int Channels>
__global__ void __launch_bounds__(threads)
    fill_tile_nonlocally(const __grid_constant__ NonlocalFill fill, int group) {
  __shared__ SharedPasses shared;
  const auto tile = static_cast<int>(blockIdx.x);
  if (!fill.work->needs(group) || fill.tiles[tile] == 0) return;
  NonlocalBlock<Channels>(fill, group, tile, shared).run();
  if (threadIdx.x == 0) fill.tiles[tile] = 0;
}

constexpr int point_parts = 16;  ///< of the points, each summed by one thread an offset

__global__ void __launch_bounds__(plane_threads)
    sum_differences(const __grid_constant__ SumDifferences step) {
  const NonlocalFill& fill = step.fill;
  const auto x = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x);
  if (x >= offset_columns || !fill.work->needs(step.group)) return;
  const auto y = static_cast<int>(blockIdx.y);
  const OffsetSum own = step.sum(x, y, blockIdx.z, point_parts);
  OffsetSum& sum = fill.work->sums[y * offset_columns + x];
  if (own.count == 0) return;
  add_shared(&sum.sum, own.sum);
  add_shared(&sum.count, own.count);
}

/// A warp ranks a candidate.
__global__ void __launch_bounds__(plane_threads)
    rank_candidates(const __grid_constant__ RankCandidates step) {
  if (!step.fill.work->needs(step.group)) return;
  const auto first = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x) / warp_size;
  if (lane_index() == 0) step.begin(first);
  const int count = step.count();
  for (int x = first; x < count; x += static_cast<int>(gridDim.x) * plane_threads / warp_size) {
    const std::uint32_t rank =
        sum_of_lanes(static_cast<std::uint32_t>(step.better(x, lane_index(), warp_size)));
    if (lane_index() == 0) step.take(x, static_cast<int>(rank));
  }
}

/// Threads count samples of the list, and a block adds what they counted.
__global__ void __launch_bounds__(plane_threads) count_needed(const __grid_constant__ CountNeeded step) {
  __shared__ std::uint32_t needed[lens_most_groups];
  if (threadIdx.x < lens_most_groups) needed[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t counts[lens_most_groups] = {};
  const std::uint32_t count = *step.fill.list.count;
  for (std::uint32_t i = blockIdx.x * plane_threads + threadIdx.x; i < count;
       i += gridDim.x * plane_threads) {
    const LensSample& sample = step.fill.list.samples[i];
    const bool is_needed = step.fill.is_needed(sample);
#pragma unroll
    for (int group = 0; group < lens_most_groups; ++group)
      counts[group] += is_needed && sample.group == group ? 1U : 0U;
  }
#pragma unroll
  for (int group = 0; group < lens_most_groups; ++group) {
    const std::uint32_t of_warp = sum_of_lanes(counts[group]);
    if (lane_index() == 0 && of_warp != 0) atomicAdd(needed + group, of_warp);
  }
  __syncthreads();
  if (threadIdx.x < lens_most_groups && needed[threadIdx.x] != 0)
    add_shared(step.fill.work->needed + threadIdx.x, needed[threadIdx.x]);
}

/// Launches a step with one thread a place; the sums of differences have a kernel of their own.
struct NonlocalLaunch : EachPlace {
  using EachPlace::operator();

  void operator()(int, int, const SumDifferences& step) const {
    const dim3 grid((offset_columns + plane_threads - 1) / plane_threads, offset_rows, point_parts);
    sum_differences<<<grid, plane_threads, 0, stream>>>(step);
  }
  void operator()(int, int, const RankCandidates& step) const {
    constexpr unsigned blocks = 132;
    rank_candidates<<<blocks, plane_threads, 0, stream>>>(step);
  }
  void operator()(int, int, const CountNeeded& step) const {
    constexpr unsigned blocks = 1056;
    count_needed<<<blocks, plane_threads, 0, stream>>>(step);
  }
};

std::size_t tile_bytes(const LensLayersJob& job) {
  return static_cast<std::size_t>(tiles_of(static_cast<int>(job.width))) *
         static_cast<std::size_t>(tiles_of(static_cast<int>(job.height)));
}
std::size_t word_count(const LensLayersJob& job) { return static_cast<std::size_t>(job.width * job.height); }

}  // namespace

std::size_t nonlocal_workspace_bytes(const LensLayersJob& job) {
  return sizeof(NonlocalWork) + word_count(job) * sizeof(std::uint32_t) + tile_bytes(job);
}

void fill_nonlocally(const LensLayersArguments& arguments, const LensScene& scene, StreamHandle stream) {
  const LensLayersJob& job = arguments.job;
  auto* work = static_cast<NonlocalWork*>(arguments.nonlocal_workspace);
  auto* words = reinterpret_cast<std::uint32_t*>(work + 1);
  auto* marks = reinterpret_cast<std::uint8_t*>(words + word_count(job));
  const std::size_t tiles = tile_bytes(job);
  cudaMemsetAsync(marks, 0, tiles, stream);
  NonlocalFill fill = nonlocal_fill(job, scene, work, marks, side);
  fill.words = words;  // the magnitudes stay
  with_channels(job.channels, [&]<int Channels>() {
    satin::fill_nonlocally(NonlocalLaunch{{stream}}, fill, job.most_groups, job.offset_pairs, [&](int group) {
      fill_tile_nonlocally<Channels><<<static_cast<unsigned>(tiles), threads, 0, stream>>>(fill, group);
    });
  });
}

}  // namespace satin::kernels
