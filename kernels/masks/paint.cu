// One colour, or the means of cells, over a picture by weights: one thread a pixel, four entries of the table
// each, which the pixels of a cell share in the L1.

#include "kernels/masks/redact.h"
#include "kernels/pixels/plane.cuh"
#include "kernels/pixels/read.cuh"
#include "tables/maths/cell.h"

namespace satin::kernels {
namespace {

template <class T, int Channels, class Sum>
__device__ void paint_pixel(const PaintArguments& arguments, std::int64_t x, std::int64_t y,
                            std::uint32_t weight, const T* original, T* out) {
  const PaintJob& job = arguments.job;
  WideSum sums[Channels];
  std::uint64_t count = 1;
  if (job.cell == 0) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) sums[c] = job.colour[c];
  } else {
    const TableView<Sum> table{static_cast<const Sum*>(arguments.table), job.width * Channels, job.width,
                               job.height};
    count = cell_sums<Channels>(table, x, y, job.cell, arguments.rule.fixed_point, sums);
  }
  if constexpr (std::is_same_v<T, float>) {
    const FixedExponents exponents = exponents_of(job.read, false, arguments.measured);
    store_float_mean<Channels>(sums, count, original, weight, arguments.rule, exponents, out);
  } else {
    store_integer_mean<Channels>(sums, count, original, weight, arguments.rule, out);
  }
}

template <class T, int Channels, class Sum>
__global__ void __launch_bounds__(plane_threads)
    paint_pixels(const __grid_constant__ PaintArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.job.width) return;
  for (std::int64_t y = blockIdx.y; y < arguments.job.height; y += gridDim.y) {
    const T* original =
        reinterpret_cast<const T*>(arguments.source.data + y * arguments.source.row) + x * Channels;
    T* out = reinterpret_cast<T*>(arguments.output.data + y * arguments.output.row) + x * Channels;
    const auto* weights =
        reinterpret_cast<const std::uint8_t*>(arguments.weights.data + y * arguments.weights.row);
    const std::uint32_t weight = weights[x];
    if (weight != 0) {
      paint_pixel<T, Channels, Sum>(arguments, x, y, weight, original, out);
    } else {
#pragma unroll
      for (int c = 0; c < Channels; ++c) out[c] = original[c];
    }
  }
}

template <class T, class Sum>
void paint_with(const PaintArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.job.width, arguments.job.height);
  switch (arguments.job.read.channels) {
    case 1:
      return paint_pixels<T, 1, Sum><<<grid, plane_threads, 0, stream>>>(arguments);
    case 2:
      return paint_pixels<T, 2, Sum><<<grid, plane_threads, 0, stream>>>(arguments);
    case 3:
      return paint_pixels<T, 3, Sum><<<grid, plane_threads, 0, stream>>>(arguments);
    default:
      return paint_pixels<T, 4, Sum><<<grid, plane_threads, 0, stream>>>(arguments);
  }
}

}  // namespace

void paint(const PaintArguments& arguments, StreamHandle stream) {
  with_plane_type(arguments.job.write.type, [&](auto type) {
    using T = decltype(type);
    if constexpr (!std::is_same_v<T, float>) {
      if (arguments.job.accumulator == Accumulator::u32)
        return paint_with<T, std::uint32_t>(arguments, stream);
    }
    paint_with<T, std::uint64_t>(arguments, stream);
  });
}

}  // namespace satin::kernels
