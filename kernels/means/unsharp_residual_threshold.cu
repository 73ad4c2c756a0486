// A picture with what it differs by from its means, compared with a level before it is ever stored: four
// pixels a thread.

#include "kernels/means/launch.h"
#include "kernels/pixels/plane_quads.cuh"

namespace satin::kernels {
namespace {

/// The first `count` values, in whole words where they are all there and aligned; others are 0.
template <int N, class T>
__device__ void load_values(const T* from, int count, T (&values)[N]) {
  constexpr int bytes = N * static_cast<int>(sizeof(T));
  static_assert(bytes % 4 == 0);
  if (count == N && reinterpret_cast<std::uintptr_t>(from) % 4 == 0) {
    std::uint32_t words[bytes / 4];
#pragma unroll
    for (int at = 0; at < bytes; at += 4) fetch<4>(words, at, reinterpret_cast<const std::byte*>(from) + at);
#pragma unroll
    for (int i = 0; i < N; ++i) values[i] = element<T>(words, i);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) values[i] = i < count ? from[i] : T{0};
  }
}

template <int Channels, class T, class Working>
__global__ void __launch_bounds__(plane_threads)
    compare_quads(const __grid_constant__ UnsharpResidualArguments arguments,
                  const __grid_constant__ FixedThresholdRule level) {
  const std::int64_t x = quad * (static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x);
  if (x >= arguments.width) return;
  const auto count = static_cast<int>(min(std::int64_t{quad}, arguments.width - x));
  for (std::int64_t y = blockIdx.y; y < arguments.height; y += gridDim.y) {
    const auto row = [&]<class Value>(const Source& source) {
      return reinterpret_cast<const Value*>(source.data + y * source.row) + x * Channels;
    };
    T own[quad * Channels];
    Working means[quad * Channels];
    load_values(row.template operator()<T>(arguments.picture), count * Channels, own);
    load_values(row.template operator()<Working>(arguments.means), count * Channels, means);
    Vector<std::uint8_t, quad> sides{};
#pragma unroll
    for (int k = 0; k < quad; ++k) {
      T result[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        const int i = k * Channels + c;
        store_with_residual<1>(means + i, own + i, 0, arguments.rule, {}, result + c);
      }
      sides.of[k] = side_of(static_cast<double>(channel_or_weighted<Channels>(result, level.plane)), level);
    }
    store_quad(sides, count,
               reinterpret_cast<std::uint8_t*>(arguments.output.data + y * arguments.output.row) + x);
  }
}

template <class T, class Working>
void launch(const UnsharpResidualArguments& arguments, const FixedThresholdRule& level, StreamHandle stream) {
  const dim3 grid = quad_grid(arguments.width, arguments.height, 1);
  if (arguments.channels == 1) {
    compare_quads<1, T, Working><<<grid, plane_threads, 0, stream>>>(arguments, level);
  } else {
    compare_quads<3, T, Working><<<grid, plane_threads, 0, stream>>>(arguments, level);
  }
}

}  // namespace

void compare_residual(const UnsharpResidualArguments& arguments, const FixedThresholdRule& level,
                      StreamHandle stream) {
  if (arguments.type == Type::u16) return launch<std::uint16_t, std::uint32_t>(arguments, level, stream);
  if (arguments.means_type == Type::u16) return launch<std::uint8_t, std::uint16_t>(arguments, level, stream);
  launch<std::uint8_t, std::uint32_t>(arguments, level, stream);
}

}  // namespace satin::kernels
