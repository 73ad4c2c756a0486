#pragma once

#include <optional>

#include "satin/filters/blur.h"
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
/// Values are those stored unless `space` says linear: so a step and its mirror image get halos of one
/// strength, and amounts and the hard threshold mean what they mean in other programs.
///
/// The mean is not rounded to the picture's type: it has 8 bits more below the point, and the difference,
/// product and sum are double. 8- and 16-bit results are clamped and rounded to nearest, ties up; floats are
/// not clamped. Alpha comes back as it was; straight alpha weights the mean, so that what is transparent
/// leaves no trace, and fully transparent pixels keep their bytes. With amount 0 or radius 0, and for a
/// constant picture, the bytes stay. With a mask the rounded result is blended with the picture.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels. The result has the input's shape, is the same on every device,
/// byte for byte, and does not alias the input. Throws Error(usage) for parameters and shapes that do not
/// fit, Error(input) for NaN or infinity, and for floats so large that results could become infinite.
[[nodiscard]] Image unsharp(const Device& device, const ImageView& image, const Unsharp& parameters = {});

/// The prepared form; run() takes the picture and the mask. Of the view only its shape is read.
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const Unsharp& parameters);

/// What `unsharp` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& unsharp_record();

}  // namespace satin
