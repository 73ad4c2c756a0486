// Steps on each pixel alone: storing ranks with threshold, alpha and mask, and stretching between
// percentiles.

#include <cstdint>

#include "kernels/order/rank_plane.cuh"
#include "kernels/pixels/each_place.cuh"
#include "order/stretch.h"

namespace satin::kernels {
namespace {

constexpr int most_channels = 4;

template <class Key>
__global__ void __launch_bounds__(plane_threads)
    finish_pixels(const __grid_constant__ RankJob job, const RankStore store, const Source source,
                  const Source mask, const Target output) {
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const std::uint32_t weight = job.mask_maximum == 0 ? 1 : mask_at(job.mask_maximum, mask, x, y);
    Key* out = row_of<Key>(output, y) + x * job.channels;
    Key pixel[most_channels];
    for (int c = 0; c < job.channels; ++c) pixel[c] = out[c];
    store_rank(store, row_of<Key>(source, y) + x * job.channels, weight, pixel);
    for (int c = 0; c < job.channels; ++c) out[c] = pixel[c];
  });
}

}  // namespace

void finish_ranks(const RankJob& job, const Source& source, const Source& mask, const Target& output,
                  StreamHandle stream) {
  with_key(job.type, [&]<class Key>() {
    finish_pixels<Key><<<plane_grid(job.width, job.height), plane_threads, 0, stream>>>(job, rank_store(job),
                                                                                        source, mask, output);
  });
}

template void run_pixelwise(const StretchJob&, const StretchJob::Images&, const TransferView&, StreamHandle);

}  // namespace satin::kernels
