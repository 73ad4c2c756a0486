#include "kernels/means/box_mean.cuh"
#include "kernels/means/launch.h"

namespace satin::kernels {

template void box_mean_to<float>(const BoxMeanArguments&, StreamHandle);

}  // namespace satin::kernels
