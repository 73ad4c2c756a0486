#include "kernels/box_mean.cuh"

namespace satin::kernels {

template void box_mean_to<std::uint8_t>(const BoxMeanArguments&, StreamHandle);

}  // namespace satin::kernels
