// The non-local fill on CUDA, all groups at once. Small launches find the offsets; then blocks take halves of
// the tiles that have sharp hidden samples. A block runs each pass over its 32 x 32 pixels and their
// surroundings in shared memory: entries of pixels, sums of 25 rows, sums of 25 columns.

#include "lens/maths/nonlocal_fill.h"

#include "core/with_type.h"
#include "kernels/device/warp.cuh"
#include "kernels/lens/fill_tiles.cuh"
#include "kernels/lens/launch.h"
#include "kernels/pixels/plane.cuh"
#include "lens/layers.h"

namespace satin::kernels {
namespace {

constexpr int side = warp_size;  ///< side of the area of a block
constexpr int around = side + 2 * known_reach;
constexpr int threads = 256;
constexpr int thread_samples = side * side / threads;  ///< most samples of a thread
constexpr int row_chunks = 4;  ///< chunks of rows, each summed by one thread per column
constexpr int column_threads = threads / row_chunks;
static_assert(around <= column_threads && around % row_chunks == 0 && side % row_chunks == 0);
constexpr int thread_columns = side * side / threads;  ///< windows of one row that a thread sums
constexpr int halves = tile_width / side;              ///< areas per tile of the disocclusion fill
static_assert(tile_height == side);

struct SharedPasses {
  static constexpr int pitch = side + 1;
  std::uint32_t words[around * around];    ///< packed pixels; `other_group` outside the group
  std::uint32_t entries[around * around];  ///< joined
  std::uint32_t columns[around * pitch];   ///< [column][row]: sums over the 25 rows around
  KnownEntry windows[side * pitch];        ///< [column][row]: sums over 25 x 25 entries
  std::uint16_t samples[side * side];      ///< indices of the sharp samples among the tile's
  std::uint16_t pixels[side * side];       ///< column, row and whether it is a block, of each sample
  std::uint32_t count;                     ///< number of sharp samples
  std::uint32_t taken;
};

__device__ NonlocalFill fill_of_group(NonlocalFill fill, int group) {
  fill.work += group;
  fill.group = group;
  return fill;
}

constexpr std::uint32_t other_group = 31U << 27;  ///< word of a pixel that does not count

/// Fills the sharp hidden samples of one area, by one block. A thread has every 256th of them.
template <int Channels>
class NonlocalBlock {
 public:
  __device__ NonlocalBlock(const NonlocalFill& fill, int left, int top, LensSample* samples,
                           SharedPasses& shared)
      : fill_(fill), left_(left), top_(top), samples_(samples), shared_(shared) {}

