#pragma once
// The workspace of a scan or selection by CUB.

#include "kernels/scan/launch.h"
#include "satin/cuda/fused.cuh"

namespace satin::kernels {

/// pass(workspace) in the memory of `space`, or, where there is none, for its size.
template <class Pass>
int in_workspace(Space& space, const Pass& pass) {
  gpu::Workspace workspace{space.memory, space.bytes};
  const int status = pass(workspace);
  space.bytes = workspace.bytes;
  return status;
}

}  // namespace satin::kernels
