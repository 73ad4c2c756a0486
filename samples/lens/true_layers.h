#pragma once
// The bound of methods that spread pixels: every true layer whole, by its true share of every pixel, over
// true discs.

#include "layers.h"
#include "satin/image.h"

namespace lens {

/// Layers are laid one behind the other by their disparity in the middle of the picture: where slanted ones
/// cross others this is no bound.
[[nodiscard]] satin::Image spread_true_layers(const Scene& scene);

}  // namespace lens
