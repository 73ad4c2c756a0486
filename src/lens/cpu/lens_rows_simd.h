#pragma once
// Rows of the steps that look at all pixels, from radii to visible samples and from results to what is
// stored; compiled for every SIMD target.

#include <cstddef>
#include <cstdint>

#include "lens/maths/lens_planes.h"

namespace satin::cpu {

/// SharpenRamp of every pixel of row y.
void sharpen_ramps(const LensPlanes& planes, int y);

/// FindSilhouette of every pixel of row y.
void find_silhouettes(const LensPlanes& planes, int y);

/// All of StoreVisible but the colours, of every pixel of row y.
void store_depths(const LensPlanes& planes, int y, const DepthGroups& groups);

/// light[i] = min(values[i], 65535)
void hold_light(const std::uint32_t* values, std::size_t count, std::uint16_t* light);

}  // namespace satin::cpu
