#pragma once

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& normalize_record();  ///< record of the filter `normalize`

/// Parameters of normalize().
struct Normalize {
  int window = 101;         ///< side of the window in pixels; odd, 1 to 32767, also larger than the picture
  double mean = 0.95;       ///< target of the mean, as a fraction of white (floats: the value)
  double deviation = 0.25;  ///< target of the standard deviation in the same unit; 0 or more
  double gain = 2;          ///< largest factor for differences from the mean; 0 or more
  Border border = Border::shrink;  ///< any border except constant
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes

  static const FilterRecord& record() { return normalize_record(); }  ///< record of the filter
};

/// Evens out light and contrast: (v - m) deviation / max(s, deviation / gain) + mean, where m and s are mean
/// and standard deviation of the values in a window around the pixel. This removes slow changes of brightness
/// and amplifies faint detail, and noise, by at most `gain`. The defaults make the paper of a page nearly
/// white and its noise faint; for photographs a mean of 0.5, a deviation of 0.2 and a gain of 5 are usual.
///
/// The filter works on stored values, each colour separately; alpha is ignored and returned unchanged.
/// Pixels: u8, u16 or f32; 1 to 4 channels. m and s are those of local_mean() and local_deviation() before
/// these are rounded (floats are cut to 30 bits below the largest magnitude, for windows of n pixels to (62 -
/// log2 n) / 2 if that is less); the rest is double, in this order. 8- and 16-bit results are clamped and
/// rounded to nearest, ties up; floats are not clamped. A constant picture becomes `mean`. With a mask the
/// result is blended before it is rounded.
///
/// Wallis, An approach to the space variant restoration and enhancement of images, 1976.
[[nodiscard]] inline Image normalize(const Device& device, const ImageView& image,
                                     const Normalize& parameters = {}) {
  return run_filter(Normalize::record(), device, image, &parameters);
}

}  // namespace satin
