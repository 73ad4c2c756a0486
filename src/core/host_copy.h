#pragma once
#include "satin/image.h"

namespace satin {

/// Copies pixels between two host views of one shape, whatever their strides.
void copy_pixels(const ImageView& from, const MutableImageView& to);

}  // namespace satin
