// Steps on depth images by threads that have many rows of a column. Those that count add what a block counted
// once.

#include "depth/radii_steps.h"
#include "depth/soft_depth.h"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/each_place.cuh"

namespace satin::kernels {
namespace {

constexpr int rows_of_blocks = 64;
constexpr int rows_at_once = 4;  ///< of a thread, in flight

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

/// Adds the threads' counts to a number; all threads of the block call it together.
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
  __shared__ std::uint32_t counts[span_ends][span_digits];
  const auto thread = static_cast<int>(threadIdx.x);
  static_assert(plane_threads == span_digits, "a thread a digit");
  for (auto& of_end : counts) of_end[thread] = 0;
  const int shift = static_cast<int>(sizeof(T) - 1) * span_digit_bits - step.pass * span_digit_bits;
  std::uint32_t prefixes[span_ends];
#pragma unroll
  for (int end = 0; end < span_ends; ++end) prefixes[end] = step.span->ends[step.pass % 2][end].prefix;
  __syncthreads();
  T stored[rows_at_once];
  for_rows_of_column(
      step.width, height, [&](std::int64_t x, std::int64_t y, int i) { stored[i] = step.depth.at(x, y); },
      [&](std::int64_t, std::int64_t, int i) {
        if (!depth_value(static_cast<double>(stored[i]), step.rule).known) return;
        const std::uint32_t digits = depth_key(stored[i]) >> static_cast<unsigned>(shift);
        int end = span_ends;
#pragma unroll
        for (int k = span_ends - 1; k >= 0; --k)
          if (prefixes[k] == digits >> span_digit_bits) end = k;
        if (end < span_ends) atomicAdd(&counts[end][digits % span_digits], 1U);
      });
  __syncthreads();
  for (int end = 0; end < span_ends; ++end)
    if (counts[end][thread] != 0) add_shared(&step.span->counts[end][thread], counts[end][thread]);
}

constexpr int digits_of_lane = span_digits / warp_size;

/// A warp does an end of the span, and a lane some of the digits.
__global__ void __launch_bounds__(span_ends* warp_size)
    choose_digits(const __grid_constant__ ChooseDepthDigits step) {
  const int end = static_cast<int>(threadIdx.x) / warp_size;
  const std::uint32_t* counts = step.counts_of(end) + lane_index() * digits_of_lane;
  std::uint32_t count = 0;
#pragma unroll
  for (int i = 0; i < digits_of_lane; ++i) count += counts[i];
  const std::uint32_t sum = inclusive_scan(count);
  const std::uint32_t rank = step.rank_among(end, __shfl_sync(whole_warp, sum, warp_size - 1));
  const unsigned above = __ballot_sync(whole_warp, rank < sum);
  const int chosen = above == 0 ? warp_size - 1 : __ffs(static_cast<int>(above)) - 1;
  if (lane_index() == chosen)
    step.choose(end, static_cast<std::uint32_t>(chosen * digits_of_lane), rank - (sum - count));
}

__global__ void __launch_bounds__(plane_threads)
    count_held(const __grid_constant__ CountHeld step, std::int64_t height) {
  SignedRadius256 radii[rows_at_once];
  std::uint32_t count = 0;
  for_rows_of_column(
      step.width, height, [&](std::int64_t x, std::int64_t y, int i) { radii[i] = step.radii.row(y)[x]; },
      [&](std::int64_t, std::int64_t, int i) { count += step.holds(radii[i]) ? 1U : 0U; });
  add_of_block(&step.span->held, count);
}

/// The state is read once for many rows.
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

/// Each thread does one pixel of the rows that are looked at.
template <class T>
__global__ void __launch_bounds__(plane_threads)
    count_ramps(const __grid_constant__ CountRamps<T> step, std::int64_t rows) {
  const std::int64_t x = std::int64_t{blockIdx.x} * plane_threads + threadIdx.x;
  RampCounts counts;
  for (std::int64_t row = blockIdx.y; row < rows && x < step.width; row += gridDim.y) {
    step.count_across(x, row * soft_stride, counts);
    step.count_down(x, row * soft_stride, counts);
  }
  add_of_block(&step.span->silhouettes, counts.silhouettes);
  add_of_block(&step.span->ramps, counts.ramps);
}

struct DepthLaunch : EachPlace {
  using EachPlace::operator();

  template <class T>
  void operator()(std::int64_t /*runs*/, std::int64_t height, const CountDepthDigits<T>& step) const {
    count_digits<<<counting_grid(step.width, height), plane_threads, 0, stream>>>(step, height);
  }
  void operator()(std::int64_t /*ends*/, std::int64_t /*one*/, const ChooseDepthDigits& step) const {
    choose_digits<<<1, span_ends * warp_size, 0, stream>>>(step);
  }
  template <class T>
  void operator()(std::int64_t width, std::int64_t height, const RadiiOfDepth<T>& step) const {
    radii_of_depth<<<counting_grid(width, height), plane_threads, 0, stream>>>(step, width, height);
  }
  void operator()(std::int64_t /*runs*/, std::int64_t height, const CountHeld& step) const {
    count_held<<<counting_grid(step.width, height), plane_threads, 0, stream>>>(step, height);
  }
  template <class T>
  void operator()(std::int64_t /*runs*/, std::int64_t rows, const CountRamps<T>& step) const {
    count_ramps<<<counting_grid(step.width, rows * rows_at_once), plane_threads, 0, stream>>>(step, rows);
  }
};

}  // namespace

template <>
struct LaunchOf<DepthSpanJob> {
  using Type = DepthLaunch;
};
template <>
struct LaunchOf<CircleOfConfusionJob> {
  using Type = DepthLaunch;
};
template <>
struct LaunchOf<HeldRadiiJob> {
  using Type = DepthLaunch;
};
template <>
struct LaunchOf<SoftDepthJob> {
  using Type = DepthLaunch;
};

template void run_pixelwise(const CircleOfConfusionJob&, const CircleOfConfusionJob::Images&,
                            const TransferView&, StreamHandle);
template void run_pixelwise(const DepthSpanJob&, const DepthSpanJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const HeldRadiiJob&, const HeldRadiiJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const SoftDepthJob&, const SoftDepthJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const EnlargeRadiiJob&, const EnlargeRadiiJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const FillUnknownJob&, const FillUnknownJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const PlanarRadiiJob&, const PlanarRadiiJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const SnapDepthJob&, const SnapDepthJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const SplitRadiiJob&, const SplitRadiiJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
