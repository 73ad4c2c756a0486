#pragma once

#include <optional>

#include "satin/device.h"
#include "satin/filters/blur.h"
#include "satin/image.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// Parameters of unsharp().
struct Unsharp {
  double amount = 0.5;               ///< 0: the input; 0 to 1000
  Radius radius = 5;                 ///< how far the mean reaches, in pixels or percent, fractions too
  std::optional<double> sigma{};     ///< standard deviation of the kernel in pixels, instead of the radius
  Kernel kernel = Kernel::gaussian;  ///< of the mean
  double threshold = 0;  ///< differences up to this stay: fraction of white (floats: the value itself)
  Border border = Border::shrink;  ///< all but constant
  Space space = Space::encoded;    ///< of the values
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
};

/// Unsharp masking: v + amount (v - m) where |v - m| > threshold, otherwise v; m is the mean that blur()
/// takes with this kernel and radius. Small radii sharpen edges; large ones with small amounts bring up local
/// contrast (amount 0.2, radius 5%).
///
/// Values are those stored unless `space` says linear. That is the custom, and it looks even: a step and its
/// mirror image get halos of one strength, where linear light makes the bright ones much stronger; amounts
/// and thresholds mean what they mean in other programs. The threshold is hard, as it is there too.
///
/// The mean is not rounded to the picture's type: it has 8 bits more below the point, and the difference,
/// product and sum are double. 8- and 16-bit results are clamped and rounded to nearest, ties up; floats are
/// not clamped. Alpha comes back as it was; straight alpha weights the mean, so that what is transparent
/// leaves no trace, and fully transparent pixels keep their bytes. Amount 0, or radius 0, is the identity,
/// byte for byte; so is a constant picture. With a mask the rounded result is blended with the picture.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels. The result has the input's shape, is the same on every device,
/// byte for byte, and does not alias the input. Throws Error(usage) for parameters out of range and for
/// shapes that do not fit, Error(input) for NaN or infinity in the picture.
[[nodiscard]] Image unsharp(const Device& device, const ImageView& image, const Unsharp& parameters = {});

/// The prepared form: inputs of run() are the picture and the mask. Of the view in `parameters` only the
/// shape is read.
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const Unsharp& parameters);

}  // namespace satin
