// Pixelwise operations on depth images and radii. Steps that count, or that read the focus, have kernels of
// their own: a thread does many rows of a column, so that a block adds its count to global memory once.

#include "depth/circle_of_confusion.h"
#include "depth/depth_statistics.h"
#include "depth/enlarge_map.h"
#include "depth/enlarge_radii.h"
#include "depth/fill_radii.h"
#include "depth/follow_subject.h"
#include "depth/soft_depth.h"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/each_place.cuh"

namespace satin::kernels {
namespace {

constexpr int rows_of_blocks = 64;
constexpr int rows_at_once = 4;  ///< rows whose loads a thread has in flight

dim3 counting_grid(std::int64_t width, std::int64_t height) {
  const std::int64_t rows = (height + rows_at_once - 1) / rows_at_once;
  return plane_grid(width, rows < rows_of_blocks ? rows : rows_of_blocks);
}

/// Calls load(x, y, i) for rows_at_once rows of the thread's column, then use(x, y, i) for those in the
/// image.
template <class Load, class Use>
__device__ void for_rows_of_column(std::int64_t width, std::int64_t height, const Load& load,
                                   const Use& use) {
  const std::int64_t x = std::int64_t{blockIdx.x} * plane_threads + threadIdx.x;
  if (x >= width) return;
  for (std::int64_t first = std::int64_t{blockIdx.y} * rows_at_once; first < height;
       first += std::int64_t{gridDim.y} * rows_at_once) {
#pragma unroll
    for (int i = 0; i < rows_at_once; ++i) load(x, first + i < height ? first + i : height - 1, i);
#pragma unroll
    for (int i = 0; i < rows_at_once; ++i)
      if (first + i < height) use(x, first + i, i);
  }
}

/// Adds the counts of all threads of the block to *number. All of them call it together.
__device__ void add_of_block(std::uint32_t* number, std::uint32_t count) {
  __shared__ std::uint32_t sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const std::uint32_t of_warp = sum_of_lanes(count);
  if (lane_index() == 0 && of_warp != 0) atomicAdd(&sum, of_warp);
  __syncthreads();
  if (threadIdx.x == 0 && sum != 0) add_shared(number, sum);
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(plane_threads)
    count_digits(const __grid_constant__ CountDepthDigits<T> step, std::int64_t height) {
  __shared__ std::uint32_t counts[sought_values][depth_digits];
  const auto thread = static_cast<int>(threadIdx.x);
  static_assert(plane_threads == depth_digits, "one thread for each digit");
  for (auto& of_value : counts) of_value[thread] = 0;
  const int shift = static_cast<int>(sizeof(T) - 1) * depth_digit_bits - step.pass * depth_digit_bits;
  std::uint32_t prefixes[sought_values];
#pragma unroll
  for (int i = 0; i < sought_values; ++i) prefixes[i] = step.statistics->sought[step.pass % 2][i].prefix;
  __syncthreads();
  T stored[rows_at_once];
  for_rows_of_column(
      step.width, height, [&](std::int64_t x, std::int64_t y, int i) { stored[i] = step.depth.at(x, y); },
      [&](std::int64_t, std::int64_t, int i) {
        if (!depth_value(static_cast<double>(stored[i]), step.rule).known) return;
        const std::uint32_t digits = depth_key(stored[i]) >> static_cast<unsigned>(shift);
        int value = sought_values;
#pragma unroll
        for (int k = sought_values - 1; k >= 0; --k)
          if (prefixes[k] == digits >> depth_digit_bits) value = k;
        if (value < sought_values) atomicAdd(&counts[value][digits % depth_digits], 1U);
      });
  __syncthreads();
  for (int i = 0; i < sought_values; ++i)
    if (counts[i][thread] != 0) add_shared(&step.statistics->counts[i][thread], counts[i][thread]);
}

constexpr int digits_of_lane = depth_digits / warp_size;

/// Each warp does a sought value, and each lane some of the digits.
__global__ void __launch_bounds__(sought_values* warp_size)
    choose_digits(const __grid_constant__ ChooseDepthDigits step) {
  const int value = static_cast<int>(threadIdx.x) / warp_size;
  const std::uint32_t* counts = step.counts_of(value) + lane_index() * digits_of_lane;
  std::uint32_t count = 0;
#pragma unroll
  for (int i = 0; i < digits_of_lane; ++i) count += counts[i];
  const std::uint32_t sum = inclusive_scan(count);
  const std::uint32_t rank = step.rank_among(value, __shfl_sync(whole_warp, sum, warp_size - 1));
  const unsigned above = __ballot_sync(whole_warp, rank < sum);
  const int chosen = above == 0 ? warp_size - 1 : __ffs(static_cast<int>(above)) - 1;
  if (lane_index() == chosen)
    step.choose(value, static_cast<std::uint32_t>(chosen * digits_of_lane), rank - (sum - count));
}

__global__ void __launch_bounds__(plane_threads)
    count_clamped(const __grid_constant__ CountClamped step, std::int64_t height) {
  SignedRadius256 radii[rows_at_once];
  std::uint32_t count = 0;
  for_rows_of_column(
      step.width, height, [&](std::int64_t x, std::int64_t y, int i) { radii[i] = step.radii.row(y)[x]; },
      [&](std::int64_t, std::int64_t, int i) { count += step.is_clamped(radii[i]) ? 1U : 0U; });
  add_of_block(&step.statistics->clamped, count);
}

/// Reads the state once for many rows.
template <class T>
__global__ void __launch_bounds__(plane_threads)
    radii_of_depth(const __grid_constant__ RadiiOfDepth<T> step, std::int64_t width, std::int64_t height) {
  const LensState state = *step.state;
  T stored[rows_at_once];
  for_rows_of_column(
      width, height, [&](std::int64_t x, std::int64_t y, int i) { stored[i] = step.depth.at(x, y); },
      [&](std::int64_t x, std::int64_t y, int i) {
        step.radii.row(y)[x] = circle_of_confusion(static_cast<double>(stored[i]), step.rule, state);
      });
}

// H200, UHD: 107 us; with registers for two blocks and a block for each row 147.
constexpr int ramp_blocks_per_multiprocessor = 3;
constexpr std::int64_t ramp_rows_of_blocks = 108;

template <class T>
__global__ void __launch_bounds__(plane_threads, ramp_blocks_per_multiprocessor)
    count_ramps(const __grid_constant__ CountRamps<T> step, std::int64_t rows) {
  const std::int64_t x = std::int64_t{blockIdx.x} * plane_threads + threadIdx.x;
  RampCounts counts;
  constexpr int reach = surface_reach;
  const auto inside = [](std::int64_t i, std::int64_t size) { return i >= reach && i + reach < size; };
  for (std::int64_t row = blockIdx.y; row < rows && x < step.width; row += gridDim.y) {
    const std::int64_t y = row * soft_stride;
    const bool axes[] = {inside(x, step.width), inside(y, step.height)};
    T stored[2][2 * reach + 1];  // few pixels need them all, but would wait for one load after the other
#pragma unroll
    for (int i = -reach; i <= reach; ++i) {
      stored[0][i + reach] = step.depth.at(x + (axes[0] ? i : 0), y);
      stored[1][i + reach] = step.depth.at(x, y + (axes[1] ? i : 0));
    }
#pragma unroll
    for (int k = 0; k < 2; ++k)
      if (axes[k]) step.count_along([&](std::int64_t i) { return stored[k][i + reach]; }, counts);
  }
  add_of_block(&step.statistics->silhouettes, counts.silhouettes);
  add_of_block(&step.statistics->ramps, counts.ramps);
}

struct DepthLaunch : EachPlace {
  using EachPlace::operator();

  template <class T>
  void operator()(std::int64_t /*chunks*/, std::int64_t height, const CountDepthDigits<T>& step) const {
    count_digits<<<counting_grid(step.width, height), plane_threads, 0, stream>>>(step, height);
  }
  void operator()(std::int64_t /*values*/, std::int64_t /*one*/, const ChooseDepthDigits& step) const {
    choose_digits<<<1, sought_values * warp_size, 0, stream>>>(step);
  }
  template <class T>
  void operator()(std::int64_t width, std::int64_t height, const RadiiOfDepth<T>& step) const {
    radii_of_depth<<<counting_grid(width, height), plane_threads, 0, stream>>>(step, width, height);
  }
  void operator()(std::int64_t /*chunks*/, std::int64_t height, const CountClamped& step) const {
    count_clamped<<<counting_grid(step.width, height), plane_threads, 0, stream>>>(step, height);
  }
  template <class T>
  void operator()(std::int64_t /*chunks*/, std::int64_t rows, const CountRamps<T>& step) const {
    const dim3 grid = plane_grid(step.width, rows < ramp_rows_of_blocks ? rows : ramp_rows_of_blocks);
    count_ramps<<<grid, plane_threads, 0, stream>>>(step, rows);
  }
};

}  // namespace

template <>
struct LaunchOf<DepthStatisticsJob> {
  using Type = DepthLaunch;
};
template <>
struct LaunchOf<CircleOfConfusionJob> {
  using Type = DepthLaunch;
};
template <>
struct LaunchOf<ClampedRadiiJob> {
  using Type = DepthLaunch;
};
template <>
struct LaunchOf<SoftDepthJob> {
  using Type = DepthLaunch;
};

template void run_pixelwise(const CircleOfConfusionJob&, const CircleOfConfusionJob::Images&,
                            const TransferView&, StreamHandle);
template void run_pixelwise(const DepthStatisticsJob&, const DepthStatisticsJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const ClampedRadiiJob&, const ClampedRadiiJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const SoftDepthJob&, const SoftDepthJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const EnlargeMapJob&, const EnlargeMapJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const EnlargeRadiiJob&, const EnlargeRadiiJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const FillUnknownJob&, const FillUnknownJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const FollowSubjectJob&, const FollowSubjectJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const PlanarRadiiJob&, const PlanarRadiiJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const SnapDepthJob&, const SnapDepthJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const SplitRadiiJob&, const SplitRadiiJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
