#pragma once
// What a lens does with a depth image: where it focuses, and how large the blur of everything else is.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "satin/param.h"

namespace [[gnu::visibility("default")]] satin {

/// What the values of a depth image mean.
enum class DepthKind : std::uint8_t {
  disparity,  ///< inverse distance: large is near, 0 is infinitely far
  depth       ///< distance: small is near; 0 and less are unknown
};

/// Where the depth of a picture comes from.
enum class DepthSource : std::uint8_t {
  image,    ///< an image of its own
  alpha,    ///< the last channel of the picture, which is then no opacity
  channel,  ///< a named channel of the picture's file; a caller of the library gives it as an image of its
            ///< own
  photo     ///< what the photograph carries (satin/photo_depth.h); a caller gives it as an image of its own
};

/// One channel of several.
struct DepthChannel {
  int index = 0;       ///< from 0
  std::string name{};  ///< not empty: that of a file, by which a command finds it; then the index is not used

  /// The first one.
  DepthChannel() = default;
  /// 2 is a channel.
  // NOLINTNEXTLINE(google-explicit-constructor)
  DepthChannel(int number) : index(number) {}
  /// And "depth.V" is one.
  // NOLINTNEXTLINE(google-explicit-constructor)
  DepthChannel(std::string channel_name) : name(std::move(channel_name)) {}
};

/// How values of a depth image become the signed radius of each pixel's circle of confusion, positive for
/// what is nearer than the focus.
///
/// The value of a pixel is what is stored times `depth_scale`. With K the strength, r = K (d - d_focus) of
/// disparities and r = K (1 / z - 1 / z_focus) of depths, in pixels of the picture; radii are rounded to
/// 1/256 pixel, ties up, and held within `max_radius`.
///
/// A strength of P % makes the range of the depth span P % of the longer side W of the picture, whatever the
/// unit of the depth: K = P / 100 W / (d_high - d_low), where d_low and d_high are the 0.5 and the 99.5
/// percentile of the known disparities (1 / z of depths), the nearest to the outside of two values. Where
/// all values are the same, K is 0.
///
/// A lens of focal length f and f-number N before a sensor of width S has, with all lengths in one unit and W
/// the longer side of the picture in pixels, K = (W / S) f^2 z_focus / (2 N (z_focus - f)). Any of
/// `f_number`, `focal_length` and `sensor_width` chooses it; those not given are f/2.8, 50 mm and 36 mm.
/// Disparities are then the inverse of distances in the same unit.
struct LensFocus {
  DepthSource depth_from = DepthSource::image;  ///< where it comes from
  DepthKind depth_kind = DepthKind::disparity;  ///< what its values mean; a photograph tells it
  /// Channel of a depth image that has several; unset: it has one, or grey and alpha.
  std::optional<DepthChannel> depth_channel;
  /// Value of what is stored as 1; unset: 1/255 for u8, 1/65535 for u16, 1 for floats.
  std::optional<double> depth_scale;
  /// Values of the nearest and of the farthest depth that an image without a unit can store, in place of a
  /// scale: disparities (the first one larger) or distances (the first one smaller, above 0).
  /// Stored values from 0 to 255, 65535 or 1 lie evenly between them, near ones high in a disparity and low
  /// in a depth, unless inverted.
  std::optional<ValueRange> depth_range;
  /// Near and far are the other way round: v becomes white - v, for floats 1 - v, before it is scaled.
  bool invert_depth = false;
  /// Radius of the median that the depth image is replaced by before anything else, in its pixels, 0 to 512:
  /// thin outliers go, edges stay. What means that nothing is known counts like a value. 0: none.
  int depth_despeckle = 0;
  /// A stored value that means that nothing is known. NaN and infinity always mean that.
  std::optional<double> unknown;

  /// The value that is sharp: scaled, and as stored where depth is inverted. One that no known value of the
  /// depth image reaches, with the sharp range around it, is refused, but for a depth image of one value.
  /// At most one of the two.
  std::optional<double> focus;
  /// The place in the upright picture that is sharp: the median of the known values of 5 x 5 pixels of the
  /// depth image around it (the lower one of two), of those that exist. Unset, like `focus`: the middle.
  std::optional<Point> focus_at;
  /// Values that differ from the focus by at most so much are sharp too; radii grow from there on. Unset: 0,
  /// or 1 % of the range of soft depth, at least half of whose silhouettes are ramps, if no lens is given.
  std::optional<double> sharp_range;

  /// K in pixels for a value of 1, or a percentage; 1 % if no lens is given either.
  std::optional<Length> strength;
  std::optional<double> f_number;      ///< N
  std::optional<double> focal_length;  ///< f in mm
  std::optional<double> sensor_width;  ///< S in mm, along the picture's longer side
  double depth_unit = 1000;            ///< mm in a unit of depth: 1000 where depth is in metres
  double max_radius = 64;              ///< pixels, up to 512
};

}  // namespace satin
