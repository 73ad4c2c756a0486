#pragma once
// Simple forms of other methods, with which depth of field is compared.

#include "layers.h"
#include "satin/image.h"

namespace lens {

/// Mean over the square with the area of the pixel's circle of confusion, by a summed-area table (Hensley et
/// al., Fast summed-area table generation and its applications, 2005).
[[nodiscard]] satin::Image gather(const Scene& scene, const satin::Image& picture,
                                  const satin::Image& disparity);

/// Spreads each pixel over the disc of its circle of confusion, all in one layer, and divides by the weight
/// that arrived.
[[nodiscard]] satin::Image spread_discs(const Scene& scene, const satin::Image& picture,
                                        const satin::Image& disparity);

}  // namespace lens
