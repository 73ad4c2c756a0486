#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "satin/error.h"

namespace satin::cuda {

/// "out of memory (cudaErrorMemoryAllocation)"
inline std::string message_of(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

/// Throws Error(environment) that says what was being done.
inline void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // so that it is not told twice
  throw Error(ErrorKind::environment,
              std::string("CUDA failed while ") + doing + ": " + message_of(status) + ".");
}

/// Every launch is followed by this: it throws where the launch failed.
inline void check_launch(const char* doing) { check(cudaGetLastError(), doing); }

}  // namespace satin::cuda
