// Radii of another size: one thread a sample for its colour, then one thread a pixel.

#include "kernels/lens/lens_radii.h"
#include "kernels/pixels/plane_rows.cuh"
#include "lens/enlarge_radii.h"

namespace satin::kernels {
namespace {

template <class T>
__global__ void __launch_bounds__(plane_threads)
    colour_samples(const __grid_constant__ EnlargeRadiiArguments arguments) {
  const EnlargeRadiiJob& job = arguments.job;
  for_each_pixel(job.sizes.depth_width, job.sizes.depth_height, [&](std::int64_t i, std::int64_t j) {
    arguments.colours[j * job.sizes.depth_width + i] =
        sample_colour(i, j, job.sizes, job.channels, job.colours,
                      [&](std::int64_t y) { return row_of<T>(arguments.picture, y); });
  });
}

template <class T>
__global__ void __launch_bounds__(plane_threads)
    enlarge_each(const __grid_constant__ EnlargeRadiiArguments arguments) {
  const EnlargeRadiiJob& job = arguments.job;
  for_each_pixel(job.sizes.width, job.sizes.height, [&](std::int64_t x, std::int64_t y) {
    const SamplePlace column = sample_place(x, job.sizes.width, job.sizes.depth_width);
    const SamplePlace row = sample_place(y, job.sizes.height, job.sizes.depth_height);
    RadiusSamples around;
    load_samples(
        around, column.first, row.first, job.sizes,
        [&](std::int64_t i, std::int64_t j) { return row_of<SignedRadius256>(arguments.samples, j)[i]; },
        [&](std::int64_t i, std::int64_t j) { return arguments.colours[j * job.sizes.depth_width + i]; });
    const T* pixel = row_of<T>(arguments.picture, y) + x * job.channels;
    row_of<SignedRadius256>(arguments.radii, y)[x] =
        enlarged_radius(around, column.fraction, row.fraction, guide_colour(pixel, job.colours));
  });
}

__global__ void __launch_bounds__(plane_threads)
    take_centres(const __grid_constant__ EnlargeRadiiArguments arguments) {
  const EnlargeSizes& sizes = arguments.job.sizes;
  for_each_pixel(sizes.width, sizes.height, [&](std::int64_t x, std::int64_t y) {
    row_of<SignedRadius256>(arguments.radii, y)[x] = row_of<SignedRadius256>(
        arguments.samples,
        sample_at_centre(y, sizes.height,
                         sizes.depth_height))[sample_at_centre(x, sizes.width, sizes.depth_width)];
  });
}

}  // namespace

void enlarge_radii(const EnlargeRadiiArguments& arguments, StreamHandle stream) {
  const EnlargeSizes& sizes = arguments.job.sizes;
  const dim3 pixels = plane_grid(sizes.width, sizes.height);
  if (sizes.depth_width > sizes.width) return take_centres<<<pixels, plane_threads, 0, stream>>>(arguments);
  const dim3 samples = plane_grid(sizes.depth_width, sizes.depth_height);
  with_plane_type(arguments.job.type, [&](auto value) {
    using T = decltype(value);
    colour_samples<T><<<samples, plane_threads, 0, stream>>>(arguments);
    enlarge_each<T><<<pixels, plane_threads, 0, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
