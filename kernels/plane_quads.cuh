#pragma once
// Four neighbouring values of a plane of a picture of integers, a thread: in whole words where rows allow it.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/lane.cuh"
#include "kernels/plane.cuh"
#include "kernels/vector.cuh"

namespace satin::kernels {

inline constexpr int quad = 4;  // pixels of a thread

/// plane_value() of a pixel in registers, which cannot be indexed.
template <int Channels, class T>
__device__ T channel_or_weighted(const T (&pixel)[Channels], const PlaneRead& plane) {
  if constexpr (Channels == 1) {
    return pixel[0];
  } else if constexpr (Channels == 2) {
    return plane.channel == 1 ? pixel[1] : pixel[0];
  } else {
    T value = plane.channel == 0 ? pixel[0] : plane.channel == 1 ? pixel[1] : pixel[2];
    if (Channels == 4 && plane.channel == 3) value = pixel[Channels - 1];
    if (plane.channel != PlaneRead::weighted) return value;
    return plane.order == Order::rgb ? luminance709(pixel[0], pixel[1], pixel[2])
                                     : luminance709(pixel[2], pixel[1], pixel[0]);
  }
}

/// The values of the first `count` pixels, 1 to 4.
template <int Channels, class T>
__device__ Vector<T, quad> quad_of(const T* pixels, int count, const PlaneRead& plane) {
  Vector<T, quad> values{};
  if (count == quad && reinterpret_cast<std::uintptr_t>(pixels) % 4 == 0) {
    std::uint32_t words[quad * Channels * sizeof(T) / 4];
#pragma unroll
    for (int w = 0; w < static_cast<int>(sizeof words); w += 4)
      fetch<4>(words, w, reinterpret_cast<const std::byte*>(pixels) + w);
#pragma unroll
    for (int k = 0; k < quad; ++k) {
      T pixel[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) pixel[c] = element<T>(words, k * Channels + c);
      values.of[k] = channel_or_weighted<Channels>(pixel, plane);
    }
  } else {
#pragma unroll
    for (int k = 0; k < quad; ++k)
      if (k < count) values.of[k] = plane_value(pixels + k * Channels, plane);
  }
  return values;
}

/// Stores the first `count` of them.
template <class T>
__device__ void store_quad(const Vector<T, quad>& values, int count, T* to) {
  if (count == quad && reinterpret_cast<std::uintptr_t>(to) % sizeof values == 0) {
    *reinterpret_cast<Vector<T, quad>*>(to) = values;
    return;
  }
#pragma unroll
  for (int k = 0; k < quad; ++k)
    if (k < count) to[k] = values.of[k];
}

/// Calls use(x, y, values, count) for every quad of a thread; `count` of the values are in the picture.
template <int Channels, class T, class Use>
__device__ void for_quads(const Source& picture, std::int64_t width, std::int64_t height,
                          const PlaneRead& plane, const Use& use) {
  const std::int64_t x = quad * (static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x);
  if (x >= width) return;
  const auto count = static_cast<int>(min(std::int64_t{quad}, width - x));
  for (std::int64_t y = blockIdx.y; y < height; y += gridDim.y) {
    const T* pixels = reinterpret_cast<const T*>(picture.data + y * picture.row) + x * Channels;
    use(x, y, quad_of<Channels>(pixels, count, plane), count);
  }
}

inline dim3 quad_grid(std::int64_t width, std::int64_t height) {
  return plane_grid((width + quad - 1) / quad, height);
}

/// Calls launch.template operator()<T, Channels>() for integers; false for floats.
template <class Launch>
bool with_integer_plane(const PlaneRead& plane, const Launch& launch) {
  if (plane.type != Type::u8 && plane.type != Type::u16) return false;
  with_plane_type(plane.type, [&](auto type) {
    using T = decltype(type);
    if constexpr (!std::is_same_v<T, float>) {
      if (plane.channels == 1) return launch.template operator()<T, 1>();
      if (plane.channels == 2) return launch.template operator()<T, 2>();
      if (plane.channels == 3) return launch.template operator()<T, 3>();
      launch.template operator()<T, 4>();
    }
  });
  return true;
}

}  // namespace satin::kernels
