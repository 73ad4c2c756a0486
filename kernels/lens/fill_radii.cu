// Unknown radii from known ones: one thread a pixel, before and after the tables; one thread counts.

#include "kernels/lens/lens_radii.h"
#include "kernels/pixels/plane_rows.cuh"
#include "lens/fill_radii.h"

namespace satin::kernels {
namespace {

__global__ void __launch_bounds__(plane_threads)
    split_each(const __grid_constant__ FillRadiiArguments arguments) {
  const FillRadiiJob& job = arguments.job;
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const SignedRadius256 radius = row_of<SignedRadius256>(arguments.radii, y)[x];
    const bool known = radius != unknown_radius;
    row_of<std::uint8_t>(arguments.known, y)[x] = known ? 1 : 0;
    row_of<std::uint32_t>(arguments.raised, y)[x] =
        known ? static_cast<std::uint32_t>(radius + job.largest) : 0;
  });
}

__global__ void count_unknown(const __grid_constant__ FillRadiiArguments arguments) {
  const std::uint64_t known = known_count(arguments.tables);
  arguments.state->unknown += static_cast<std::uint64_t>(arguments.job.width * arguments.job.height) - known;
  if (known == 0) arguments.state->problems |= nothing_known;
}

__global__ void __launch_bounds__(plane_threads)
    fill_each(const __grid_constant__ FillRadiiArguments arguments) {
  const FillRadiiJob& job = arguments.job;
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    SignedRadius256& radius = row_of<SignedRadius256>(arguments.radii, y)[x];
    if (radius == unknown_radius) radius = filled_radius(x, y, arguments.tables);
  });
}

}  // namespace

void split_radii(const FillRadiiArguments& arguments, StreamHandle stream) {
  split_each<<<plane_grid(arguments.job.width, arguments.job.height), plane_threads, 0, stream>>>(arguments);
}

void fill_radii(const FillRadiiArguments& arguments, StreamHandle stream) {
  count_unknown<<<1, 1, 0, stream>>>(arguments);
  fill_each<<<plane_grid(arguments.job.width, arguments.job.height), plane_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
