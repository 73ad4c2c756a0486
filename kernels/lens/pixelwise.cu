// Operations of the lens on each pixel alone, one thread a place.

#include "kernels/pixels/each_place.cuh"
#include "lens/aperture_picture.h"
#include "lens/lens_store.h"

namespace satin::kernels {

template void run_pixelwise(const AperturePictureJob&, const AperturePictureJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const LensStoreJob&, const LensStoreJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
