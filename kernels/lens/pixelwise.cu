// Operations of the lens on each pixel alone, one thread a place.

#include "kernels/pixels/each_place.cuh"
#include "lens/aperture_picture.h"
#include "lens/lens_store.h"
#include "lens/radii_steps.h"
#include "lens/soft_depth.h"

namespace satin::kernels {

template void run_pixelwise(const EnlargeRadiiJob&, const EnlargeRadiiJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const FillUnknownJob&, const FillUnknownJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const AperturePictureJob&, const AperturePictureJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const LensStoreJob&, const LensStoreJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const PlanarRadiiJob&, const PlanarRadiiJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const SnapDepthJob&, const SnapDepthJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const SplitRadiiJob&, const SplitRadiiJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
