// Signed radii of a plane: one thread a pixel.

#include "kernels/lens/lens_radii.h"
#include "kernels/pixels/plane_rows.cuh"
#include "lens/planar_radii.h"

namespace satin::kernels {
namespace {

__global__ void __launch_bounds__(plane_threads)
    radii_of_plane(const __grid_constant__ PlanarRadiiJob job, const __grid_constant__ Target radii) {
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    row_of<SignedRadius256>(radii, y)[x] = planar_radius(x, y, job.focus);
  });
}

}  // namespace

void planar_radii(const PlanarRadiiJob& job, const Target& radii, StreamHandle stream) {
  radii_of_plane<<<plane_grid(job.width, job.height), plane_threads, 0, stream>>>(job, radii);
}

}  // namespace satin::kernels
