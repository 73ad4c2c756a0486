#pragma once
// Grids and rows for kernels over one plane of a picture, one thread per pixel.

#include <cstdint>

#include "kernels/device/launch.h"
#include "pixels/maths/plane.h"

namespace satin::kernels {

inline constexpr int plane_threads = 256;

template <class T>
__device__ T plane_value_at(const PlaneRead& plane, const Source& picture, std::int64_t x, std::int64_t y) {
  return plane_value(reinterpret_cast<const T*>(picture.data + y * picture.row) + x * plane.channels, plane);
}

/// Returns a grid with one thread per pixel. Threads loop over rows beyond the largest grid.
inline dim3 plane_grid(std::int64_t width, std::int64_t height) {
  return {block_count(width, plane_threads), blocks_down(height)};
}

template <class T>
__device__ const T* row_of(const Source& source, std::int64_t y) {
  return reinterpret_cast<const T*>(source.data + y * source.row);
}
template <class T>
__device__ T* row_of(const Target& target, std::int64_t y) {
  return reinterpret_cast<T*>(target.data + y * target.row);
}

/// Returns the value of a mask of 8 or 16 bits, 0 without one.
__device__ inline std::uint32_t mask_at(std::uint32_t maximum, const Source& mask, std::int64_t x,
                                        std::int64_t y) {
  if (maximum == 0) return 0;
  return maximum == 0xFF ? row_of<std::uint8_t>(mask, y)[x] : row_of<std::uint16_t>(mask, y)[x];
}

/// Calls pixel(x, y) for every pixel of the calling thread, in a grid of plane_grid().
template <class Pixel>
__device__ void for_each_pixel(std::int64_t width, std::int64_t height, const Pixel& pixel) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= width) return;
  for (std::int64_t y = blockIdx.y; y < height; y += gridDim.y) pixel(x, y);
}

}  // namespace satin::kernels
