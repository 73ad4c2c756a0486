#pragma once
// Rows of the steps on depth that look at all pixels; compiled for every SIMD target.

#include "lens/maths/lens_planes.h"

namespace satin::cpu {

/// SharpenRamp of every pixel of row y.
void sharpen_ramps(const LensPlanes& planes, int y);

/// FindSilhouette of every pixel of row y.
void find_silhouettes(const LensPlanes& planes, int y);

}  // namespace satin::cpu
