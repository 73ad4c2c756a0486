#pragma once
// Erosion and dilation of grey and colour values by a rectangle.

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// Parameters of erode().
struct Erode {
  Radius radius = 1;  ///< half the window, without the pixel itself, in whole pixels; percentages are rounded
  Border border = Border::shrink;  ///< what a window sees outside the picture
  double border_value = 0;         ///< of Border::constant: every channel, 0 to 1 of white (floats: as it is)
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
};

/// Parameters of dilate(): as those of erode().
struct Dilate {
  Radius radius = 1;               ///< as Erode::radius
  Border border = Border::shrink;  ///< what a window sees outside the picture
  double border_value = 0;         ///< as Erode::border_value
  ImageView mask{};                ///< as Erode::mask
};

/// The smallest value in a window of (2 radius.x + 1) x (2 radius.y + 1) pixels around every pixel, at a cost
/// that does not grow with the radius (but for a step along rows each time it grows fourfold).
///
/// Pixels: u8, u16 or f32 as stored; 1 to 4 channels, each by itself, alpha too. With straight alpha the
/// colours of fully transparent pixels take no part, and where the result is fully transparent the input's
/// colour bytes stay. Radii are whole pixels: 2.5 is refused, percentages of the longer side are rounded to
/// nearest, ties up. They go up to 2^20, also beyond the picture. Radius 0 keeps the bytes.
///
/// Borders: shrink sees the pixels that exist; clamp, reflect and mirror give the same, as they repeat only
/// what the window holds already; wrap sees the opposite side; constant also sees one value wherever the
/// window leaves the picture. A mask blends the result into the picture, colours weighted by straight alpha.
///
/// -0 counts as below 0. The result has the input's shape and is the same on every device, byte for byte. The
/// output lies where the input lies and does not alias it. Throws Error(usage) for parameters and shapes that
/// do not fit, Error(input) for NaN or infinity.
///
/// van Herk, A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels,
/// 1992; Gil and Werman, Computing 2-D min, median, and max filters, 1993.
[[nodiscard]] Image erode(const Device& device, const ImageView& image, const Erode& parameters = {});

/// The largest value in the window; everything else as erode().
[[nodiscard]] Image dilate(const Device& device, const ImageView& image, const Dilate& parameters = {});

/// The prepared forms; run() takes the picture and the mask. Of views only shapes are read.
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const Erode& parameters);
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const Dilate& parameters);

/// What `dilate` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& dilate_record();
/// What `erode` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& erode_record();

}  // namespace satin
