// The steps of depth of field before the splat but the disocclusion fill: one thread a pixel where nothing
// else is said.

#include "core/maths/fixed_point.h"
#include "core/with_type.h"
#include "kernels/lens/launch.h"
#include "kernels/pixels/each_place.cuh"
#include "lens/lens_layers.h"
#include "lens/maths/lens_layers_steps.h"

namespace satin::kernels {
namespace {

constexpr int marked_columns = plane_threads;  ///< of a block that looks for marked pixels
constexpr int marked_rows = 16;

/// Marked pixels are few: a block collects those of its pixels, then one thread takes each of them.
template <class Step>
__global__ void __launch_bounds__(plane_threads)
    run_marked_step(const __grid_constant__ Step step, const std::uint8_t* marks, int width, int height) {
  __shared__ std::uint16_t marked[marked_columns * marked_rows];
  __shared__ std::uint32_t count;
  const int left = static_cast<int>(blockIdx.x) * marked_columns;
  const int x = left + static_cast<int>(threadIdx.x);
  for (int top = static_cast<int>(blockIdx.y) * marked_rows; top < height;
       top += static_cast<int>(gridDim.y) * marked_rows) {
    if (threadIdx.x == 0) count = 0;
    std::uint8_t own[marked_rows];
#pragma unroll
    for (int r = 0; r < marked_rows; ++r)
      own[r] = x < width && top + r < height ? marks[static_cast<std::int64_t>(top + r) * width + x] : 0;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < marked_rows; ++r)
      if (own[r] != 0)
        marked[atomicAdd(&count, 1U)] =
            static_cast<std::uint16_t>(r * marked_columns + static_cast<int>(threadIdx.x));
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < count; i += plane_threads)
      step(left + marked[i] % marked_columns, top + marked[i] / marked_columns);
    __syncthreads();
  }
}

/// One thread a place but for the steps that are faster together.
struct LensLaunch : EachPlace {
  using EachPlace::operator();

  void operator()(int, int, const SharpenRamp& step) const { sharpen_ramps(step, stream); }
  void operator()(int, int, const FindSilhouette& step) const { find_silhouettes(step, stream); }
  void operator()(int, int, const FindRadiusRange& step) const { find_radius_range(step, stream); }
  void operator()(int, int, const CountRadii& step) const { count_radii(step, stream); }
  void operator()(const SumHistogram& steps) const { sum_histogram(steps, stream); }
  void operator()(const FindBestPartition& steps) const { find_best_partition(steps, stream); }

  template <class T, int Channels>
  void operator()(int width, int height, const SeparateSilhouettes<T, Channels>& step) const {
    const dim3 grid = plane_grid(width, (height + marked_rows - 1) / marked_rows);
    run_marked_step<<<grid, plane_threads, 0, stream>>>(step, step.visible.planes.edges, width, height);
  }
};

}  // namespace

void make_visible_samples(const LensLayersArguments& arguments, const ImageView& picture,
                          const Measured* measured, const LensScene& scene, StreamHandle stream) {
  const LensLaunch launch{{stream}};
  const LensLayersJob& job = arguments.job;
  with_pixel_type(job.type, [&]<class T>() {
    const auto stored = lens_picture<T>(job, picture, arguments.transfer);
    with_channels(job.channels, [&]<int Channels>() {
      satin::make_visible_samples<Channels>(launch, scene.planes, stored, measured, scene.unit, scene.work,
                                            scene.list, job.most_groups);
    });
  });
}

void show_lens(const LensLayersJob& job, const LensScene& scene, const LensShow& shown, StreamHandle stream) {
  satin::show_lens(EachPlace{stream}, job, scene, shown);
}

}  // namespace satin::kernels
