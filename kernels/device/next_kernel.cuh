#pragma once
// A kernel that begins while the one before in its stream still runs: what it does before it asks for what
// the other wrote takes no time then. CUDA calls this programmatic dependent launch; kernels are compiled for
// it from compute capability 9.0 on.

#include <cstddef>

#include "kernels/device/launch.h"

namespace satin::kernels {

/// Whether kernels that were compiled for this virtual architecture, 90 for 9.0, wait in written_source().
[[nodiscard]] constexpr bool waits_for_sources(int virtual_architecture) {
  return virtual_architecture >= 90;
}

/// The next kernel of the stream may begin from this call on, where multiprocessors have room.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until all earlier kernels of the stream have ended. The address is returned, so that the compiler
/// moves no load in front of the wait.
template <class T>
__device__ T* written(T* data) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : "+l"(data)::"memory");
#endif
  return data;
}
__device__ inline Source written_source(Source source) { return {written(source.data), source.row}; }

/// Launches a kernel that may begin early, and waits for what it reads, if `early`.
template <class Kernel, class... Arguments>
void launch_next(bool early, Kernel* kernel, dim3 blocks, dim3 threads, std::size_t shared_bytes,
                 StreamHandle stream, const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  (void)cudaLaunchKernelEx(&config, kernel, arguments...);  // check_launch() sees an error
}

}  // namespace satin::kernels
