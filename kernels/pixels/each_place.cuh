#pragma once
// Runs a step that host and device share (pixels/pixelwise.h) over a plane, one thread per pixel.

#include "kernels/pixels/launch.h"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {

/// Whether a step may turn out to be idle on the device. Such a step gets few blocks, so that asking costs
/// little.
template <class Step>
concept MayBeIdle = requires(const Step& step) {
  step.idle();
};
inline constexpr std::int64_t blocks_that_look = 1056;

template <class Step>
__global__ void __launch_bounds__(plane_threads)
    run_step(const __grid_constant__ Step step, int width, int height) {
  if constexpr (MayBeIdle<Step>)
    if (step.idle()) return;
  const int x = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x);
  if (x >= width) return;
  for (int y = static_cast<int>(blockIdx.y); y < height; y += static_cast<int>(gridDim.y)) {
    if constexpr (requires { step.row(y); })
      step.row(y)(x);
    else
      step(x, y);
  }
}

/// The launch(width, height, step) of pixels/pixelwise.h, in a stream.
struct EachPlace {
  StreamHandle stream;

  template <class Step>
  void operator()(std::int64_t width, std::int64_t height, const Step& step) const {
    dim3 grid = plane_grid(width, height);
    if (MayBeIdle<Step> && std::int64_t{grid.x} * grid.y > blocks_that_look)
      grid.y = static_cast<unsigned>((blocks_that_look + grid.x - 1) / grid.x);
    run_step<<<grid, plane_threads, 0, stream>>>(step, static_cast<int>(width), static_cast<int>(height));
  }
};

/// The type that launches the steps of a job. Topics with kernels of their own for some steps specialize it.
template <class Job>
struct LaunchOf {
  using Type = EachPlace;
};

/// Runs all steps of a job. Instantiated for every pixelwise operation.
template <class Job>
void run_pixelwise(const Job& job, const typename Job::Images& images, const TransferView& transfer,
                   StreamHandle stream) {
  job.each(images, transfer, typename LaunchOf<Job>::Type{stream});
}

}  // namespace satin::kernels
