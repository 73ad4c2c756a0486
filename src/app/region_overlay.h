#pragma once
// Regions drawn over a picture, for people who look rather than read.

#include <span>

#include "satin/image.h"
#include "satin/regions.h"

namespace satin::app {

/// The picture as 8-bit RGB with the box of every region outlined just outside of its pixels and its label
/// beside it, bright on dark. Pictures with a longer side below 600 pixels are magnified by a whole factor,
/// so that the digits can be read; lines and digits grow with larger ones. Alpha is dropped; floats are taken
/// as linear light. u8, u16 or f32, host memory, interleaved.
[[nodiscard]] Image region_overlay(const ImageView& picture, std::span<const Region> regions);

}  // namespace satin::app
