#include "kernels/box_mean.cuh"

namespace satin::kernels {

template void box_mean_to<float>(const BoxMeanArguments&, StreamHandle);

}  // namespace satin::kernels
