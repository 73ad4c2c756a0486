// Resampling in two passes: along x into rows of global memory, then along y. One thread computes a pixel.
// Sums are in the order of the pixels and no product is fused with a sum, so they are those of the CPU.

#include "kernels/pixels/each_place.cuh"
#include "kernels/resample/launch.h"

namespace satin::kernels {
namespace {

template <class T, class Sum, class Between, int Channels>
__global__ void __launch_bounds__(plane_threads)
    along_x(const __grid_constant__ ResampleArguments arguments) {
  const ResampleJob& job = arguments.job;
  for_each_pixel(job.result_width, arguments.read_rows, [&](std::int64_t x, std::int64_t y) {
    const std::int64_t row = job.box.y.first + arguments.read + y - arguments.first_read;
    const std::int64_t first = job.box.x.first + arguments.x.first[x];
    const T* from = row_of<T>(arguments.picture, row) + first * Channels;
    const double* weights = arguments.x.weights + arguments.x.row[x] * arguments.x.most;
    Sum sums[Channels] = {};
    for (int t = 0; t < arguments.x.count[x]; ++t, from += Channels)
      for (int c = 0; c < Channels; ++c)
        sums[c] =
            sums[c] + resample_value<Sum>(from, c, Channels, arguments.rule) * static_cast<Sum>(weights[t]);
    Between* to = reinterpret_cast<Between*>(arguments.between) + (y * job.result_width + x) * Channels;
    for (int c = 0; c < Channels; ++c) to[c] = static_cast<Between>(sums[c]);
  });
}

template <class T, class Sum, class Between, int Channels>
__global__ void __launch_bounds__(plane_threads)
    along_y(const __grid_constant__ ResampleArguments arguments) {
  const ResampleJob& job = arguments.job;
  for_each_pixel(job.result_width, arguments.rows, [&](std::int64_t x, std::int64_t y) {
    const std::int64_t result = arguments.first + y;
    const std::int64_t entries = job.result_width * Channels;
    const Between* from = reinterpret_cast<const Between*>(arguments.between) +
                          (arguments.y.first[result] - arguments.read) * entries + x * Channels;
    const double* weights = arguments.y.weights + arguments.y.row[result] * arguments.y.most;
    Sum sums[Channels] = {};
    for (int t = 0; t < arguments.y.count[result]; ++t, from += entries)
      for (int c = 0; c < Channels; ++c)
        sums[c] = sums[c] + static_cast<Sum>(from[c]) * static_cast<Sum>(weights[t]);
    const auto original = [&] {
      const NearestAxis across{job.box.x.last - job.box.x.first, job.result_width, 0, job.box.x.first};
      const NearestAxis down{job.box.y.last - job.box.y.first, job.result_height, 0,
                             job.box.y.first - arguments.first_read};
      return row_of<T>(arguments.picture, down.pixel(result)) + across.pixel(x) * Channels;
    };
    store_resampled<Channels>(sums, original, arguments.rule, row_of<T>(arguments.output, y) + x * Channels);
  });
}

}  // namespace

void resample(const ResampleArguments& arguments, StreamHandle stream) {
  const std::int64_t width = arguments.job.result_width;
  with_resample_types(arguments.job.read.type, arguments.sums, [&]<class T, class Sum, class Between>() {
    with_channels(arguments.job.read.channels, [&]<int Channels>() {
      along_x<T, Sum, Between, Channels>
          <<<plane_grid(width, arguments.read_rows), plane_threads, 0, stream>>>(arguments);
      along_y<T, Sum, Between, Channels>
          <<<plane_grid(width, arguments.rows), plane_threads, 0, stream>>>(arguments);
    });
  });
}

template void run_pixelwise(const NearestPixelsJob&, const NearestPixelsJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
