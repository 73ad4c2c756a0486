#pragma once
// Scan algorithms as CUDA kernels. Without CUDA these functions check and measure nothing.

#include <functional>
#include <string>
#include <vector>

#include "machine.h"

namespace study {

/// Returns the name of the first GPU, or the reason why there is none.
std::string gpu_name();

/// Calls report(kernel, n, difference) for each kernel and size. The difference is from the library's result;
/// empty if there is none.
void check_gpu(const std::function<void(const std::string&, Index, const std::string&)>& report);

/// A measurement. `peer_milliseconds` is the time of CUB; 0 if it has no such function.
struct GpuTime {
  std::string name;
  Index n = 0;
  double milliseconds = 0;
  double copy_milliseconds = 0;  ///< copy of as many bytes as are read and written
  double peer_milliseconds = 0;
};

/// Returns times for n = 1000, 10000, ..., max_n; empty without a GPU.
std::vector<GpuTime> measure_gpu(Index max_n);

}  // namespace study
