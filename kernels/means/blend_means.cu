// A picture blended with its means by a mask, four pixels a thread: in linear light where the means are.

#include "core/with_type.h"
#include "kernels/device/tuning.h"
#include "kernels/means/blended.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/plane_quads.cuh"

namespace satin::kernels {
namespace {

/// Values as they are stored, or 24-bit linear light.
template <class T>
struct AnyLight {
  TransferView transfer;

  [[nodiscard]] __device__ std::uint32_t decoded(T code) const { return decode(code, transfer); }
  [[nodiscard]] __device__ T encoded(std::uint32_t value) const { return encode(value, transfer, T{}); }
};

/// The own values, means and mask weights of four pixels of a row, as they lie in memory.
template <int Channels, class T, class Mean>
struct QuadToBlend {
  static constexpr int values = quad * Channels;
  std::uint32_t own[values * sizeof(T) / 4];
  std::uint32_t means[values * sizeof(Mean) / 4];
  std::uint32_t weights[2];  ///< 16 bits each

  __device__ void load(const BlendMeansArguments& arguments, std::int64_t x, std::int64_t y, int count) {
    load_words<values>(row_of<T>(arguments.picture, y) + x * Channels, count * Channels, own);
    load_words<values>(row_of<Mean>(arguments.means, y) + x * Channels, count * Channels, means);
    if (arguments.whole.divisor == 0xFF) {
      std::uint32_t bytes[1];
      load_words<quad>(row_of<std::uint8_t>(arguments.mask, y) + x, count, bytes);
      weights[0] = __byte_perm(bytes[0], 0, 0x4140);
      weights[1] = __byte_perm(bytes[0], 0, 0x4342);
    } else {
      load_words<quad>(row_of<std::uint16_t>(arguments.mask, y) + x, count, weights);
    }
  }
};

/// The quads of a thread, one below the other; the next is asked for before the last is blended.
template <int Channels, class T, class Mean, class Light>
__device__ void blend_quads(const BlendMeansArguments& arguments, const Light& light, std::int64_t x) {
  const auto count = static_cast<int>(min(std::int64_t{quad}, arguments.width - x));
  QuadToBlend<Channels, T, Mean> next;
  next.load(arguments, x, blockIdx.y, count);
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const QuadToBlend<Channels, T, Mean> of = next;
    if (y + gridDim.y < arguments.height) next.load(arguments, x, y + gridDim.y, count);
    T results[quad * Channels];
#pragma unroll
    for (int i = 0; i < quad * Channels; ++i) {
      const std::uint32_t own = light.decoded(element<T>(of.own, i));
      const std::uint32_t weight = element<std::uint16_t>(of.weights, i / Channels);
      results[i] =
          static_cast<T>(light.encoded(blended(own, element<Mean>(of.means, i), weight, arguments.whole)));
    }
    store_values(results, count * Channels, row_of<T>(arguments.output, y) + x * Channels);
  }
}

template <int Channels, class T, class Mean>
__global__ void __launch_bounds__(plane_threads, tuning::blend_blocks)
    blend_means_of(const __grid_constant__ BlendMeansArguments arguments) {
  constexpr bool bytes_of_light = sizeof(T) == 1 && sizeof(Mean) == 2;
  __shared__ uint4 tables[bytes_of_light ? ByteLight::bytes / sizeof(uint4) : 1];
  const std::int64_t x = quad * (static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x);
  if constexpr (bytes_of_light) {
    const ByteLight light(tables);
    light.fill(arguments.transfer, static_cast<int>(threadIdx.x), plane_threads);
    __syncthreads();
    if (x < arguments.width) blend_quads<Channels, T, Mean>(arguments, light, x);
  } else {
    if (x < arguments.width) blend_quads<Channels, T, Mean>(arguments, AnyLight<T>{arguments.transfer}, x);
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
