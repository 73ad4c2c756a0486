#pragma once
// How a lens draws what is out of focus.

#include <cstdint>
#include <optional>

namespace [[gnu::visibility("default")]] satin {

/// The shape of a point that is out of focus; its size is told by the radius of a disc of the same variance.
enum class Bokeh : std::uint8_t {
  disc,     ///< of a wide-open lens
  hexagon,  ///< of six blades
  square,   ///< of four blades
  polygon   ///< of as many blades as LensStyle::blades says
};

/// Time against exactness.
enum class LensQuality : std::uint8_t {
  fast,  ///< at most 4 groups of depth, discs of 12 corners, from radius 12 on pixels 2 x 2
  high   ///< at most 5 groups, discs of up to 20 corners
};

/// What a filter gives: its result, or a picture of what it saw, which is made before anything is spread.
///
/// Shades are opaque linear light; grey for one or two channels.
enum class LensDebug : std::uint8_t {
  off,     ///< the result
  coc,     ///< |radius| / the largest possible radius: red is nearer than the focus, blue farther
  groups,  ///< one colour for each group of depth: red, orange, green, blue, violet; grey: brighter is nearer
  hidden   ///< what was made up behind nearer things, for each pixel of the nearest group behind it; else
           ///< black
};

/// How what is out of focus looks.
struct LensStyle {
  LensQuality quality = LensQuality::high;  ///< how exact
  Bokeh bokeh = Bokeh::disc;                ///< the shape of points
  /// Factor by which lamps of 90 to 100 % linear light are taken to have been brighter before they were
  /// clipped, from 0 on at 90 % to all of it at 100 %, where they are out of focus; 1 (off) to 64. Floats are
  /// taken as they are where any value is above 1. Unset: 4 for u8, otherwise 1. A lamp is a pixel of more
  /// than 80 % that is twice as bright as the mean of about 49 x 49 around it.
  std::optional<double> highlights;
  // The shape of lamps that are out of focus by 4 pixels and more, drawn exactly. A filter may take a picture
  // for it in place of bokeh, blades, onion and squeeze: its longer side spans the circle of confusion, white
  // is clear and black opaque. One of less than a twentieth of white on average makes lamps darker.
  std::optional<int> blades;   ///< 3 to 16: makes a polygon of a disc; unset: a polygon has 6
  double blade_angle = 0;      ///< degrees that the opening is turned clockwise: at 0 it stands on a side
  double blade_curvature = 0;  ///< 0: the sides are straight, 1: they make a circle
  double cats_eye = 0;  ///< 0 to 1: how much of the opening the lens cuts in the corners of the picture
  double onion = 0;     ///< 0 to 1: how dark every other ring is
  double squeeze = 1;   ///< 0.5 to 2: how much higher than wide it is, for what is no lamp as well
  LensDebug debug = LensDebug::off;  ///< the result, or what led to it
};

}  // namespace satin
