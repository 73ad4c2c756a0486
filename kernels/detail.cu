// A picture with what it differs by from its means: one thread a pixel.

#include "kernels/detail.h"
#include "kernels/plane.cuh"

namespace satin::kernels {
namespace {

template <class T>
__device__ const T* row_of(const Source& source, std::int64_t y) {
  return reinterpret_cast<const T*>(source.data + y * source.row);
}

template <int Channels, class T, class Working>
__global__ void __launch_bounds__(plane_threads)
    store_detail(const __grid_constant__ DetailArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const DetailRule& rule = arguments.rule;
  FixedExponents exponents;
  if constexpr (std::is_same_v<T, float>) exponents = fixed_exponents(*arguments.measured, rule.fixed_bits);
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const std::uint32_t mask = rule.mask_maximum == 0      ? 0
                               : rule.mask_maximum == 0xFF ? row_of<std::uint8_t>(arguments.mask, y)[x]
                                                           : row_of<std::uint16_t>(arguments.mask, y)[x];
    const std::int64_t at = x * Channels;
    T* out = reinterpret_cast<T*>(arguments.output.data + y * arguments.output.row) + at;
    store_with_detail<Channels>(row_of<Working>(arguments.means, y) + at,
                                row_of<T>(arguments.picture, y) + at, mask, rule, exponents, out);
  }
}

template <class T, class Working>
void launch(const DetailArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.width, arguments.height);
  switch (arguments.channels) {
    case 1:
      return store_detail<1, T, Working><<<grid, plane_threads, 0, stream>>>(arguments);
    case 2:
      return store_detail<2, T, Working><<<grid, plane_threads, 0, stream>>>(arguments);
    case 3:
      return store_detail<3, T, Working><<<grid, plane_threads, 0, stream>>>(arguments);
    default:
      return store_detail<4, T, Working><<<grid, plane_threads, 0, stream>>>(arguments);
  }
}

}  // namespace

void add_detail(const DetailArguments& arguments, StreamHandle stream) {
  with_detail_types(arguments.type, arguments.means_type,
                    [&]<class T, class Working>() { launch<T, Working>(arguments, stream); });
}

}  // namespace satin::kernels
