#pragma once
// Launchers of the steps from depth to signed radii, in the manner of launch.h.

#include "kernels/device/launch.h"
#include "lens/circle_of_confusion.h"
#include "lens/enlarge_radii.h"
#include "lens/fill_radii.h"
#include "lens/planar_radii.h"
#include "lens/smooth_steps.h"

namespace satin::kernels {

struct SmoothStepsArguments {
  SmoothStepsJob job;
  Source codes;
  Target smoothed;
};

/// Lets smooth_steps() have its shared memory; the code of a cudaError_t.
[[nodiscard]] int prepare_smooth_steps();
void smooth_steps(const SmoothStepsArguments& arguments, StreamHandle stream);

struct CircleOfConfusionArguments {
  CircleOfConfusionJob job;
  Source depth;
  LensState* state = nullptr;
  Target radii;
};

void circle_of_confusion(const CircleOfConfusionArguments& arguments, StreamHandle stream);

struct FillRadiiArguments {
  FillRadiiJob job;
  Target radii;
  Target known;   ///< u8
  Target raised;  ///< u32
  KnownRadii tables;
  LensState* state = nullptr;
};

/// Fills in `known` and `raised`.
void split_radii(const FillRadiiArguments& arguments, StreamHandle stream);
/// With the tables of both.
void fill_radii(const FillRadiiArguments& arguments, StreamHandle stream);

struct EnlargeRadiiArguments {
  EnlargeRadiiJob job;
  Source picture;
  Source samples;
  Target radii;
  GuideColour* colours = nullptr;  ///< of the samples, densely packed
};

void enlarge_radii(const EnlargeRadiiArguments& arguments, StreamHandle stream);

void planar_radii(const PlanarRadiiJob& job, const Target& radii, StreamHandle stream);

}  // namespace satin::kernels
