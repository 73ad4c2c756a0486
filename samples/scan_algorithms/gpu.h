#pragma once
// The same algorithms as CUDA kernels. A build without CUDA has them too: nothing is then checked or
// measured.

#include <functional>
#include <string>
#include <vector>

#include "machine.h"

namespace study {

/// The name of the first GPU, or why there is none.
std::string gpu_name();

/// Calls report(kernel, n, difference from the library's result) for each kernel and size; a difference is
/// empty if there is none.
void check_gpu(const std::function<void(const std::string&, Index, const std::string&)>& report);

/// One measurement; `peer` is what CUB needs for the same, 0 if it has no such thing.
struct GpuTime {
  std::string name;
  Index n = 0;
  double milliseconds = 0;
  double copy_milliseconds = 0;  ///< of the values read and the results written
  double peer_milliseconds = 0;
};

/// Times for n = 1000, 10000 ... max_n. Empty without a GPU.
std::vector<GpuTime> measure_gpu(Index max_n);

}  // namespace study
