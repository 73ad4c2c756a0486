// Grain of the picture, measured and added to what is blurred.

#include "kernels/pixels/each_place.cuh"
#include "lens/grain.h"

namespace satin::kernels {

template void run_pixelwise(const GrainJob&, const GrainJob::Images&, const TransferView&, StreamHandle);

}  // namespace satin::kernels
