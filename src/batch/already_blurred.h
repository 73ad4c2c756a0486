#pragma once
// Whether a photograph was given its blur before: a second one on top of it would look wrong.

#include "satin/photo_depth.h"

namespace satin::batch {

/// Compares what is far with what is near, the outer 30 percent of the depth each: by the energy of gradients
/// between neighbours, and by how steep the strongest edges are. What is far is held for blurred if it has
/// less than 15 percent of the energy and its edges half the steepness: a plain background alone, or haze,
/// has the one or the other.
[[nodiscard]] bool seems_blurred(const ImageView& picture, const PhotoDepth& depth);

}  // namespace satin::batch
