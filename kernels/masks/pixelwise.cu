// Steps on each pixel alone, one thread per pixel. The pixels of a cell read the same four table entries,
// which stay in the L1.

#include "kernels/pixels/each_place.cuh"
#include "masks/paint.h"
#include "masks/regions.h"
#include "masks/validity_mask.h"

namespace satin::kernels {

template void run_pixelwise(const CoverageJob&, const CoverageJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const PaintJob&, const PaintJob::Images&, const TransferView&, StreamHandle);
template void run_pixelwise(const RelabelJob&, const RelabelJob::Images&, const TransferView&, StreamHandle);
template void run_pixelwise(const ValidityMaskJob&, const ValidityMaskJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
