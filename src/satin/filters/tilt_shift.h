#pragma once

#include "satin/lens_style.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

[[nodiscard]] const FilterRecord& tilt_shift_record();  ///< record of the filter `tilt-shift`

/// Parameters of tilt_shift().
struct TiltShift {
  Point place{{50, true}, {50, true}};  ///< point on the middle line of the sharp band
  /// Clockwise angle of the band in degrees; 0 is horizontal. The side below a horizontal band is near.
  double angle = 0;
  double band = 10;             ///< width of the sharp band, in percent of the picture's longer side
  double falloff = 30;          ///< distance from the band at which the blur is full, in the same unit
  double radius = 16;           ///< radius of the full blur in pixels, up to 512
  LensStyle style{};            ///< appearance of blurred parts
  Space space = Space::linear;  ///< space of the blur
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes

  static const FilterRecord& record() { return tilt_shift_record(); }  ///< record of the filter
};

/// Imitates a tilted lens over a plane, such as a town seen from a roof: the picture is sharp along a line
/// and blurred on both sides of it. It equals dof() with a synthetic depth. The signed radius of a pixel
/// grows from 0 at the edge of the band to `radius` at the distance `falloff` and stays constant beyond. It
/// is rounded to 1/256 pixel and positive (near) on the side below a horizontal band.
///
/// Pixels, precision, borders, memory and errors are those of dof(). A radius of 0 gives the input's bytes.
[[nodiscard]] inline Image tilt_shift(const Device& device, const ImageView& image,
                                      const TiltShift& parameters = {}) {
  return run_filter(TiltShift::record(), device, image, &parameters);
}

}  // namespace satin
