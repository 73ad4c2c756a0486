// A picture blended with its means by a mask, four pixels a thread: in linear light where the means are.

#include "core/with_type.h"
#include "kernels/device/tuning.h"
#include "kernels/means/launch.h"
#include "kernels/pixels/light_codes.cuh"
#include "kernels/pixels/plane_quads.cuh"

namespace satin::kernels {
namespace {

/// Bytes to 16-bit linear light and back, in shared memory.
struct ByteLight {
  std::uint32_t* of_codes;  ///< [256]
  LightCodes codes;

  [[nodiscard]] __device__ std::uint32_t decoded(std::uint8_t code) const { return of_codes[code]; }
  [[nodiscard]] __device__ std::uint8_t encoded(std::uint32_t value) const {
    return static_cast<std::uint8_t>(codes(value));
  }
};

/// Values as they are stored, or 24-bit linear light.
template <class T>
struct AnyLight {
  TransferView transfer;

  [[nodiscard]] __device__ std::uint32_t decoded(T code) const { return decode(code, transfer); }
  [[nodiscard]] __device__ T encoded(std::uint32_t value) const { return encode(value, transfer, T{}); }
};

/// blend() of pixels/maths/pixel.h. Values of 16 bits times the largest weights stay below 2^32.
template <class Mean>
__device__ std::uint32_t blended(std::uint32_t own, Mean mean, std::uint32_t weight,
                                 const ScaledDivisor& whole) {
  if constexpr (sizeof(Mean) > 2) {
    return static_cast<std::uint32_t>(blend(own, mean, weight, whole.divisor));
  } else {
    const std::uint32_t sum = own * (whole.divisor - weight) + mean * weight;
    return __umulhi(sum + whole.divisor / 2, whole.factor) >> whole.shift;
  }
}

template <int Channels, class T, class Mean, class Light>
__device__ void blend_quad(const BlendMeansArguments& arguments, const Light& light, std::int64_t x,
                           std::int64_t y) {
  const auto count = static_cast<int>(min(std::int64_t{quad}, arguments.width - x));
  T own[quad * Channels];
  Mean means[quad * Channels];
  std::uint32_t weights[quad];
  load_values(row_of<T>(arguments.picture, y) + x * Channels, count * Channels, own);
  load_values(row_of<Mean>(arguments.means, y) + x * Channels, count * Channels, means);
  const auto load_weights = [&]<class Weight>() {
    Weight of_type[quad];
    load_values(row_of<Weight>(arguments.mask, y) + x, count, of_type);
#pragma unroll
    for (int k = 0; k < quad; ++k) weights[k] = of_type[k];
  };
  arguments.whole.divisor == 0xFF ? load_weights.template operator()<std::uint8_t>()
                                  : load_weights.template operator()<std::uint16_t>();
  T results[quad * Channels];
#pragma unroll
  for (int i = 0; i < quad * Channels; ++i)
    results[i] =
        light.encoded(blended(light.decoded(own[i]), means[i], weights[i / Channels], arguments.whole));
  store_values(results, count * Channels, row_of<T>(arguments.output, y) + x * Channels);
}

template <int Channels, class T, class Mean>
__global__ void __launch_bounds__(plane_threads)
    blend_means_of(const __grid_constant__ BlendMeansArguments arguments) {
  constexpr bool bytes_of_light = sizeof(T) == 1 && sizeof(Mean) == 2;
  __shared__ std::uint32_t of_codes[bytes_of_light ? 256 : 1];
  __shared__ uint4 codes[bytes_of_light ? LightCodes::bytes / sizeof(uint4) : 1];
  const std::int64_t x = quad * (static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x);
  const auto for_rows = [&](const auto& light) {
    if (x >= arguments.width) return;
    for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y)
      blend_quad<Channels, T, Mean>(arguments, light, x, y);
  };
  if constexpr (bytes_of_light) {
    const ByteLight light{of_codes, LightCodes(codes)};
    const auto thread = static_cast<int>(threadIdx.x);
    static_assert(plane_threads == 256);
    of_codes[thread] = __ldg(arguments.transfer.decode + thread);
    light.codes.fill(arguments.transfer, thread, plane_threads);
    __syncthreads();
    for_rows(light);
  } else {
    for_rows(AnyLight<T>{arguments.transfer});
  }
}

}  // namespace

void blend_means(const BlendMeansArguments& arguments, StreamHandle stream) {
  dim3 grid = quad_grid(arguments.width, arguments.height, 1);
  grid.y = std::min(grid.y, static_cast<unsigned>(tuning::blend_rows_at_once));
  with_channels(arguments.channels, [&]<int Channels>() {
    const auto launch = [&]<class T, class Mean>() {
      blend_means_of<Channels, T, Mean><<<grid, plane_threads, 0, stream>>>(arguments);
    };
    const bool linear = arguments.transfer.decode != nullptr;
    if (arguments.type == Type::u8)
      return linear ? launch.template operator()<std::uint8_t, std::uint16_t>()
                    : launch.template operator()<std::uint8_t, std::uint8_t>();
    linear ? launch.template operator()<std::uint16_t, std::uint32_t>()
           : launch.template operator()<std::uint16_t, std::uint16_t>();
  });
}

}  // namespace satin::kernels
