#pragma once
// One thread a place: a step that host and device share, run over a plane.

#include "kernels/pixels/plane.cuh"

namespace satin::kernels {

template <class Step>
__global__ void __launch_bounds__(plane_threads)
    run_step(const __grid_constant__ Step step, int width, int height) {
  const int x = static_cast<int>(blockIdx.x * plane_threads + threadIdx.x);
  if (x >= width) return;
  for (int y = static_cast<int>(blockIdx.y); y < height; y += static_cast<int>(gridDim.y)) step(x, y);
}

/// launch(width, height, step) puts step(x, y) for every place into a stream.
struct EachPlace {
  StreamHandle stream;

  template <class Step>
  void operator()(int width, int height, const Step& step) const {
    run_step<<<plane_grid(width, height), plane_threads, 0, stream>>>(step, width, height);
  }
};

}  // namespace satin::kernels
