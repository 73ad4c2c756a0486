#pragma once

#include "satin/lens_focus.h"
#include "satin/lens_style.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// Parameters of dof().
struct Dof {
  LensFocus lens{};             ///< from depth to the radius of every pixel's blur
  LensStyle style{};            ///< how what is blurred looks
  Space space = Space::linear;  ///< of the blur; f32 is always linear
  ImageView depth{};            ///< of the picture's proportions, u8, u16 or f32; see LensFocus
  ImageView mask{};      ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
  ImageView aperture{};  ///< the shape of lamps: one channel, u8, u16 or f32, of any size; see LensStyle
};

/// Depth of field from one picture and its depth.
///
/// Every pixel spreads over its own circle of confusion; groups of depth are composited front to back. So a
/// blurred near thing covers what is behind it with a soft edge, and a sharp subject does not bleed.
///
/// 1. Ramps of depth between two surfaces are sharpened. Radii are parted into at most 5 groups (quality
///    `fast`: 4) by the optimal partition of their histogram (Fisher 1958).
/// 2. Pixels on silhouettes are mixtures: two surfaces' colours and shares are estimated from 5 x 5 pixels.
/// 3. Behind nearer things every group goes on: means over windows of up to 65 x 65 pixels, weighted by the
///    share of the group there.
/// 4. A sample adds the corner deltas of its kernel, a staircase with the variance of the disc (of the
///    hexagon or square); one 2-D prefix sum integrates all of them (the adjoint of Crow's box, 1984). Lamps,
///    bright points that stand alone, are drawn by the exact aperture, row by row (LensStyle).
/// 5. Per group A = min(1, W), out += T A C / W, T *= 1 - A; at the end out / (1 - T).
///
/// Pixels: u8, u16 or f32 (linear, negative values count as 0), 1 to 4 channels; straight alpha weights the
/// colours. Blurs in linear light. A pixel whose result is what it was keeps its bytes. What would spread
/// from outside the picture is not invented. The result is the same on every device, byte for byte: linear
/// integers of 16 (u8), 24 (u16) or up to 31 bits (f32) and specified float steps. Memory: 62 bytes a pixel
/// of u8 RGB on the CPU; samples of hidden and mixed things have room for half as many as pixels (and 65536),
/// and a group whose samples do not fit has none of them.
///
/// Throws Error(usage) for parameters and inputs that do not fit, Error(input) for NaN or infinity in the
/// picture and for depth of which nothing is known.
[[nodiscard]] Image dof(const Device& device, const ImageView& image, const Dof& parameters);

/// The prepared form; run() takes the picture, the depth and the mask. Of views only shapes are read.
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const Dof& parameters);

/// What `dof` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& dof_record();

}  // namespace satin
