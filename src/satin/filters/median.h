#pragma once
// Order statistics of a window: medians and percentiles.

#include <optional>

#include "satin/mask_mode.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// Parameters of median().
struct Median {
  Radius radius = 1;  ///< half the window, without the pixel itself, in whole pixels; percentages are rounded
  double percent = 50;   ///< 0 the smallest value, 100 the largest; quantised to 1/10000
  double threshold = 0;  ///< a difference up to this one keeps the pixel: 0 to 1 of white (floats: as it is)
  Border border = Border::shrink;  ///< what a window sees outside the picture
  double border_value = 0;         ///< of Border::constant: every channel, 0 to 1 of white (floats: as it is)
  double radius_min = 0;           ///< radius where the radius map is 0
  std::optional<double>
      radius_max{};        ///< radius where the radius map is at its type's maximum (floats: at 1)
  ImageView radius_map{};  ///< radius per pixel: one channel, u8, u16 or f32, of the picture's size
  ImageView mask{};        ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
  MaskMode mask_mode = MaskMode::blend;  ///< exclude: pixels whose mask is 0 count in no window
};

/// The value of rank ceil(percent n / 100), at least 1, counted from the smallest of the n values in a window
/// of (2 radius.x + 1) x (2 radius.y + 1) pixels around every pixel. So the median of an even count is the
/// lower of the two in the middle, 0 percent gives what erode() gives, and 100 percent what dilate() gives.
///
/// Pixels: u8, u16 or f32 as stored; 1 to 4 channels, each by itself, alpha too. With straight alpha the
/// colours of fully transparent pixels do not count, and where the result is fully transparent the input's
/// colour bytes stay. Radii are whole pixels from 0 to 512: 2.5 is refused, percentages of the longer side
/// are rounded to nearest, ties up, and so is what a radius map says. Radius 0 keeps the bytes.
///
/// A border that repeats pixels counts each as often as the window shows it; shrink counts the pixels that
/// exist. MaskMode::exclude takes the rank among those pixels whose mask is not 0; what the others hold, NaN
/// too, is not looked at. With a threshold a value is replaced only where it differs from that of the wanted
/// rank by more: outliers go, all else keeps its bytes.
///
/// -0 counts as below 0. The result has the input's shape and is the same on every device, byte for byte. The
/// output lies where the input lies and does not alias it. Throws Error(usage) for parameters and shapes that
/// do not fit, Error(input) for NaN or infinity in the picture, or a map outside 0 to 1.
///
/// Huang, Yang and Tang, A fast two-dimensional median filtering algorithm, 1979; Perreault and Hebert,
/// Median filtering in constant time, 2007; Batcher, Sorting networks and their applications, 1968.
[[nodiscard]] Image median(const Device& device, const ImageView& image, const Median& parameters = {});

/// The prepared form; run() takes the picture, the radius map and the mask. Of views only shapes are read.
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const Median& parameters);

/// What `median` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& median_record();

}  // namespace satin
