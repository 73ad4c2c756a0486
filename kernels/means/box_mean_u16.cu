#include "kernels/means/box_mean.cuh"
#include "kernels/means/launch.h"

namespace satin::kernels {

template void box_mean_to<std::uint16_t>(const BoxMeanArguments&, StreamHandle);

}  // namespace satin::kernels
