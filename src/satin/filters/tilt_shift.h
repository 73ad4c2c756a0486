#pragma once

#include "satin/lens_style.h"
#include "satin/param.h"
#include "satin/plan.h"

namespace [[gnu::visibility("default")]] satin {

/// Parameters of tilt_shift().
struct TiltShift {
  Point place{{50, true}, {50, true}};  ///< the middle of the sharp band goes through it
  /// The band's degrees: 0 is level, positive turns clockwise. What lies below a level band is near.
  double angle = 0;
  double band = 10;             ///< width of what is sharp, in percent of the picture's longer side
  double falloff = 30;          ///< distance from the band at which the blur is full, likewise
  double radius = 16;           ///< of the full blur, in pixels, up to 512
  LensStyle style{};            ///< how what is blurred looks
  Space space = Space::linear;  ///< of the blur
  ImageView mask{};  ///< blend weight: one channel, u8 or u16, of the picture's size; 0 keeps the bytes
};

/// What a tilted lens does to a plane, such as a town seen from a roof: sharp along a line, less so on both
/// sides of it. It is dof() with a depth that is made here: the signed radius of a pixel grows from 0 at the
/// edge of the band to `radius` at the distance `falloff` and stays there; it is rounded to 1/256 pixel,
/// positive (near) on the side that lies below a level band.
///
/// Pixels, precision, borders, memory and errors are those of dof(). A radius of 0 gives the input's bytes.
[[nodiscard]] Image tilt_shift(const Device& device, const ImageView& image,
                               const TiltShift& parameters = {});

/// The prepared form; run() takes the picture and the mask. Of the view only its shape is read.
[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const TiltShift& parameters);

/// What `tilt-shift` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& tilt_shift_record();

}  // namespace satin
