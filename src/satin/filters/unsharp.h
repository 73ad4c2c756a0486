#pragma once

#include <optional>

#include "satin/filters/blur.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& unsharp_record();  ///< record of the filter `unsharp`

/// Parameters of unsharp().
struct Unsharp {
  double amount = 0.5;               ///< strength, 0 (no change) to 1000
  Radius radius = 5;                 ///< reach of the mean in pixels or percent, also fractional
  std::optional<double> sigma{};     ///< standard deviation of the kernel in pixels, instead of the radius
  Kernel kernel = Kernel::gaussian;  ///< kernel of the mean
  double threshold =
      0;  ///< largest difference that is not amplified, as a fraction of white (floats: the value)
  Border border = Border::shrink;  ///< any border except constant
  Space space = Space::encoded;    ///< space of the values
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes

  static const FilterRecord& record() { return unsharp_record(); }  ///< record of the filter
};

/// Unsharp masking: v + amount (v - m) where |v - m| > threshold, otherwise v; m is the result of blur() with
/// this kernel and radius. Small radii sharpen edges; large radii with small amounts increase local contrast
/// (amount 0.2, radius 5%).
///
/// Stored values are used unless `space` is linear, so that a step up and a step down get halos of equal
/// strength, and amount and threshold have the same meaning as in other programs.
///
/// The mean is not rounded to the picture's type: it has 8 bits more below the point, and the difference,
/// product and sum are double. 8- and 16-bit results are clamped and rounded to nearest, ties up; floats are
/// not clamped. Alpha is returned unchanged. Straight alpha weights the mean, so that transparent pixels
/// leave no trace, and fully transparent pixels keep their bytes. With amount 0 or radius 0, and for a
/// constant picture, the bytes do not change. With a mask the rounded result is blended with the picture.
///
/// Pixels: u8, u16 or f32; 1 to 4 channels. Throws Error(usage) for parameters and shapes that do not fit,
/// Error(input) for NaN or infinity, and for floats so large that results could become infinite.
[[nodiscard]] inline Image unsharp(const Device& device, const ImageView& image,
                                   const Unsharp& parameters = {}) {
  return run_filter(Unsharp::record(), device, image, &parameters);
}

}  // namespace satin
