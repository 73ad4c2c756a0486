#pragma once
// Erosion, dilation, opening and closing of grey and colour values by a rectangle.

#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& erode_record();  ///< record of the filter `erode`

/// Parameters of erode().
struct Erode {
  Radius radius = 1;  ///< half the window, without the centre pixel, in whole pixels; percentages are rounded
  Border border = Border::shrink;  ///< values that a window reads outside the picture
  double border_value =
      0;  ///< value of Border::constant in every channel, as a fraction of white (floats: the value)
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes

  static const FilterRecord& record() { return erode_record(); }  ///< record of the filter
};

[[nodiscard]] const FilterRecord& dilate_record();  ///< record of the filter `dilate`

/// Parameters of dilate(), with the meaning of Erode.
struct Dilate {
  Radius radius = 1;               ///< as Erode::radius
  Border border = Border::shrink;  ///< values that a window reads outside the picture
  double border_value = 0;         ///< as Erode::border_value
  ImageView mask{};                ///< as Erode::mask

  static const FilterRecord& record() { return dilate_record(); }  ///< record of the filter
};

[[nodiscard]] const FilterRecord& opening_record();  ///< record of the filter `opening`

/// Parameters of opening(), with the meaning of Erode.
struct Opening {
  Radius radius = 1;               ///< as Erode::radius
  Border border = Border::shrink;  ///< values that a window of either step reads outside the picture
  double border_value = 0;         ///< as Erode::border_value
  ImageView mask{};                ///< as Erode::mask

  static const FilterRecord& record() { return opening_record(); }  ///< record of the filter
};

[[nodiscard]] const FilterRecord& closing_record();  ///< record of the filter `closing`

/// Parameters of closing(), with the meaning of Erode.
struct Closing {
  Radius radius = 1;               ///< as Erode::radius
  Border border = Border::shrink;  ///< values that a window of either step reads outside the picture
  double border_value = 0;         ///< as Erode::border_value
  ImageView mask{};                ///< as Erode::mask

  static const FilterRecord& record() { return closing_record(); }  ///< record of the filter
};

/// Replaces every pixel by the smallest value in a window of (2 radius.x + 1) x (2 radius.y + 1) pixels. The
/// cost does not depend on the radius, except for one more step along rows for each factor of four.
///
/// Pixels: u8, u16 or f32 as stored; 1 to 4 channels, each separately, also alpha. With straight alpha the
/// colours of fully transparent pixels are ignored, and where the result is fully transparent the input's
/// colour bytes stay. Radii are whole pixels: 2.5 is refused, percentages of the longer side are rounded to
/// nearest, ties up. They go up to 2^20, also beyond the picture. Radius 0 keeps the bytes.
///
/// With shrink a window reads the pixels that exist. clamp, reflect and mirror give the same result, because
/// they repeat pixels that the window holds already. wrap reads the opposite side; constant adds one value
/// wherever the window leaves the picture. A mask blends the result into the picture, colours weighted by
/// straight alpha.
///
/// -0 counts as below 0.
///
/// van Herk, A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels,
/// 1992; Gil and Werman, Computing 2-D min, median, and max filters, 1993.
[[nodiscard]] inline Image erode(const Device& device, const ImageView& image, const Erode& parameters = {}) {
  return run_filter(Erode::record(), device, image, &parameters);
}

/// Replaces every pixel by the largest value in the window. Everything else is as for erode().
[[nodiscard]] inline Image dilate(const Device& device, const ImageView& image,
                                  const Dilate& parameters = {}) {
  return run_filter(Dilate::record(), device, image, &parameters);
}

/// Runs erode(), then dilate(): bright things that are narrower than the window vanish, and everything else
/// keeps its outline. A mask blends the result of both into the picture.
[[nodiscard]] inline Image opening(const Device& device, const ImageView& image,
                                   const Opening& parameters = {}) {
  return run_filter(Opening::record(), device, image, &parameters);
}

/// Runs dilate(), then erode(): dark things that are narrower than the window vanish. Everything else is as
/// for opening().
[[nodiscard]] inline Image closing(const Device& device, const ImageView& image,
                                   const Closing& parameters = {}) {
  return run_filter(Closing::record(), device, image, &parameters);
}

}  // namespace satin
