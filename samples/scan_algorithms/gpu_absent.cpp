#include "gpu.h"

namespace study {

std::string gpu_name() { return "No GPU: this build has no CUDA kernels."; }
void check_gpu(const std::function<void(const std::string&, Index, const std::string&)>&) {}
std::vector<GpuTime> measure_gpu(Index) { return {}; }

}  // namespace study
