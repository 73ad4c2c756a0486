#pragma once
// Appearance of the parts of a picture that are out of focus.

#include <cstdint>
#include <optional>

namespace [[gnu::visibility("default")]] satin {

/// The shape of a point that is out of focus. All shapes of one radius have the variance of the disc.
enum class Bokeh : std::uint8_t {
  disc,     ///< a wide-open lens
  hexagon,  ///< a lens with six blades
  square,   ///< a lens with four blades
  polygon   ///< a lens with LensStyle::blades blades
};

/// Trade-off between speed and accuracy.
enum class LensQuality : std::uint8_t {
  fast,  ///< at most 4 groups of depth, discs with 12 corners
  high   ///< at most 5 groups of depth, discs with up to 36 corners
};

/// Output of the filter: its result, or a picture of an intermediate step, made before any sample is spread.
///
/// The pictures are opaque and in linear light; grey for one or two channels.
enum class LensDebug : std::uint8_t {
  off,     ///< the result
  coc,     ///< |radius| / largest radius: red is nearer than the focus, blue farther; a green outline of the
           ///< focus
  groups,  ///< one colour per group of depth (red, orange, green, blue, violet); in grey, brighter is nearer
  hidden   ///< colours filled in behind nearer things, for each pixel of the nearest group behind it; else
           ///< black
};

/// Appearance of everything that is out of focus.
struct LensStyle {
  LensQuality quality = LensQuality::high;  ///< accuracy
  Bokeh bokeh = Bokeh::disc;                ///< shape of points
  /// Factor that restores the brightness of clipped lamps where they are out of focus, 1 (off) to 64. It is
  /// applied in full at 100 % linear light and 8 pixels of radius; it fades to none at 90 %, at 4 pixels, and
  /// where a lamp looks like texture or like a wide surface nearby. Floats with any value above 1 are not
  /// changed. Unset: 4 for u8, otherwise 1. A lamp is above 80 % and twice as bright as 49 x 49 pixels
  /// around.
  std::optional<double> highlights;
  // The shape of lamps that are out of focus by 4 pixels or more, which are drawn exactly. A filter may
  // accept a picture of the aperture instead of bokeh, blades, onion and squeeze. Its longer side is as
  // long as the circle of confusion, and the centroid of its light stays where the lamp is; white is clear
  // and black opaque. An aperture with a mean below a twentieth of white makes lamps darker. From 8 pixels
  // on everything else has the outline of the blades or of the picture, in up to 18 boxes: of the parts that
  // are at least half as bright as white, unless they fill less than a sixteenth of the circle.
  std::optional<int>
      blades;              ///< number of blades, 3 to 16; turns a disc into a polygon; unset: a polygon has 6
  double blade_angle = 0;  ///< clockwise rotation of the opening in degrees; at 0 it stands on a side
  double blade_curvature = 0;  ///< 0: straight sides, 1: the sides form a circle
  double cats_eye = 0;  ///< share of the opening that the lens cuts off in the corners of the picture, 0 to 1
  double onion = 0;     ///< darkness of every second ring, 0 to 1
  double squeeze = 1;   ///< height of the shape over its width, 0.5 to 2; also applies outside lamps
  /// Share of the grain of the picture that blurred parts get back, 0 to 1. It is measured by level and
  /// channel, in focus where that is smooth enough; pictures of one size get the same noise.
  double grain = 0;
  LensDebug debug = LensDebug::off;  ///< result, or a picture of an intermediate step
};

}  // namespace satin
