#pragma once
// Small masks and maps in the size of their picture.

#include "satin/device.h"
#include "satin/image.h"

namespace [[gnu::visibility("default")]] satin {

/// Returns a mask of u8 in the size of the picture. Where the samples of the map around a pixel are one
/// surface they are interpolated; where they are two, the pixel belongs to the one that looks like it, as for
/// depth maps that are smaller than their picture. `map` has one channel of u8, u16 or f32 from 0 to 1, which
/// is clipped. Both are interleaved host pictures, `picture` of u8, u16 or f32; the device is a CPU. Throws
/// Error(usage) for others.
[[nodiscard]] Image enlarged_along_edges(const Device& device, const ImageView& map,
                                         const ImageView& picture);

}  // namespace satin
