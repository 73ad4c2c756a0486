// Kernels that combine a picture with its means, pixel by pixel: a blend under a mask, and unsharp masking.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/with_type.h"
#include "kernels/device/exact_division.cuh"
#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/means/launch.h"
#include "kernels/pixels/byte_light.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/pixels/plane_quads.cuh"
#include "pixels/maths/pixel.h"

namespace satin::kernels {
namespace {

// --- Blend under a mask: four pixels a thread, in linear light if the means are ---

/// Stored values, or 24-bit linear light.
template <class T>
struct AnyLight {
  TransferView transfer;

  [[nodiscard]] __device__ std::uint32_t decoded(T code) const { return decode(code, transfer); }
  [[nodiscard]] __device__ T encoded(std::uint32_t value) const { return encode(value, transfer, T{}); }
};

/// blend() of pixels/maths/pixel.h. Values of 16 bits times the largest weight stay below 2^32.
template <class Mean>
__device__ std::uint32_t blend_with_mean(std::uint32_t own, Mean mean, std::uint32_t weight,
                                         const ScaledDivisor& largest) {
  if constexpr (sizeof(Mean) > 2) {
    return static_cast<std::uint32_t>(blend(own, mean, weight, largest.divisor));
  } else {
    const std::uint32_t sum = own * (largest.divisor - weight) + mean * weight;
    return scaled_quotient(sum + largest.divisor / 2, largest);
  }
}

/// The values, means and mask weights of four pixels of a row, packed as in memory.
template <int Channels, class T, class Mean>
struct QuadToBlend {
  static constexpr int values = quad * Channels;
  std::uint32_t own[values * sizeof(T) / 4];
  std::uint32_t means[values * sizeof(Mean) / 4];
  std::uint32_t weights[2];  ///< 16 bits each

  __device__ void load(const BlendMeansArguments& arguments, std::int64_t x, std::int64_t y, int count) {
    load_words<values>(row_of<T>(arguments.picture, y) + x * Channels, count * Channels, own);
    load_words<values>(row_of<Mean>(arguments.means, y) + x * Channels, count * Channels, means);
    if (arguments.largest_weight.divisor == 0xFF) {
      std::uint32_t bytes[1];
      load_words<quad>(row_of<std::uint8_t>(arguments.mask, y) + x, count, bytes);
      weights[0] = __byte_perm(bytes[0], 0, 0x4140);
      weights[1] = __byte_perm(bytes[0], 0, 0x4342);
    } else {
      load_words<quad>(row_of<std::uint16_t>(arguments.mask, y) + x, count, weights);
    }
  }
};

/// Blends the quads of a thread, one below the other. The next quad is loaded before the last is blended.
template <int Channels, class T, class Mean, class Light>
__device__ void blend_quads(const BlendMeansArguments& arguments, const Light& light, std::int64_t x) {
  const auto count = static_cast<int>(min(std::int64_t{quad}, arguments.width - x));
  QuadToBlend<Channels, T, Mean> next;
  next.load(arguments, x, blockIdx.y, count);
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const QuadToBlend<Channels, T, Mean> pixels = next;
    if (y + gridDim.y < arguments.height) next.load(arguments, x, y + gridDim.y, count);
    T results[quad * Channels];
#pragma unroll
    for (int i = 0; i < quad * Channels; ++i) {
      const std::uint32_t own = light.decoded(element<T>(pixels.own, i));
      const std::uint32_t weight = element<std::uint16_t>(pixels.weights, i / Channels);
      results[i] = static_cast<T>(light.encoded(
          blend_with_mean(own, element<Mean>(pixels.means, i), weight, arguments.largest_weight)));
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

// --- Unsharp masking: a pixel a thread ---

template <int Channels, class T, class Working>
__global__ void __launch_bounds__(plane_threads)
    store_residual(const __grid_constant__ UnsharpResidualArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const UnsharpResidualRule& rule = arguments.rule;
  FixedExponents exponents;
  if constexpr (std::is_same_v<T, float>) exponents = fixed_exponents(*arguments.measured, rule.fixed_bits);
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const std::uint32_t mask = mask_at(rule.mask_maximum, arguments.mask, x, y);
    const std::int64_t at = x * Channels;
    T* out = reinterpret_cast<T*>(arguments.output.data + y * arguments.output.row) + at;
    store_with_residual<Channels>(row_of<Working>(arguments.means, y) + at,
                                  row_of<T>(arguments.picture, y) + at, mask, rule, exponents, out);
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

void add_residual(const UnsharpResidualArguments& arguments, StreamHandle stream) {
  const dim3 grid = plane_grid(arguments.width, arguments.height);
  with_residual_types(arguments.type, arguments.means_type, [&]<class T, class Working>() {
    with_channels(arguments.channels, [&]<int Channels>() {
      store_residual<Channels, T, Working><<<grid, plane_threads, 0, stream>>>(arguments);
    });
  });
}

}  // namespace satin::kernels
