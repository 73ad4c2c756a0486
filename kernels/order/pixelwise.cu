// Stretching between percentiles, a thread a place.

#include "kernels/pixels/each_place.cuh"
#include "order/stretch.h"

namespace satin::kernels {

template void run_pixelwise(const StretchJob&, const StretchJob::Images&, const TransferView&, StreamHandle);

}  // namespace satin::kernels
