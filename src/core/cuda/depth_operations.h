#pragma once
// The steps of depth on the GPU: one factory an operation, each in its own file.

#include "core/operations/circle_of_confusion.h"
#include "core/operations/depth.h"
#include "core/operations/enlarge_radii.h"
#include "core/operations/fill_radii.h"
#include "core/operations/planar_radii.h"
#include "core/operations/smooth_steps.h"

namespace satin::cuda {

std::unique_ptr<SmoothStepsOperation> prepare_smooth_steps(Backend& backend, const SmoothStepsJob& job);
std::unique_ptr<CircleOfConfusionOperation> prepare_circle_of_confusion(Backend& backend,
                                                                        const CircleOfConfusionJob& job);
std::unique_ptr<FillRadiiOperation> prepare_fill_radii(Backend& backend, const FillRadiiJob& job);
std::unique_ptr<EnlargeRadiiOperation> prepare_enlarge_radii(Backend& backend, const EnlargeRadiiJob& job);
std::unique_ptr<PlanarRadiiOperation> prepare_planar_radii(Backend& backend, const PlanarRadiiJob& job);

inline DepthOperations depth_operations() {
  return {.smooth_steps = prepare_smooth_steps,
          .circle_of_confusion = prepare_circle_of_confusion,
          .fill_radii = prepare_fill_radii,
          .enlarge_radii = prepare_enlarge_radii,
          .planar_radii = prepare_planar_radii};
}

}  // namespace satin::cuda
