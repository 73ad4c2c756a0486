// Depth as signed radii: one thread finds the focus, then one thread a pixel.

#include "kernels/lens/lens_radii.h"
#include "kernels/pixels/plane_rows.cuh"
#include "lens/circle_of_confusion.h"

namespace satin::kernels {
namespace {

template <class T>
__device__ double stored_at(const CircleOfConfusionArguments& arguments, std::int64_t x, std::int64_t y) {
  const CircleOfConfusionJob& job = arguments.job;
  return static_cast<double>(row_of<T>(arguments.depth, y)[x * job.channels + job.channel]);
}

template <class T>
__global__ void find_focus_of(const __grid_constant__ CircleOfConfusionArguments arguments) {
  const CircleOfConfusionJob& job = arguments.job;
  find_focus(*arguments.state, job.rule, job.width, job.height,
             [&](std::int64_t x, std::int64_t y) { return stored_at<T>(arguments, x, y); });
}

template <class T>
__global__ void __launch_bounds__(plane_threads)
    radii_of_depth(const __grid_constant__ CircleOfConfusionArguments arguments) {
  const LensState state = *arguments.state;
  for_each_pixel(arguments.job.width, arguments.job.height, [&](std::int64_t x, std::int64_t y) {
    row_of<SignedRadius256>(arguments.radii, y)[x] =
        satin::circle_of_confusion(stored_at<T>(arguments, x, y), arguments.job.rule, state);
  });
}

}  // namespace

void circle_of_confusion(const CircleOfConfusionArguments& arguments, StreamHandle stream) {
  with_plane_type(arguments.job.type, [&](auto value) {
    using T = decltype(value);
    find_focus_of<T><<<1, 1, 0, stream>>>(arguments);
    radii_of_depth<T>
        <<<plane_grid(arguments.job.width, arguments.job.height), plane_threads, 0, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
