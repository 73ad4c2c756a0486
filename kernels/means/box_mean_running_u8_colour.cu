#include "kernels/means/box_mean_running.cuh"

namespace satin::kernels {

template struct RunningKernels<std::uint8_t, std::uint8_t, 3>;
template struct RunningKernels<std::uint8_t, std::uint8_t, 4>;
template struct RunningKernels<std::uint8_t, std::uint16_t, 3>;
template struct RunningKernels<std::uint8_t, std::uint16_t, 4>;

}  // namespace satin::kernels
