#include "kernels/box_mean.cuh"

namespace satin::kernels {

template void box_mean_to<std::uint32_t>(const BoxMeanArguments&, StreamHandle);
template void box_mean_to<std::uint64_t>(const BoxMeanArguments&, StreamHandle);

}  // namespace satin::kernels
