#pragma once
// A picture as a mask, and work on its shape.

#include "satin/plan.h"
#include "satin/regions.h"

namespace [[gnu::visibility("default")]] satin {

/// What grow, shrink, open and close move the outline by.
enum class MaskShape {
  disc,  ///< every pixel whose centre lies within the radius, which may be fractional
  box    ///< (2 radius + 1)^2 pixels; the radius is whole
};

/// Where the ramp of a soft edge lies.
enum class FeatherSide {
  inward,   ///< inside alone: what is outside stays black
  outward,  ///< outside alone: what is inside stays white
  centred   ///< half of it on each side
};

/// Parameters of mask(), in the order in which they are applied; the defaults do nothing but level.
struct Mask {
  double level = 0.5;           ///< inside is what is above this fraction of white (floats: the value itself)
  int fill_holes = 0;           ///< holes of up to this many pixels become inside
  bool fill_all_holes = false;  ///< holes of any size
  int min_area = 0;             ///< components of fewer pixels become outside
  double open = 0;              ///< px: shrink, then grow: what is thinner goes
  double close = 0;             ///< px: grow, then shrink: gaps that are narrower close
  double grow = 0;              ///< px
  double shrink = 0;            ///< px
  double feather = 0;           ///< px: width of a ramp from black to white, in steps of 1/256
  FeatherSide feather_side = FeatherSide::centred;  ///< where the ramp lies
  bool invert = false;                              ///< last of all: black for white
  MaskShape shape = MaskShape::disc;                ///< of open, close, grow and shrink
  Connectivity connectivity = Connectivity::eight;  ///< of what is inside; what is outside has the other one
};

/// White (255) inside, black (0) outside, grey only on the ramp of a feather: u8, one channel.
///
/// Values are those stored; of colours the luminance as in threshold(); alpha takes no part. A picture is
/// made black and white by `level` first. What is asked for then comes in this order: holes, specks, open,
/// close, grow, shrink, feather, invert. Other orders take several masks in a pipeline.
///
/// Holes are components of what is outside that do not touch the picture's border; they are connected by
/// sides where what is inside is connected by corners too, and the other way round. Specks are components of
/// what is inside; one of exactly min_area pixels stays.
///
/// Radii are from 0 to 16384 pixels. A pixel belongs to a disc if d^2 <= radius^2 in exact arithmetic, so
/// discs below 1 do nothing, 1 is a cross and 1.5 a square of 3 x 3. What lies outside the picture never
/// counts, as in OpenCV by default. So opening never adds and closing never removes a pixel, and doing either
/// again changes nothing.
///
/// Feather: the outline runs half-way between the centres of pixels inside and outside. s, the signed
/// distance to it, is d - 1/2 for a pixel inside whose nearest pixel outside is d away, centre to centre, and
/// 1/2 - d the other way round. With width w the value is 255 times s / w (inward: black at the outline), 1 +
/// s / w (outward: white at the outline), or 1/2 + s / w (centred), cut to 0..1 and correctly rounded; ties
/// go to the pixel's own side. So inverting a mask and exchanging inward and outward inverts the result.
///
/// Everything is exact in integers and the same on every device, byte for byte. The cost hardly depends on
/// the radii. Memory: 1 or 2 bytes a pixel between steps, up to 2 more for each radius and the feather (a
/// GPU: 4); for holes and specks, which wait for the number of components, 4 and what find_regions() says.
/// Throws Error(usage) for parameters out of range, Error(input) for NaN or infinity.
///
/// Meijster, Roerdink, Hesselink, A general algorithm for computing distance transforms in linear time, 2000.
[[nodiscard]] Image mask(const Device& device, const ImageView& image, const Mask& parameters = {});

[[nodiscard]] Plan plan(const Device& device, const Shape& shape, const Mask& parameters);

/// What `mask` is: parameters, inputs, output, reach (satin/filter.h).
[[nodiscard]] const FilterRecord& mask_record();

}  // namespace satin
