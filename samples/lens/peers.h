#pragma once
// What others do with one picture and its disparity, in their simplest form: the methods that depth of field
// is measured against.

#include "layers.h"
#include "satin/image.h"

namespace lens {

/// Mean over the square with the area of the pixel's own circle of confusion, by a summed-area table (Hensley
/// et al., Fast summed-area table generation and its applications, 2005).
[[nodiscard]] satin::Image gather(const Scene& scene, const satin::Image& picture,
                                  const satin::Image& disparity);

/// Every pixel spreads over the disc of its own circle of confusion, all of them into one layer, which is
/// divided by the weight that arrived.
[[nodiscard]] satin::Image spread_discs(const Scene& scene, const satin::Image& picture,
                                        const satin::Image& disparity);

}  // namespace lens
