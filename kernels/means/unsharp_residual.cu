// A picture with what it differs by from its means: one thread a pixel, or four values where neither alpha
// nor a mask is in the way.

#include "core/with_type.h"
#include "kernels/device/vector.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {
namespace {

template <class T>
__device__ const T* typed_row(const Source& source, std::int64_t y) {
  return reinterpret_cast<const T*>(source.data + y * source.row);
}

template <int Channels, class T, class Working>
__global__ void __launch_bounds__(plane_threads)
    store_residual(const __grid_constant__ UnsharpResidualArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const UnsharpResidualRule& rule = arguments.rule;
  FixedExponents exponents;
  if constexpr (std::is_same_v<T, float>) exponents = fixed_exponents(*arguments.measured, rule.fixed_bits);
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const std::uint32_t mask = rule.mask_maximum == 0      ? 0
                               : rule.mask_maximum == 0xFF ? typed_row<std::uint8_t>(arguments.mask, y)[x]
                                                           : typed_row<std::uint16_t>(arguments.mask, y)[x];
    const std::int64_t at = x * Channels;
    T* out = reinterpret_cast<T*>(arguments.output.data + y * arguments.output.row) + at;
    store_with_residual<Channels>(typed_row<Working>(arguments.means, y) + at,
                                  typed_row<T>(arguments.picture, y) + at, mask, rule, exponents, out);
  }
}

constexpr int values_at_once = 4;

/// `count` values a row, a multiple of four, and rows are aligned.
template <class T, class Working>
__global__ void __launch_bounds__(plane_threads)
    store_plain_residual(const __grid_constant__ UnsharpResidualArguments arguments, std::int64_t count) {
  const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (group * values_at_once >= count) return;
  const UnsharpResidualRule& rule = arguments.rule;
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const auto own =
        reinterpret_cast<const Vector<T, values_at_once>*>(typed_row<T>(arguments.picture, y))[group];
    const auto means = reinterpret_cast<const Vector<Working, values_at_once>*>(
        typed_row<Working>(arguments.means, y))[group];
    Vector<T, values_at_once> results;
#pragma unroll
    for (int i = 0; i < values_at_once; ++i)
      store_with_residual<1>(means.of + i, own.of + i, 0, rule, {}, results.of + i);
    reinterpret_cast<Vector<T, values_at_once>*>(arguments.output.data + y * arguments.output.row)[group] =
        results;
  }
}

template <class T, class Working>
bool is_plain(const UnsharpResidualArguments& arguments) {
  const auto aligned = [](const std::byte* data, std::int64_t row, std::size_t value) {
    return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(row)) %
               (value * values_at_once) ==
           0;
  };
  return !arguments.rule.weighted && !arguments.rule.keeps_alpha && arguments.rule.mask_maximum == 0 &&
         arguments.width * arguments.channels % values_at_once == 0 &&
         aligned(arguments.picture.data, arguments.picture.row, sizeof(T)) &&
         aligned(arguments.means.data, arguments.means.row, sizeof(Working)) &&
         aligned(arguments.output.data, arguments.output.row, sizeof(T));
}

template <class T, class Working>
void launch(const UnsharpResidualArguments& arguments, StreamHandle stream) {
  if constexpr (!std::is_same_v<T, float>) {
    if (is_plain<T, Working>(arguments)) {
      const std::int64_t count = arguments.width * arguments.channels;
      const dim3 grid = plane_grid(count / values_at_once, arguments.height);
      store_plain_residual<T, Working><<<grid, plane_threads, 0, stream>>>(arguments, count);
      return;
    }
  }
  const dim3 grid = plane_grid(arguments.width, arguments.height);
  with_channels(arguments.channels, [&]<int Channels>() {
    store_residual<Channels, T, Working><<<grid, plane_threads, 0, stream>>>(arguments);
  });
}

}  // namespace

void add_residual(const UnsharpResidualArguments& arguments, StreamHandle stream) {
  with_residual_types(arguments.type, arguments.means_type,
                      [&]<class T, class Working>() { launch<T, Working>(arguments, stream); });
}

}  // namespace satin::kernels
