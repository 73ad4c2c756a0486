#include "kernels/means/box_mean_wide.cuh"

namespace satin::kernels {

template struct WideKernels<float, 1>;
template struct WideKernels<float, 2>;
template struct WideKernels<float, 3>;
template struct WideKernels<float, 4>;

}  // namespace satin::kernels
