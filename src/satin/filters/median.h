#pragma once
// Order statistics of a window: medians and percentiles.

#include <optional>

#include "satin/mask_mode.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& median_record();  ///< record of the filter `median`

/// Parameters of median().
struct Median {
  Radius radius = 1;  ///< half the window, without the centre pixel, in whole pixels; percentages are rounded
  double percent = 50;  ///< rank in percent: 0 the smallest value, 100 the largest; quantised to 1/10000
  double threshold =
      0;  ///< largest difference that keeps the pixel, as a fraction of white (floats: the value)
  Border border = Border::shrink;  ///< values that a window reads outside the picture
  double border_value =
      0;  ///< value of Border::constant in every channel, as a fraction of white (floats: the value)
  double radius_min = 0;  ///< radius where the radius map is 0
  std::optional<double>
      radius_max{};        ///< radius where the radius map is at its type's maximum (floats: at 1)
  ImageView radius_map{};  ///< radius per pixel: one channel, u8, u16 or f32, with the picture's aspect
  ImageView mask{};        ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
  MaskMode mask_mode = MaskMode::blend;  ///< effect of the mask

  static const FilterRecord& record() { return median_record(); }  ///< record of the filter
};

/// Replaces every pixel by the value of rank ceil(percent n / 100), at least 1, counted from the smallest of
/// the n values in a window of (2 radius.x + 1) x (2 radius.y + 1) pixels. So the median of an even count is
/// the lower of the two middle values, 0 percent equals erode(), and 100 percent equals dilate().
///
/// Pixels: u8, u16 or f32 as stored; 1 to 4 channels, each separately, also alpha. With straight alpha the
/// colours of fully transparent pixels do not count, and where the result is fully transparent the input's
/// colour bytes stay. Radii are whole pixels from 0 to 512: 2.5 is refused, while percentages of the longer
/// side and values of a radius map are rounded to nearest, ties up. Radius 0 keeps the bytes.
///
/// A border that repeats pixels counts each as often as it appears in the window; shrink counts the pixels
/// that exist. MaskMode::exclude computes the rank among the pixels whose mask is not 0; the values of the
/// others are ignored, even NaN. With a threshold a pixel changes only if it differs from the value of that
/// rank by more: outliers are removed and everything else keeps its bytes.
///
/// -0 counts as below 0. Throws Error(usage) for parameters and shapes that do not fit, Error(input) for NaN
/// or infinity in the picture, or a map outside 0 to 1.
///
/// Huang, Yang and Tang, A fast two-dimensional median filtering algorithm, 1979; Perreault and Hebert,
/// Median filtering in constant time, 2007; Batcher, Sorting networks and their applications, 1968.
[[nodiscard]] inline Image median(const Device& device, const ImageView& image,
                                  const Median& parameters = {}) {
  return run_filter(Median::record(), device, image, &parameters);
}

}  // namespace satin
