#pragma once

#include "satin/lens_focus.h"
#include "satin/lens_style.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& dof_record();  ///< record of the filter `dof`

/// Parameters of dof().
struct Dof {
  LensFocus lens{};             ///< conversion from depth to the radius of every pixel's blur
  LensStyle style{};            ///< appearance of blurred parts
  Space space = Space::linear;  ///< space of the blur; f32 is always linear
  ImageView depth{};            ///< depth image with the picture's proportions, u8, u16 or f32; see LensFocus
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
  /// Mask of the subject: one channel, u8 or u16, of the picture's size. Depth is corrected near its edge.
  ImageView subject{};
  ImageView aperture{};  ///< shape of the lens: one channel, u8, u16 or f32, of any size; see LensStyle

  static const FilterRecord& record() { return dof_record(); }  ///< record of the filter
};

/// Adds depth of field to a picture with a depth image.
///
/// Every pixel spreads over its own circle of confusion; groups of depth are composited front to back. So a
/// blurred near object covers its background with a soft edge, and a sharp subject does not bleed.
///
/// 0. With a subject, silhouettes of depth are moved to the edge of its mask (at half of white), from up to
///    1/160 of the longer side away (4 to 32 pixels).
/// 1. Ramps of depth between two surfaces are sharpened. Radii are divided into at most 5 groups (quality
///    `fast`: 4) by the optimal partition of their histogram (Fisher 1958).
/// 2. Pixels on silhouettes are mixtures: two surfaces' colours and shares are estimated from 5 x 5 pixels.
/// 3. Every group is continued behind nearer objects by means over windows of up to 65 x 65 pixels, weighted
///    by the share of the group.
/// 4. A sample adds the corner deltas of its kernel, a staircase with the variance of the disc (of the
///    hexagon or square); one 2-D prefix sum integrates all of them (the adjoint of Crow's box, 1984). Lamps,
///    bright points that stand alone, are drawn by the exact aperture, row by row (LensStyle).
/// 5. Per group A = min(1, W), out += T A C / W, T *= 1 - A; at the end out / (1 - T).
///
/// Pixels: u8, u16 or f32 (linear, negative values count as 0), 1 to 4 channels; straight alpha weights the
/// colours. Blurs in linear light. A pixel whose value does not change keeps its bytes. Nothing spreads in
/// from outside the picture. The result is the same on every device, byte for byte: linear integers of 16
/// (u8), 24 (u16) or up to 31 bits (f32) and specified float steps. Memory on the CPU: 53 bytes per pixel of
/// u8 RGB and up to 25 MB for each thread. There is room for half as many samples of hidden and mixed
/// surfaces as pixels (and 65536); a group whose samples do not fit gets none of them.
///
/// Throws Error(usage) for parameters and inputs that do not fit, Error(input) for NaN or infinity in the
/// picture and for a depth image without any known value.
[[nodiscard]] inline Image dof(const Device& device, const ImageView& image, const Dof& parameters) {
  return run_filter(Dof::record(), device, image, &parameters);
}

}  // namespace satin
