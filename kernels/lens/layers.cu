// Visible samples on CUDA: ramp sharpening, grouping and unmixing. Steps run one thread per pixel unless they
// are faster otherwise (LensLaunch).

#include "core/maths/fixed_point.h"
#include "core/with_type.h"
#include "kernels/lens/fill_tiles.cuh"
#include "kernels/lens/launch.h"
#include "kernels/pixels/each_place.cuh"
#include "lens/grain.h"
#include "lens/layers.h"
#include "lens/maths/visible_samples.h"

namespace satin::kernels {
namespace {

// Ramp sharpening and silhouettes: a thread has some rows of a column, so that each row is read once for all
// pixels that compare with it.

/// Rows per thread. H200, UHD: with one row, ramps took 42 us and silhouettes 57 us.
constexpr int ramp_rows = 8;

/// Column of radii from the row above `top` to the row below the last one, clamped to the picture.
struct RadiusColumn {
  std::int32_t radius[ramp_rows + 2];

  __device__ RadiusColumn(const std::int32_t* radii, const LensPlanes& planes, int x, int top) {
    const std::int32_t* column = radii + min(max(x, 0), planes.width - 1);
#pragma unroll
    for (int i = 0; i < ramp_rows + 2; ++i)
      radius[i] = column[planes.place(0, min(max(top + i - 1, 0), planes.height - 1))];
  }
  [[nodiscard]] __device__ std::int32_t above(int r) const { return radius[r]; }
  [[nodiscard]] __device__ std::int32_t own(int r) const { return radius[r + 1]; }
  [[nodiscard]] __device__ std::int32_t below(int r) const { return radius[r + 2]; }
};

dim3 ramp_grid(const LensPlanes& planes) {
  return plane_grid(planes.width, (planes.height + ramp_rows - 1) / ramp_rows);
}

/// Sharpens ramps: a block collects its ramp pixels, then each thread takes some of them.
__global__ void __launch_bounds__(plane_threads) sharpen_columns(const __grid_constant__ SharpenRamp step) {
  __shared__ std::uint16_t ramps[plane_threads * ramp_rows];
  __shared__ std::uint32_t count;
  const LensPlanes& planes = step.planes;
  const int left_x = static_cast<int>(blockIdx.x) * plane_threads;
  const int x = left_x + static_cast<int>(threadIdx.x);
  for (int top = static_cast<int>(blockIdx.y) * ramp_rows; top < planes.height;
       top += static_cast<int>(gridDim.y) * ramp_rows) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (x < planes.width) {
      const RadiusColumn left(planes.radii, planes, x - 1, top);
      const RadiusColumn column(planes.radii, planes, x, top);
      const RadiusColumn right(planes.radii, planes, x + 1, top);
#pragma unroll
      for (int r = 0; r < ramp_rows; ++r) {
        if (top + r >= planes.height) break;
        if (on_ramp(left.own(r), column.own(r), right.own(r)) ||
            on_ramp(column.above(r), column.own(r), column.below(r)))
          ramps[atomicAdd(&count, 1U)] =
              static_cast<std::uint16_t>(r * plane_threads + static_cast<int>(threadIdx.x));
        else
          planes.sharpened[planes.place(x, top + r)] = column.own(r);
      }
    }
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < count; i += plane_threads)
      step(left_x + ramps[i] % plane_threads, top + ramps[i] / plane_threads);
    __syncthreads();
  }
}

/// Marks silhouettes and appends them to the list. Those of a block are adjacent.
__global__ void __launch_bounds__(plane_threads)
    find_silhouettes_of_columns(const __grid_constant__ FindSilhouette step, MarkedPixels list) {
  __shared__ std::uint32_t marked[plane_threads * ramp_rows];
  __shared__ std::uint32_t count;
  __shared__ std::uint32_t first;
  const LensPlanes& planes = step.planes;
  const int x = static_cast<int>(blockIdx.x) * plane_threads + static_cast<int>(threadIdx.x);
  for (int top = static_cast<int>(blockIdx.y) * ramp_rows; top < planes.height;
       top += static_cast<int>(gridDim.y) * ramp_rows) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const RadiusColumn left(planes.sharpened, planes, x - 1, top);
    const RadiusColumn column(planes.sharpened, planes, x, top);
    const RadiusColumn right(planes.sharpened, planes, x + 1, top);
    RadiusRange rows[ramp_rows + 2];
#pragma unroll
    for (int i = 0; i < ramp_rows + 2; ++i)
      rows[i] = {min(min(left.radius[i], column.radius[i]), right.radius[i]),
                 max(max(left.radius[i], column.radius[i]), right.radius[i])};
#pragma unroll
    for (int r = 0; r < ramp_rows; ++r) {
      const int y = top + r;
      if (x >= planes.width || y >= planes.height) break;
      const bool inside = x > 0 && y > 0 && x + 1 < planes.width && y + 1 < planes.height;
      const std::int32_t low = min(min(rows[r].low, rows[r + 1].low), rows[r + 2].low);
      const std::int32_t high = max(max(rows[r].high, rows[r + 1].high), rows[r + 2].high);
      const bool edge = inside && high - low > silhouette_step;
      planes.edges[planes.place(x, y)] = edge ? 1 : 0;
      if (edge) marked[atomicAdd(&count, 1U)] = static_cast<std::uint32_t>(planes.place(x, y));
    }
    __syncthreads();
    if (threadIdx.x == 0 && count != 0) first = add_shared(list.count, count);
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < count; i += plane_threads) list.places[first + i] = marked[i];
    __syncthreads();
  }
}

