// Restored light, and the gains of a new map.

#include "kernels/pixels/each_place.cuh"
#include "light/gain_ratio.h"
#include "light/restore.h"

namespace satin::kernels {

template void run_pixelwise(const RestoreJob&, const RestoreJob::Images&, const TransferView&, StreamHandle);
template void run_pixelwise(const GainRatioJob&, const GainRatioJob::Images&, const TransferView&,
                            StreamHandle);
template void run_pixelwise(const GainCodesJob&, const GainCodesJob::Images&, const TransferView&,
                            StreamHandle);

}  // namespace satin::kernels
