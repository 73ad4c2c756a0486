#include "kernels/box_mean_running.cuh"

namespace satin::kernels {

template int prepare_running_mean_of<std::uint16_t>(const RunningMeanArguments&);
template void running_mean_of<std::uint16_t>(const RunningMeanArguments&, StreamHandle);

}  // namespace satin::kernels
