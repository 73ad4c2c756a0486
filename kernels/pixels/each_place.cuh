#pragma once
// Steps that host and device share, run over a plane: one thread a place.

#include "kernels/pixels/launch.h"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {

template <class Step>
__global__ void __launch_bounds__(plane_threads)
    run_step(const __grid_constant__ Step step, int width, int height) {
  const int x = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x);
  if (x >= width) return;
  for (int y = static_cast<int>(blockIdx.y); y < height; y += static_cast<int>(gridDim.y)) {
    if constexpr (requires { step.row(y); })
      step.row(y)(x);
    else
      step(x, y);
  }
}

/// launch(width, height, step) of pixels/pixelwise.h, into a stream.
struct EachPlace {
  StreamHandle stream;

  template <class Step>
  void operator()(std::int64_t width, std::int64_t height, const Step& step) const {
    run_step<<<plane_grid(width, height), plane_threads, 0, stream>>>(step, static_cast<int>(width),
                                                                      static_cast<int>(height));
  }
};

/// What launches the steps of a job: a topic that has kernels for some of them tells another one.
template <class Job>
struct LaunchOf {
  using Type = EachPlace;
};

/// The job of every pixelwise operation has an instance of this.
template <class Job>
void run_pixelwise(const Job& job, const typename Job::Images& images, const TransferView& transfer,
                   StreamHandle stream) {
  job.each(images, transfer, typename LaunchOf<Job>::Type{stream});
}

}  // namespace satin::kernels