  __device__ void run(std::uint32_t samples) {
    collect(samples);
    if (shared_.count == 0) return;
    read_words();
    const LensUnit unit = *fill_.unit;
    NonlocalMean means[thread_samples];
    pass(
        [](std::uint32_t own, int, int) {
          return KnownEntry{packed_difference(own, 0), 1};
        },
        [&](int i, const KnownEntry& sums) { means[i].add_squares(sums); });
#pragma unroll
    for (int c = 0; c < 3; ++c)
      if (c < fill_.colours)
        pass(
            [&](std::uint32_t own, int, int) {
              return KnownEntry{packed_code(own, c), 1};
            },
            [&](int i, const KnownEntry& sums) { means[i].add_codes(c, sums); });
    add_guard(means, unit);
    const std::uint32_t count = 2 * fill_.work->offsets;
    for (std::uint32_t n = 0; n < count; ++n) {
      const Offset best = fill_.work->offset[n / 2];
      const Offset offset = n % 2 == 0 ? best : Offset{-best.x, -best.y};
      enter_differences(offset);
      sum_windows([&](int i, const KnownEntry& sums) {
        means[i].add_offset<Channels>(fill_, pixel(i), offset, sums, unit);
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
    return samples_[shared_.samples[thread() + i * threads]];
  }
  /// The sample's position and group, without colours.
  [[nodiscard]] __device__ LensSample pixel(int i) const {
    const int packed = shared_.pixels[thread() + i * threads];
    LensSample own{};
    own.x = left_ + packed % side;
    own.y = top_ + packed / side % side;
    own.block = static_cast<std::uint8_t>(1 + packed / (side * side));
    own.group = static_cast<std::uint8_t>(fill_.group);
    return own;
  }

  /// Collects the area's sharp samples, in any order.
  __device__ void collect(std::uint32_t samples) {
    if (thread() == 0) shared_.count = 0;
    __syncthreads();
    for (auto i = threadIdx.x; i < samples; i += threads) {
      const LensSample& own = samples_[i];
      const int x = own.x - left_;
      if (own.radius >= nonlocal_radius || x < 0 || x >= side) continue;
      const std::uint32_t place = atomicAdd(&shared_.count, 1U);
      shared_.samples[place] = static_cast<std::uint16_t>(i);
      shared_.pixels[place] =
          static_cast<std::uint16_t>((own.block - 1) * side * side + (own.y - top_) * side + x);
    }
    __syncthreads();
  }

  /// Calls use(x, y, i) for this thread's pixels of the area and its surroundings: some rows of a column.
  template <class Use>
  __device__ void for_pixels(const Use& use) const {
    const int column = thread() % column_threads;
    if (column >= around) return;
    const int first = thread() / column_threads;
#pragma unroll
    for (int k = 0; k < around / row_chunks; ++k) {
      const int row = first + k * row_chunks;
      use(left_ - known_reach + column, top_ - known_reach + row, row * around + column);
    }
  }

  __device__ void read_words() {
    for_pixels([&](int x, int y, int i) {
      const std::uint32_t word = fill_.word_at(x, y);
      shared_.words[i] = fill_.is_in_group(word) ? word : other_group;
    });
  }

  [[nodiscard]] __device__ KnownEntry difference(std::uint32_t own, int x, int y) const {
    const std::uint32_t there = fill_.word_at(x, y);
    if (packed_group(own ^ there) != 0) return {};
    return {packed_difference(own, there), 1};
  }

  /// Differences at the guard's distance, both directions along an axis in each of two passes.
  __device__ void add_guard(NonlocalMean (&means)[thread_samples], const LensUnit& unit) {
    KnownEntry across[thread_samples];
    pass(
        [&](std::uint32_t own, int x, int y) {
          return sum_of(difference(own, x + guard_distance, y), difference(own, x - guard_distance, y));
        },
        [&](int i, const KnownEntry& sums) { across[i] = sums; });
    pass(
        [&](std::uint32_t own, int x, int y) {
          return sum_of(difference(own, x, y + guard_distance), difference(own, x, y - guard_distance));
        },
        [&](int i, const KnownEntry& sums) {
          means[i].begin<Channels>(sample(i), sum_of(across[i], sums), unit);
        });
  }

  /// Enters entry() of the group's pixels.
  template <class Entry>
  __device__ void enter(const Entry& entry) {
    for_pixels([&](int x, int y, int i) {
      const std::uint32_t own = shared_.words[i];
      shared_.entries[i] = own == other_group ? 0 : joined(entry(own, x, y));
    });
  }

  /// Enters the differences at an offset. Where all pixels exist, loads do not wait for each other.
  __device__ void enter_differences(const Offset& offset) {
    const LensPlanes& planes = fill_.planes;
    const int left = left_ - known_reach + offset.x;
    const int top = top_ - known_reach + offset.y;
    if (left < 0 || top < 0 || left + around > planes.width || top + around > planes.height)
      return enter(
          [&](std::uint32_t own, int x, int y) { return difference(own, x + offset.x, y + offset.y); });
    const int column = thread() % column_threads;
    if (column >= around) return;
    const int first = thread() / column_threads;
    const std::uint32_t* words = fill_.words + planes.place(left + column, top + first);
    constexpr int rows = around / row_chunks;
    constexpr int at_once = rows / 2;
    static_assert(rows % at_once == 0);
#pragma unroll
    for (int k = 0; k < rows; k += at_once) {
      std::uint32_t there[at_once];
#pragma unroll
      for (int j = 0; j < at_once; ++j) there[j] = words[planes.place(0, (k + j) * row_chunks)];
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        const int i = (first + (k + j) * row_chunks) * around + column;
        const std::uint32_t own = shared_.words[i];
        shared_.entries[i] =
            packed_group(own ^ there[j]) == 0 ? joined({packed_difference(own, there[j]), 1}) : 0;
      }
    }
  }

  /// Calls take(i, sums) for each sample of the thread, with the window sums of entry() over the group's
  /// pixels.
  template <class Entry, class Take>
  __device__ void pass(const Entry& entry, const Take& take) {
    enter(entry);
    sum_windows(take);
  }

  template <class Take>
  __device__ void sum_windows(const Take& take) {
    __syncthreads();
    sum_rows();
    __syncthreads();
    sum_columns();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < thread_samples; ++i) {
      if (!has_sample(i)) continue;
      const int packed = shared_.pixels[thread() + i * threads];
      take(i, shared_.windows[packed % side * SharedPasses::pitch + packed / side % side]);
    }
  }

  __device__ void sum_rows() {
    constexpr int rows = side / row_chunks;
    const int x = thread() % column_threads;
    if (x >= around) return;
    const int first = thread() / column_threads * rows;
    const std::uint32_t* entries = shared_.entries + first * around + x;
    std::uint32_t own[rows + 2 * known_reach];
#pragma unroll
    for (int y = 0; y < rows + 2 * known_reach; ++y) own[y] = entries[y * around];
    std::uint32_t sum = 0;
#pragma unroll
    for (int y = 0; y < 2 * known_reach; ++y) sum += own[y];
#pragma unroll
    for (int y = 0; y < rows; ++y) {
      sum += own[y + 2 * known_reach];
      shared_.columns[x * SharedPasses::pitch + first + y] = sum;
      sum -= own[y];
    }
  }

  /// A lane has a row, a warp some columns.
  __device__ void sum_columns() {
    const int first = thread() / side * thread_columns;
    const std::uint32_t* columns = shared_.columns + first * SharedPasses::pitch + thread() % side;
    KnownEntry* windows = shared_.windows + first * SharedPasses::pitch + thread() % side;
    std::uint32_t own[thread_columns + 2 * known_reach];
#pragma unroll
    for (int x = 0; x < thread_columns + 2 * known_reach; ++x) own[x] = columns[x * SharedPasses::pitch];
    KnownEntry sum;
#pragma unroll
    for (int x = 0; x < 2 * known_reach; ++x) sum = sum_of(sum, parted(own[x]));
#pragma unroll
    for (int x = 0; x < thread_columns; ++x) {
      sum = sum_of(sum, parted(own[x + 2 * known_reach]));
      windows[x * SharedPasses::pitch] = sum;
      const KnownEntry left = parted(own[x]);
      sum = {sum.value - left.value, sum.count - left.count};
    }
  }

  const NonlocalFill& fill_;
  int left_;
  int top_;
  LensSample* samples_;  ///< samples of the tile
  SharedPasses& shared_;
};

/// Blocks take halves of the tiles that have hidden samples.
template <int Channels>
__global__ void __launch_bounds__(threads) fill_tiles_nonlocally(const __grid_constant__ NonlocalFill fill,
                                                                 const __grid_constant__ FillTiles tiles) {
  __shared__ SharedPasses shared;
  const std::uint32_t count = halves * tiles.counters->listed;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) shared.taken = add_shared(&tiles.counters->taken, 1);
    __syncthreads();
    if (shared.taken >= count) return;
    const std::uint32_t listed = shared.taken / halves;
    const auto place = static_cast<int>(tiles.list[listed]);
    const int group = place / tiles.tiles();
    const int tile = place % tiles.tiles();
    const NonlocalFill own = fill_of_group(fill, group);
    const FilledTile filled = tiles.filled[listed];
    if (filled.count == 0 || !own.group_needs_samples()) continue;
    const int left = tile % tiles.columns * tile_width + static_cast<int>(shared.taken % halves) * side;
    NonlocalBlock<Channels>(own, left, tile / tiles.columns * tile_height, fill.list.samples + filled.first,
                            shared)
        .run(filled.count);
  }
}

// Steps of all groups at once: blockIdx.z chooses the group, which has its own work.

__global__ void __launch_bounds__(plane_threads)
    begin_offsets(const __grid_constant__ NonlocalFill fill, const FillCounters* counters) {
  const auto group = static_cast<int>(blockIdx.z) + 1;
  NonlocalWork& work = *fill_of_group(fill, group).work;
  const auto x = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x);
  if (x < offset_count) work.sums[x] = {};
  if (x != 0) return;
  work.points = work.candidates = work.offsets = 0;
  work.needed[group] = counters->sharp[group];
}

