// Bytes with straight alpha to premultiplied values and back, one thread per pixel.

#include "kernels/pixels/each_place.cuh"
#include "pixels/premultiplied.h"

namespace satin::kernels {

template void run_pixelwise(const PremultiplyJob&, const PremultiplyJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const UnpremultiplyJob&, const UnpremultiplyJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
