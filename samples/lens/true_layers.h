#pragma once
// Upper bound for methods that spread pixels: all true layers, with their true share of each pixel, over true
// discs.

#include "layers.h"
#include "satin/image.h"

namespace lens {

/// Layers are composited by their disparity at the centre of the picture, so that this is no bound where
/// slanted layers cross others.
[[nodiscard]] satin::Image spread_true_layers(const Scene& scene);

}  // namespace lens
