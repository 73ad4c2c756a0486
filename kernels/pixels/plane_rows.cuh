#pragma once
// Rows of a plane by their type, and a kernel's walk over its pixels.

#include <cstdint>

#include "kernels/pixels/plane.cuh"

namespace satin::kernels {

template <class T>
__device__ const T* row_of(const Source& source, std::int64_t y) {
  return reinterpret_cast<const T*>(source.data + y * source.row);
}
template <class T>
__device__ T* row_of(const Target& target, std::int64_t y) {
  return reinterpret_cast<T*>(target.data + y * target.row);
}

/// Calls pixel(x, y) for every pixel of the grid's picture: see plane_grid().
template <class Pixel>
__device__ void for_each_pixel(std::int64_t width, std::int64_t height, const Pixel& pixel) {
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * plane_threads + threadIdx.x;
  if (x >= width) return;
  for (std::int64_t y = blockIdx.y; y < height; y += gridDim.y) pixel(x, y);
}

}  // namespace satin::kernels
