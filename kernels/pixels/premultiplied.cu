// Bytes with straight alpha to premultiplied values and back, one thread a pixel.

#include "kernels/device/vector.cuh"
#include "kernels/device/wide_division.cuh"
#include "kernels/pixels/plane.cuh"
#include "kernels/pixels/premultiplied.h"

namespace satin::kernels {
namespace {

template <class P>
__device__ P pixel_at(const Source& source, std::int64_t x, std::int64_t y) {
  return reinterpret_cast<const P*>(source.data + y * source.row)[x];
}

/// Rows of the caller's may begin anywhere.
template <int Channels>
__device__ const std::uint8_t* stored_at(const Source& source, std::int64_t x, std::int64_t y) {
  return reinterpret_cast<const std::uint8_t*>(source.data + y * source.row) + x * Channels;
}

template <int Channels, class Value>
__global__ void __launch_bounds__(plane_threads)
    premultiply_each(const __grid_constant__ PremultipliedArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    Vector<Value, Channels> pixel;
    premultiply<Channels>(stored_at<Channels>(arguments.original, x, y), arguments.rule, pixel.of);
    reinterpret_cast<Vector<Value, Channels>*>(arguments.output.data + y * arguments.output.row)[x] = pixel;
  }
}

template <int Channels, class Value>
__global__ void __launch_bounds__(plane_threads)
    unpremultiply_each(const __grid_constant__ PremultipliedArguments arguments) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= arguments.width) return;
  const PremultiplyRule& rule = arguments.rule;
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const auto pixel = pixel_at<Vector<Value, Channels>>(arguments.values, x, y);
    const std::uint32_t mask = rule.mask_maximum == 0      ? 0
                               : rule.mask_maximum == 0xFF ? pixel_at<std::uint8_t>(arguments.mask, x, y)
                                                           : pixel_at<std::uint16_t>(arguments.mask, x, y);
    auto* out =
        reinterpret_cast<std::uint8_t*>(arguments.output.data + y * arguments.output.row) + x * Channels;
    const std::uint32_t alpha = pixel.of[Channels - 1];
    const WideDivisor by(max(alpha, 1U));
    const auto colour = [&](int c) {
      const std::uint64_t total = static_cast<std::uint64_t>(pixel.of[c]) * rule.white;  // below 2^41
      return alpha == 0 ? 0 : by.rounded(total, __ull2double_rn(total));
    };
    store_straight<Channels>(colour, alpha, stored_at<Channels>(arguments.original, x, y), mask, rule, out);
  }
}

/// Calls launch.template operator()<Channels, Value>().
template <class Launch>
void with_pixel(const PremultipliedArguments& arguments, const Launch& launch) {
  if (arguments.type == Type::u16) {
    arguments.channels == 2 ? launch.template operator()<2, std::uint16_t>()
                            : launch.template operator()<4, std::uint16_t>();
  } else {
    arguments.channels == 2 ? launch.template operator()<2, std::uint32_t>()
                            : launch.template operator()<4, std::uint32_t>();
  }
}

}  // namespace

void premultiply_pixels(const PremultipliedArguments& arguments, StreamHandle stream) {
  with_pixel(arguments, [&]<int Channels, class Value>() {
    premultiply_each<Channels, Value>
        <<<plane_grid(arguments.width, arguments.height), plane_threads, 0, stream>>>(arguments);
  });
}

void unpremultiply_pixels(const PremultipliedArguments& arguments, StreamHandle stream) {
  with_pixel(arguments, [&]<int Channels, class Value>() {
    unpremultiply_each<Channels, Value>
        <<<plane_grid(arguments.width, arguments.height), plane_threads, 0, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
