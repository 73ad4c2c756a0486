// Ramps of depth and silhouettes: a thread has some rows of one column, so that rows are read once for all
// pixels that look at them.

#include "kernels/lens/launch.h"
#include "kernels/pixels/plane.cuh"

namespace satin::kernels {
namespace {

/// H200, UHD: with one pixel a thread ramps took 42 us and silhouettes 57.
constexpr int ramp_rows = 8;

/// A column from the row above `top` to the row below the last one, held to the picture.
struct RadiusColumn {
  std::int32_t radius[ramp_rows + 2];

  __device__ RadiusColumn(const std::int32_t* radii, const LensPlanes& planes, int x, int top) {
    const std::int32_t* column = radii + min(max(x, 0), planes.width - 1);
#pragma unroll
    for (int i = 0; i < ramp_rows + 2; ++i)
      radius[i] = column[planes.place(0, min(max(top + i - 1, 0), planes.height - 1))];
  }
  [[nodiscard]] __device__ std::int32_t above(int r) const { return radius[r]; }
  [[nodiscard]] __device__ std::int32_t own(int r) const { return radius[r + 1]; }
  [[nodiscard]] __device__ std::int32_t below(int r) const { return radius[r + 2]; }
};

/// Calls rows(x, top) for every thread's column; rows beyond the largest grid are taken in turns.
template <class Rows>
__device__ void for_ramp_columns(const LensPlanes& planes, const Rows& rows) {
  const int x = static_cast<int>(blockIdx.x) * plane_threads + static_cast<int>(threadIdx.x);
  if (x >= planes.width) return;
  for (int top = static_cast<int>(blockIdx.y) * ramp_rows; top < planes.height;
       top += static_cast<int>(gridDim.y) * ramp_rows)
    rows(x, top);
}

dim3 ramp_grid(const LensPlanes& planes) {
  return plane_grid(planes.width, (planes.height + ramp_rows - 1) / ramp_rows);
}

__global__ void __launch_bounds__(plane_threads) sharpen_columns(const __grid_constant__ SharpenRamp step) {
  const LensPlanes& planes = step.planes;
  for_ramp_columns(planes, [&](int x, int top) {
    const RadiusColumn left(planes.radii, planes, x - 1, top);
    const RadiusColumn column(planes.radii, planes, x, top);
    const RadiusColumn right(planes.radii, planes, x + 1, top);
#pragma unroll
    for (int r = 0; r < ramp_rows; ++r) {
      const int y = top + r;
      if (y >= planes.height) return;
      if (on_ramp(left.own(r), column.own(r), right.own(r)) ||
          on_ramp(column.above(r), column.own(r), column.below(r)))
        step(x, y);
      else
        planes.sharpened[planes.place(x, y)] = column.own(r);
    }
  });
}

__global__ void __launch_bounds__(plane_threads)
    find_silhouettes_of_columns(const __grid_constant__ FindSilhouette step) {
  const LensPlanes& planes = step.planes;
  for_ramp_columns(planes, [&](int x, int top) {
    const RadiusColumn left(planes.sharpened, planes, x - 1, top);
    const RadiusColumn column(planes.sharpened, planes, x, top);
    const RadiusColumn right(planes.sharpened, planes, x + 1, top);
    RadiusRange rows[ramp_rows + 2];
#pragma unroll
    for (int i = 0; i < ramp_rows + 2; ++i)
      rows[i] = {min(min(left.radius[i], column.radius[i]), right.radius[i]),
                 max(max(left.radius[i], column.radius[i]), right.radius[i])};
#pragma unroll
    for (int r = 0; r < ramp_rows; ++r) {
      const int y = top + r;
      if (y >= planes.height) return;
      const bool inside = x > 0 && y > 0 && x + 1 < planes.width && y + 1 < planes.height;
      const std::int32_t low = min(min(rows[r].low, rows[r + 1].low), rows[r + 2].low);
      const std::int32_t high = max(max(rows[r].high, rows[r + 1].high), rows[r + 2].high);
      planes.edges[planes.place(x, y)] = inside && high - low > silhouette_step ? 1 : 0;
    }
  });
}

}  // namespace

void sharpen_ramps(const SharpenRamp& step, StreamHandle stream) {
  sharpen_columns<<<ramp_grid(step.planes), plane_threads, 0, stream>>>(step);
}

void find_silhouettes(const FindSilhouette& step, StreamHandle stream) {
  find_silhouettes_of_columns<<<ramp_grid(step.planes), plane_threads, 0, stream>>>(step);
}

}  // namespace satin::kernels
