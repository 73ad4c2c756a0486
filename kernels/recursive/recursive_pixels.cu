// Reads stored pixels into planes of working values, stores them, and computes distances between the
// pixels of a guide, with a thread for each pixel.

#include <cstdint>
#include <type_traits>

#include "core/with_type.h"
#include "kernels/pixels/plane.cuh"
#include "kernels/recursive/launch.h"
#include "pixels/maths/real_pixel.h"

namespace satin::kernels {
namespace {

template <class T>
__device__ bool all_finite(const T* pixel, int channels) {
  bool finite = true;
  if constexpr (std::is_same_v<T, float>)
    for (int c = 0; c < channels; ++c) finite = finite && is_finite(pixel[c]);
  return finite;
}

template <class T>
__global__ void __launch_bounds__(plane_threads) to_planes(const __grid_constant__ RecursivePixels pixels) {
  auto* planes = static_cast<RealOf<T>*>(pixels.planes);
  const Squares squares(pixels.width, pixels.height);
  for_each_pixel(pixels.width, pixels.height, [&](std::int64_t x, std::int64_t y) {
    const T* pixel = row_of<T>(pixels.source, y) + x * pixels.channels;
    if (!all_finite(pixel, pixels.channels)) atomicOr(&pixels.measured->picture_not_finite, 1U);
    if (planes == nullptr) return;
    for (int c = 0; c < pixels.channels; ++c)
      planes[c * squares.size() + squares.at(x, y)] =
          read_real(pixel, c, pixels.channels, pixels.rule.weighted, pixels.rule.transfer);
  });
}

template <class T, int Channels>
__global__ void __launch_bounds__(plane_threads) from_planes(const __grid_constant__ RecursivePixels pixels) {
  const auto* planes = static_cast<const RealOf<T>*>(pixels.planes);
  const Squares squares(pixels.width, pixels.height);
  for_each_pixel(pixels.width, pixels.height, [&](std::int64_t x, std::int64_t y) {
    RealOf<T> values[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) values[c] = planes[c * squares.size() + squares.at(x, y)];
    const std::uint32_t mask = mask_at(pixels.rule.mask_maximum, pixels.mask, x, y);
    const T* original = row_of<T>(pixels.source, y) + x * Channels;
    T* out = reinterpret_cast<T*>(pixels.output.data + y * pixels.output.row) + x * Channels;
    store_real_pixel<Channels>(values, original, mask, pixels.rule, out);
  });
}

/// Calls use(x, y, index) for a thread's pixels, with their index in the plane: a block has a square and some
/// below it.
template <class Use>
__device__ void for_own_pixels(const Squares& squares, const Use& use) {
  static_assert(Squares::values == plane_threads);
  const unsigned own = threadIdx.x;
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * Squares::columns + own % Squares::columns;
  for (std::int64_t down = blockIdx.y; down < squares.down; down += gridDim.y)
    use(x, down * Squares::rows + own / Squares::columns,
        (down * squares.across + blockIdx.x) * Squares::values + own);
}

template <class T>
__global__ void __launch_bounds__(plane_threads)
    to_distances(const __grid_constant__ RecursiveGuide arguments) {
  const Guide& guide = arguments.guide;
  for_own_pixels({arguments.width, arguments.height}, [&](std::int64_t x, std::int64_t y, std::int64_t at) {
    float along_x = 0;
    float along_y = 0;
    if (x < arguments.width && y < arguments.height) {
      const T* pixel = row_of<T>(arguments.source, y) + x * guide.channels;
      if (!all_finite(pixel, guide.channels)) atomicOr(&arguments.measured->guide_not_finite, 1U);
      const auto distance = [&](const T* other) {
        return transformed_distance(guide_difference(pixel, other, guide.channels, guide.weighted),
                                    guide.contrast);
      };
      along_x = x == 0 ? 1.0F : distance(pixel - guide.channels);
      along_y = y == 0 ? 1.0F : distance(row_of<T>(arguments.source, y - 1) + x * guide.channels);
    }
    if (arguments.along_x == nullptr) return;
    arguments.along_x[at] = along_x;
    arguments.along_y[at] = along_y;
  });
}

dim3 square_grid(std::int64_t width, std::int64_t height) {
  const Squares squares(width, height);
  return {static_cast<unsigned>(squares.across), blocks_down(squares.down)};
}

}  // namespace

void read_planes(const RecursivePixels& pixels, StreamHandle stream) {
  with_pixel_type(pixels.type, [&]<class T>() {
    to_planes<T><<<plane_grid(pixels.width, pixels.height), plane_threads, 0, stream>>>(pixels);
  });
}

void store_planes(const RecursivePixels& pixels, StreamHandle stream) {
  with_pixel_type(pixels.type, [&]<class T>() {
    with_channels(pixels.channels, [&]<int Channels>() {
      from_planes<T, Channels><<<plane_grid(pixels.width, pixels.height), plane_threads, 0, stream>>>(pixels);
    });
  });
}

void read_distances(const RecursiveGuide& guide, StreamHandle stream) {
  with_pixel_type(guide.guide.type, [&]<class T>() {
    to_distances<T><<<square_grid(guide.width, guide.height), plane_threads, 0, stream>>>(guide);
  });
}

}  // namespace satin::kernels
