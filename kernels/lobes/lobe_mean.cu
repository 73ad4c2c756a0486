// Means over lobes around pixels: one thread a pixel of a level.

#include "kernels/lobes/launch.h"
#include "kernels/lobes/lobe_bands.cuh"
#include "kernels/pixels/read.cuh"

namespace satin::kernels {
namespace {

template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads)
    mean_pixels(const __grid_constant__ LobeMeanArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const T* original =
        reinterpret_cast<const T*>(arguments.source.data + y * arguments.source.row) + x * Channels;
    T* out = reinterpret_cast<T*>(arguments.output.data + y * arguments.output.row) + x * Channels;
    const LobeRow row = arguments.rows[y];
    if (row.bands == 0) {
#pragma unroll
      for (int c = 0; c < Channels; ++c) out[c] = original[c];
      continue;
    }
    WideSum totals[Channels];
    add_bands<Channels, Channels>(arguments, row, x, 0, totals);
    if constexpr (std::is_same_v<T, float>) {
      const FixedExponents exponents = exponents_of(arguments.read, false, arguments.measured);
      store_float_mean<Channels>(totals, row.weight, original, 0, arguments.rule, exponents, out);
    } else {
      store_integer_mean<Channels>(totals, row.weight, original, 0, arguments.rule, out);
    }
  }
}

}  // namespace

void lobe_mean(const LobeMeanArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.width, arguments.height);
  with_lobe_pixels(arguments, [&]<class T, int Channels>() {
    mean_pixels<T, Channels><<<grid, plane_threads, 0, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
