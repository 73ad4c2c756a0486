#include "kernels/means/box_mean_running.cuh"

namespace satin::kernels {

template struct RunningKernels<std::uint8_t, std::uint8_t, 1>;
template struct RunningKernels<std::uint8_t, std::uint8_t, 2>;
template struct RunningKernels<std::uint8_t, std::uint16_t, 1>;
template struct RunningKernels<std::uint8_t, std::uint16_t, 2>;

}  // namespace satin::kernels
