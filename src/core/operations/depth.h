#pragma once
// The steps from a depth image to the signed radii of a picture's pixels; and radii without one.

#include <memory>

namespace satin {

struct Backend;
struct CircleOfConfusionJob;
struct CircleOfConfusionOperation;
struct EnlargeRadiiJob;
struct EnlargeRadiiOperation;
struct FillRadiiJob;
struct FillRadiiOperation;
struct PlanarRadiiJob;
struct PlanarRadiiOperation;
struct SmoothStepsJob;
struct SmoothStepsOperation;

/// One function an operation, as in Operations; each is described in a header of its own.
struct DepthOperations {
  std::unique_ptr<SmoothStepsOperation> (*smooth_steps)(Backend&, const SmoothStepsJob&) = nullptr;
  std::unique_ptr<CircleOfConfusionOperation> (*circle_of_confusion)(Backend&,
                                                                     const CircleOfConfusionJob&) = nullptr;
  std::unique_ptr<FillRadiiOperation> (*fill_radii)(Backend&, const FillRadiiJob&) = nullptr;
  std::unique_ptr<EnlargeRadiiOperation> (*enlarge_radii)(Backend&, const EnlargeRadiiJob&) = nullptr;
  std::unique_ptr<PlanarRadiiOperation> (*planar_radii)(Backend&, const PlanarRadiiJob&) = nullptr;
};

}  // namespace satin