template <class Step>
__global__ void __launch_bounds__(plane_threads)
    run_of_group(const __grid_constant__ NonlocalFill fill, int width) {
  const auto group = static_cast<int>(blockIdx.z) + 1;
  const auto x = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x);
  if (x < width) Step{fill_of_group(fill, group)}(x, static_cast<int>(blockIdx.y));
}

constexpr int point_subsets = 16;  ///< subsets of the points, each summed by one thread per offset

__global__ void __launch_bounds__(plane_threads) sum_differences(const __grid_constant__ NonlocalFill all) {
  const auto group = static_cast<int>(blockIdx.z) / point_subsets + 1;
  const SumDifferences step{fill_of_group(all, group)};
  const auto x = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x);
  if (x >= offset_columns || !step.fill.group_needs_samples()) return;
  const auto y = static_cast<int>(blockIdx.y);
  const OffsetSum own = step.sum(x, y, blockIdx.z % point_subsets, point_subsets);
  OffsetSum& sum = step.fill.work->sums[y * offset_columns + x];
  if (own.count == 0) return;
  add_shared(&sum.sum, own.sum);
  add_shared(&sum.count, own.count);
}

/// Ranks candidates, a warp each.
__global__ void __launch_bounds__(plane_threads)
    rank_candidates(const __grid_constant__ NonlocalFill fill, int pairs) {
  const auto group = static_cast<int>(blockIdx.z) + 1;
  const RankCandidates step{fill_of_group(fill, group), pairs};
  if (!step.fill.group_needs_samples()) return;
  const auto first = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x) / warp_size;
  if (lane_index() == 0) step.begin(first);
  const int count = step.count();
  for (int x = first; x < count; x += static_cast<int>(gridDim.x) * plane_threads / warp_size) {
    const std::uint32_t rank =
        sum_of_lanes(static_cast<std::uint32_t>(step.better(x, lane_index(), warp_size)));
    if (lane_index() == 0) step.take(x, static_cast<int>(rank));
  }
}

}  // namespace

