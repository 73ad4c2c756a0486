#include "kernels/means/box_mean_wide.cuh"

namespace satin::kernels {

template struct WideKernels<std::uint32_t, 1>;
template struct WideKernels<std::uint32_t, 2>;
template struct WideKernels<std::uint32_t, 3>;
template struct WideKernels<std::uint32_t, 4>;

}  // namespace satin::kernels
