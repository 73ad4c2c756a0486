// Depth of 8 bits without its steps: one thread a pixel, before and after the table.

#include "kernels/lens_radii.h"
#include "kernels/plane_rows.cuh"

namespace satin::kernels {
namespace {

__device__ int code_at(const SmoothStepsArguments& arguments, std::int64_t x, std::int64_t y) {
  return row_of<std::uint8_t>(arguments.codes, y)[x * arguments.job.channels + arguments.job.channel];
}

__global__ void __launch_bounds__(plane_threads)
    value_each(const __grid_constant__ SmoothStepsArguments arguments) {
  const SmoothStepsJob& job = arguments.job;
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    row_of<std::uint32_t>(arguments.values, y)[x] =
        step_value(x, y, job.width, job.height, job.unknown,
                   [&](std::int64_t u, std::int64_t v) { return code_at(arguments, u, v); });
  });
}

__global__ void __launch_bounds__(plane_threads)
    smooth_each(const __grid_constant__ SmoothStepsArguments arguments) {
  const SmoothStepsJob& job = arguments.job;
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    row_of<std::uint16_t>(arguments.smoothed, y)[x] =
        smoothed_code(code_at(arguments, x, y), x, y, job.unknown, arguments.table);
  });
}

}  // namespace

void value_steps(const SmoothStepsArguments& arguments, StreamHandle stream) {
  value_each<<<plane_grid(arguments.job.width, arguments.job.height), plane_threads, 0, stream>>>(arguments);
}

void smooth_steps(const SmoothStepsArguments& arguments, StreamHandle stream) {
  smooth_each<<<plane_grid(arguments.job.width, arguments.job.height), plane_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
