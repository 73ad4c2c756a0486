// From radii to groups of depth: the range and the histogram by all multiprocessors, each block with a
// histogram of its own, then what looks at bins alone by one block, but for the costs of all ranges.

#include "kernels/lens/launch.h"

namespace satin::kernels {
namespace {

constexpr int histogram_threads = depth_bins;
constexpr int histogram_blocks = 512;  ///< at least
constexpr int radii_at_once = 4;       ///< in flight

/// Calls sample(radius) for the radii that the histogram looks at: a thread has every so many of a column.
template <class Sample>
__device__ void for_histogram_samples(const LensPlanes& planes, const Sample& sample) {
  const int x =
      (static_cast<int>(blockIdx.x) * histogram_threads + static_cast<int>(threadIdx.x)) * histogram_stride;
  const int step = static_cast<int>(gridDim.y) * histogram_stride;
  if (x >= planes.width) return;
  for (int first = static_cast<int>(blockIdx.y) * histogram_stride; first < planes.height;
       first += radii_at_once * step) {
    std::int32_t radii[radii_at_once];
#pragma unroll
    for (int i = 0; i < radii_at_once; ++i)
      radii[i] = planes.sharpened[planes.place(x, min(first + i * step, planes.height - 1))];
#pragma unroll
    for (int i = 0; i < radii_at_once; ++i)
      if (first + i * step < planes.height) sample(radii[i]);
  }
}

dim3 histogram_grid(const LensPlanes& planes) {
  const int columns = (planes.width + histogram_stride - 1) / histogram_stride;
  const int rows = (planes.height + histogram_stride - 1) / histogram_stride;
  const int across = (columns + histogram_threads - 1) / histogram_threads;
  const int down = (histogram_blocks + across - 1) / across;
  return {static_cast<unsigned>(across), static_cast<unsigned>(down < rows ? down : rows)};
}

__global__ void __launch_bounds__(histogram_threads)
    find_range(const __grid_constant__ FindRadiusRange step) {
  std::int32_t low = INT32_MAX;
  std::int32_t high = INT32_MIN;
  for_histogram_samples(step.planes, [&](std::int32_t radius) {
    low = min(low, radius);
    high = max(high, radius);
  });
  if (low > high) return;
  raise_shared(&step.work->highest, high);
  raise_shared(&step.work->negative_lowest, -low);
}

__global__ void __launch_bounds__(histogram_threads)
    count_in_blocks(const __grid_constant__ CountRadii step) {
  __shared__ std::uint32_t counts[depth_bins];
  const auto thread = static_cast<int>(threadIdx.x);
  counts[thread] = 0;
  const std::int32_t lowest = step.work->lowest();
  const std::int32_t width = step.work->step();
  __syncthreads();
  for_histogram_samples(step.planes,
                        [&](std::int32_t radius) { atomicAdd(counts + (radius - lowest) / width, 1U); });
  __syncthreads();
  if (counts[thread] != 0) add_shared(&step.work->counts[thread], counts[thread]);
}

/// Every place by the threads of one block, which wait for each other.
struct BlockLaunch {
  static constexpr int threads = 1024;

  template <class Step>
  SATIN_HD void operator()(int width, int height, const Step& step) const {
#if defined(__CUDA_ARCH__)
    for (int i = static_cast<int>(threadIdx.x); i < width * height; i += threads) step(i % width, i / width);
    __syncthreads();
#endif
  }
};

template <class Steps>
__global__ void __launch_bounds__(BlockLaunch::threads)
    run_in_one_block(const __grid_constant__ Steps steps) {
  steps.run(BlockLaunch{});
}

}  // namespace

void find_radius_range(const FindRadiusRange& step, StreamHandle stream) {
  find_range<<<histogram_grid(step.planes), histogram_threads, 0, stream>>>(step);
}

void count_radii(const CountRadii& step, StreamHandle stream) {
  count_in_blocks<<<histogram_grid(step.planes), histogram_threads, 0, stream>>>(step);
}

void sum_histogram(const SumHistogram& steps, StreamHandle stream) {
  run_in_one_block<<<1, BlockLaunch::threads, 0, stream>>>(steps);
}

void find_best_partition(const FindBestPartition& steps, StreamHandle stream) {
  run_in_one_block<<<1, BlockLaunch::threads, 0, stream>>>(steps);
}

}  // namespace satin::kernels
