#pragma once
// A kernel that begins while the one before in its stream still runs: what it does before it asks for what
// the other wrote takes no time then. CUDA calls this programmatic dependent launch; kernels are compiled for
// it from compute capability 9.0 on.

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
__device__ inline Source written_source(Source source) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : "+l"(source.data)::"memory");
#endif
  return source;
}

}  // namespace satin::kernels