// Grouping: the range and the histogram by all multiprocessors, with a histogram per block; then the steps
// over bins by one block, except the costs of all ranges.

constexpr int histogram_threads = depth_bins;
constexpr int histogram_blocks = 512;  ///< least number of blocks
constexpr int radii_at_once = 4;       ///< loads in flight

/// Calls sample(radius) for the sampled radii of this thread.
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

/// Runs a step over all places by the threads of one block, and waits.
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

/// Unmixes the listed pixels and guesses beyond the border. Neither reads what the other writes.
template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    separate_silhouettes(const __grid_constant__ SeparateSilhouettes<T, Channels> step, MarkedPixels list) {
  const GuessBeyondBorder<T, Channels> border{step.visible};
  static_assert(border.columns == plane_threads);
  for (int y = static_cast<int>(blockIdx.x); y < border.rows(); y += static_cast<int>(gridDim.x))
    border(static_cast<int>(threadIdx.x), y);
  const std::uint32_t count = *list.count;
  const auto width = static_cast<std::uint32_t>(step.visible.planes.width);
  for (std::uint32_t i = blockIdx.x * plane_threads + threadIdx.x; i < count; i += gridDim.x * plane_threads)
    step(static_cast<int>(list.places[i] % width), static_cast<int>(list.places[i] / width));
}

/// Runs one thread per place, except for the steps below.
struct LensLaunch : EachPlace {
  MarkedPixels marked;
  int multiprocessors;

  using EachPlace::operator();

  void operator()(int, int, const SharpenRamp& step) const {
    sharpen_columns<<<ramp_grid(step.planes), plane_threads, 0, stream>>>(step);
  }
  void operator()(int, int, const FindSilhouette& step) const {
    cudaMemsetAsync(marked.count, 0, sizeof(std::uint32_t), stream);
    find_silhouettes_of_columns<<<ramp_grid(step.planes), plane_threads, 0, stream>>>(step, marked);
  }
  void operator()(int, int, const FindRadiusRange& step) const {
    find_range<<<histogram_grid(step.planes), histogram_threads, 0, stream>>>(step);
  }
  void operator()(int, int, const CountRadii& step) const {
    count_in_blocks<<<histogram_grid(step.planes), histogram_threads, 0, stream>>>(step);
  }
  /// Steps over bins, in one block.
  template <class Steps>
  void operator()(const Steps& steps) const {
    run_in_one_block<<<1, BlockLaunch::threads, 0, stream>>>(steps);
  }

  /// Does nothing: separate_silhouettes() includes this step.
  template <class T, int Channels>
  void operator()(int, int, const GuessBeyondBorder<T, Channels>&) const {}

  template <class T, int Channels>
  void operator()(int, int, const SeparateSilhouettes<T, Channels>& step) const {
    constexpr int blocks_per_multiprocessor = 12;
    separate_silhouettes<<<blocks_per_multiprocessor * multiprocessors, plane_threads, 0, stream>>>(step,
                                                                                                    marked);
  }
};

}  // namespace

void make_visible_samples(const LensLayersArguments& arguments, const ImageView& picture,
                          const Measured* measured, const LensScene& scene, StreamHandle stream) {
  const LensLaunch launch{{stream}, marked_pixels(arguments), arguments.multiprocessors};
  const LensLayersJob& job = arguments.job;
  with_pixel_type(job.type, [&]<class T>() {
    const auto stored = lens_picture<T>(job, picture, arguments.transfer);
    with_channels(job.channels, [&]<int Channels>() {
      satin::make_visible_samples<Channels>(launch, scene.planes, stored, measured, scene.unit, scene.work,
                                            scene.list, scene.soft, job.most_groups);
    });
  });
}

void show_lens(const LensLayersJob& job, const LensScene& scene, const LensShow& shown, StreamHandle stream) {
  satin::show_lens(EachPlace{stream}, job, scene, shown);
}

template void run_pixelwise(const GrainJob&, const GrainJob::Images&, const TransferView&, StreamHandle);
template void run_pixelwise(const LensStoreJob&, const LensStoreJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