std::size_t nonlocal_workspace_bytes(const LensLayersJob& job) {
  return lens_most_groups * sizeof(NonlocalWork) +
         static_cast<std::size_t>(job.width * job.height) * sizeof(std::uint32_t);
}

NonlocalFill nonlocal_fill(const LensLayersArguments& arguments, const LensScene& scene) {
  auto* works = static_cast<NonlocalWork*>(arguments.nonlocal_workspace);
  NonlocalFill fill = satin::nonlocal_fill(arguments.job, scene, works);
  fill.words = reinterpret_cast<std::uint32_t*>(works + lens_most_groups);
  return fill;
}

MarkedPixels marked_pixels(const LensLayersArguments& arguments) {
  auto* works = static_cast<NonlocalWork*>(arguments.nonlocal_workspace);
  return {&works->points, reinterpret_cast<std::uint32_t*>(works + lens_most_groups)};
}

void fill_nonlocally(const LensLayersArguments& arguments, const LensScene& scene, StreamHandle stream) {
  const LensLayersJob& job = arguments.job;
  const NonlocalFill fill = nonlocal_fill(arguments, scene);
  const FillTiles tiles = fill_tiles(arguments);
  const auto groups = static_cast<unsigned>(job.most_groups - 1);
  if (groups == 0) return;
  begin_offsets<<<dim3(blocks_for(offset_count, plane_threads), 1, groups), plane_threads, 0, stream>>>(
      fill, tiles.counters);
  run_of_group<ChoosePoints><<<dim3(1, point_cells, groups), plane_threads, 0, stream>>>(fill, point_cells);
  const dim3 places(blocks_for(offset_columns, plane_threads), offset_rows, groups);
  const dim3 sums(places.x, places.y, groups * point_subsets);
  sum_differences<<<sums, plane_threads, 0, stream>>>(fill);
  run_of_group<FindCandidates><<<places, plane_threads, 0, stream>>>(fill, offset_columns);
  constexpr unsigned ranking_blocks = 64;
  rank_candidates<<<dim3(ranking_blocks, 1, groups), plane_threads, 0, stream>>>(fill, job.offset_pairs);
  constexpr int blocks_per_multiprocessor = 4;
  with_channels(job.channels, [&]<int Channels>() {
    fill_tiles_nonlocally<Channels>
        <<<static_cast<unsigned>(blocks_per_multiprocessor * arguments.multiprocessors), threads, 0,
           stream>>>(fill, tiles);
  });
}

}  // namespace satin::kernels
