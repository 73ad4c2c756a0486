#pragma once
// Turns a picture into a mask and changes the mask's shape.

#include "satin/plan.h"
#include "satin/regions.h"

namespace [[gnu::visibility("default")]] satin {

/// Structuring element of grow, shrink, open and close.
enum class MaskShape {
  disc,  ///< every pixel whose centre is within the radius, which may be fractional
  box    ///< (2 radius + 1)^2 pixels; the radius is whole
};

/// Position of the ramp of a soft edge.
enum class FeatherSide {
  inward,   ///< inside only: the outside stays black
  outward,  ///< outside only: the inside stays white
  centred   ///< half on each side
};

[[nodiscard]] const FilterRecord& mask_record();  ///< record of the filter `mask`

/// Parameters of mask(), in the order in which they are applied. The defaults only apply `level`.
struct Mask {
  double level = 0.5;           ///< pixels above this fraction of white (floats: the value) are inside
  int fill_holes = 0;           ///< largest number of pixels of a hole that becomes inside
  bool fill_all_holes = false;  ///< fills holes of any size
  int min_area = 0;             ///< smallest number of pixels of a component that stays inside
  double open = 0;              ///< radius in pixels to shrink and then grow by: removes thinner parts
  double close = 0;             ///< radius in pixels to grow and then shrink by: closes narrower gaps
  double grow = 0;              ///< radius in pixels to grow by
  double shrink = 0;            ///< radius in pixels to shrink by
  double feather = 0;           ///< width of the ramp from black to white in pixels, in steps of 1/256
  FeatherSide feather_side = FeatherSide::centred;  ///< position of the ramp
  bool invert = false;                              ///< exchanges black and white at the end
  MaskShape shape = MaskShape::disc;                ///< structuring element of open, close, grow and shrink
  Connectivity connectivity =
      Connectivity::eight;  ///< connectivity of the inside; the outside has the other one

  static const FilterRecord& record() { return mask_record(); }  ///< record of the filter
};

/// Makes a mask: u8, one channel, white (255) inside, black (0) outside, grey only on the ramp of a feather.
///
/// Stored values are compared with `level`, for colours the luminance as in threshold(); alpha is ignored.
/// The other steps follow in this order: holes, specks, open, close, grow, shrink, feather, invert. For
/// another order, put several masks into a pipeline.
///
/// Holes are components of the outside that do not touch the picture's border. They are connected by sides if
/// the inside is connected by corners too, and the other way round. Specks are components of the inside with
/// fewer than min_area pixels.
///
/// Radii are from 0 to 16384 pixels. A pixel belongs to a disc if d^2 <= radius^2 in exact arithmetic, so
/// discs below 1 do nothing, 1 is a cross and 1.5 a square of 3 x 3. Pixels outside the picture are ignored,
/// as in OpenCV by default. So opening never adds and closing never removes a pixel, and repeating either
/// changes nothing.
///
/// For the feather, the outline runs half-way between the centres of pixels inside and outside. s, the signed
/// distance to it, is d - 1/2 for a pixel inside whose nearest pixel outside is d away, centre to centre, and
/// 1/2 - d the other way round. With width w the value is 255 times s / w (inward: black at the outline), 1 +
/// s / w (outward: white at the outline), or 1/2 + s / w (centred), cut to 0..1 and correctly rounded; ties
/// go to the pixel's own side. So inverting a mask and exchanging inward and outward inverts the result.
///
/// Everything is exact in integers and the same on every device, byte for byte. The cost hardly depends on
/// the radii. Memory: 1 or 2 bytes per pixel between steps, and up to 2 more for each radius and the feather
/// (4 on a GPU). Holes and specks need 4 bytes per pixel and the memory of find_regions(), and wait for the
/// number of components. Throws Error(usage) for parameters out of range, Error(input) for NaN or infinity.
///
/// Meijster, Roerdink, Hesselink, A general algorithm for computing distance transforms in linear time, 2000.
[[nodiscard]] inline Image mask(const Device& device, const ImageView& image, const Mask& parameters = {}) {
  return run_filter(Mask::record(), device, image, &parameters);
}

}  // namespace satin
