#pragma once
// Launch of the kernel that removes the steps of 8-bit depth, in the manner of kernels/device/launch.h.

#include "depth/smooth_steps.h"
#include "kernels/device/launch.h"

namespace satin::kernels {

struct SmoothStepsArguments {
  SmoothStepsJob job;
  Source codes;
  Target smoothed;
};

/// Allows smooth_steps() its shared memory. Returns a cudaError_t.
[[nodiscard]] int prepare_smooth_steps();
void smooth_steps(const SmoothStepsArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
