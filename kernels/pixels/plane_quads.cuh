#pragma once
// Four neighbouring values of a plane per thread, for pictures of integers, loaded and stored in whole words
// where the alignment of rows allows it.

#include <cstddef>
#include <cstdint>

#include "core/with_type.h"
#include "kernels/device/vector.cuh"
#include "kernels/pixels/lane.cuh"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {

inline constexpr int quad = 4;  ///< pixels of a thread

/// Returns plane_value() of a pixel in registers, which cannot be indexed at run time.
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

/// Four neighbouring pixels in the order of memory.
template <int Channels, class T>
struct QuadWords {
  std::uint32_t words[quad * Channels * sizeof(T) / 4];

  __device__ void load(const T* pixels) {
#pragma unroll
    for (int w = 0; w < static_cast<int>(sizeof words); w += 4)
      fetch<4>(words, w, reinterpret_cast<const std::byte*>(pixels) + w);
  }

  [[nodiscard]] __device__ Vector<T, quad> values(const PlaneRead& plane) const {
    Vector<T, quad> values;
#pragma unroll
    for (int k = 0; k < quad; ++k) {
      T pixel[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) pixel[c] = element<T>(words, k * Channels + c);
      values.of[k] = channel_or_weighted<Channels>(pixel, plane);
    }
    return values;
  }
};

/// Returns the values of the first `count` pixels, 1 to 4.
template <int Channels, class T>
__device__ Vector<T, quad> first_of_quad(const T* pixels, int count, const PlaneRead& plane) {
  Vector<T, quad> values{};
#pragma unroll
  for (int k = 0; k < quad; ++k)
    if (k < count) values.of[k] = plane_value(pixels + k * Channels, plane);
  return values;
}

/// Loads the first `count` of N values in the order of memory, in whole words if all exist and are aligned.
/// Other values are 0.
template <int N, class T>
__device__ void load_words(const T* from, int count, std::uint32_t (&words)[N * sizeof(T) / 4]) {
  constexpr int size = static_cast<int>(sizeof(T));
  static_assert(N * size % 4 == 0);
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  if (count == N && reinterpret_cast<std::uintptr_t>(from) % 4 == 0) {
#pragma unroll
    for (int at = 0; at < N * size; at += 4) fetch<4>(words, at, bytes + at);
  } else {
#pragma unroll
    for (std::uint32_t& word : words) word = 0;
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (i < count) fetch<size>(words, i * size, bytes + i * size);
  }
}

/// Stores the first `count` values, in whole words if all are wanted and aligned.
template <int N, class T>
__device__ void store_values(const T (&values)[N], int count, T* to) {
  constexpr int size = static_cast<int>(sizeof(T));
  if (count == N && reinterpret_cast<std::uintptr_t>(to) % 4 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 4 / size) {
      std::uint32_t word = 0;
#pragma unroll
      for (int k = 0; k < 4 / size; ++k) word |= static_cast<std::uint32_t>(values[i + k]) << 8 * size * k;
      reinterpret_cast<std::uint32_t*>(to)[i * size / 4] = word;
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (i < count) to[i] = values[i];
  }
}

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

/// Rows that a thread loads before it uses the first.
inline constexpr int quad_rows = 2;

/// Calls use(x, y, values, count) for every quad of the calling thread; `count` values are in the picture.
template <int Channels, class T, class Use>
__device__ void for_quads(const Source& picture, std::int64_t width, std::int64_t height,
                          const PlaneRead& plane, const Use& use) {
  const std::int64_t x = quad * (static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x);
  if (x >= width) return;
  const auto count = static_cast<int>(min(std::int64_t{quad}, width - x));
  const auto pixels_of = [&](std::int64_t y) {
    return reinterpret_cast<const T*>(picture.data + y * picture.row) + x * Channels;
  };
  const bool words =
      count == quad && picture.row % 4 == 0 && reinterpret_cast<std::uintptr_t>(pixels_of(0)) % 4 == 0;
  for (std::int64_t first = blockIdx.y; first < height; first += quad_rows * gridDim.y) {
    QuadWords<Channels, T> loaded[quad_rows];
#pragma unroll
    for (int r = 0; r < quad_rows; ++r) {
      const std::int64_t y = first + r * gridDim.y;
      if (words && y < height) loaded[r].load(pixels_of(y));
    }
#pragma unroll
    for (int r = 0; r < quad_rows; ++r) {
      const std::int64_t y = first + r * gridDim.y;
      if (y < height)
        use(x, y, words ? loaded[r].values(plane) : first_of_quad<Channels>(pixels_of(y), count, plane),
            count);
    }
  }
}

/// Returns a grid whose threads have one quad in `rows` rows each.
inline dim3 quad_grid(std::int64_t width, std::int64_t height, int rows = quad_rows) {
  return plane_grid((width + quad - 1) / quad, (height + rows - 1) / rows);
}

/// Calls launch.template operator()<T, Channels>() for integers. Returns false for floats.
template <class Launch>
bool with_integer_plane(const PlaneRead& plane, const Launch& launch) {
  if (plane.type == Type::f32) return false;
  with_channels(plane.channels, [&]<int Channels>() {
    if (plane.type == Type::u8) return launch.template operator()<std::uint8_t, Channels>();
    launch.template operator()<std::uint16_t, Channels>();
  });
  return true;
}

}  // namespace satin::kernels
