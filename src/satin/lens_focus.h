#pragma once
// Parameters of a lens: where it focuses, and how depth becomes the radius of the blur.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "satin/image.h"
#include "satin/param.h"

namespace [[gnu::visibility("default")]] satin {

/// Meaning of the values of a depth image.
enum class DepthKind : std::uint8_t {
  disparity,  ///< inverse distance: large is near, 0 is infinitely far
  depth       ///< distance: small is near; 0 and less are unknown
};

/// Source of a picture's depth.
enum class DepthSource : std::uint8_t {
  image,    ///< an image of its own
  alpha,    ///< the last channel of the picture, which is then not opacity
  channel,  ///< a named channel of the picture's file; callers of the library pass it as an image
  photo,    ///< the depth inside the photograph (satin/photo_depth.h); callers of the library pass it as an
            ///< image
  model     ///< what a model estimates (satin/image_model.h); callers of the library pass it as an image
};

/// Whether a depth image is treated as soft. Soft depth has ramps beside the edges of the picture in place of
/// silhouettes, as phones and learned estimators make it. Treated as soft, its silhouettes are moved to the
/// edges of the picture.
enum class SoftDepth : std::uint8_t {
  automatic,  ///< if at least a quarter of its silhouettes are ramps
  on,
  off  ///< radii follow from the depth alone: for rendered depth that is blurred, whose ramps are in place
};

/// Selects a channel of a picture.
struct DepthChannel {
  int index = 0;       ///< index from 0, used if `name` is empty
  std::string name{};  ///< name of the channel in a file, which the command looks up

  /// Selects the first channel.
  DepthChannel() = default;
  /// Selects a channel by its index.
  // NOLINTNEXTLINE(google-explicit-constructor)
  DepthChannel(int number) : index(number) {}
  /// Selects a channel by its name in the file, such as "depth.V".
  // NOLINTNEXTLINE(google-explicit-constructor)
  DepthChannel(std::string channel_name) : name(std::move(channel_name)) {}
};

/// An end of the known depth, without the last 2 % of its values, which may be wrong.
enum class DepthEnd : std::uint8_t {
  nearest,  ///< the value that 2 % of the known values are nearer than
  farthest  ///< the value that 2 % of the known values are farther than
};

/// The depth that is sharp: a value, or an end of the known depth, whatever its unit.
struct FocusDepth {
  double value = 0;               ///< scaled, and as stored if depth is inverted; not used with `end`
  std::optional<DepthEnd> end{};  ///< the end that is sharp

  /// Focuses on a value.
  // NOLINTNEXTLINE(google-explicit-constructor): 3.5 is a depth
  constexpr FocusDepth(double depth) : value(depth) {}
  /// Focuses on an end of the depth.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr FocusDepth(DepthEnd which) : end(which) {}
};

/// Maps the values of a depth image to the signed radius of each pixel's circle of confusion, which is
/// positive in front of the focus.
///
/// The value of a pixel is the stored value times `depth_scale`. With K the strength, r = K (d - d_focus) of
/// disparities and r = K (1 / z - 1 / z_focus) of depths, in pixels of the picture. Radii are rounded to
/// 1/256 pixel, ties up, and clamped to `max_radius`.
///
/// A strength of P % makes the range of the depth map to radii that differ by P % of the longer side W of the
/// picture, whatever the unit of the depth: K = P / 100 W / (d_high - d_low), where d_low and d_high are the
/// 0.5 and the 99.5 percentile of the known disparities (1 / z of depths), rounded outwards to stored values.
/// If all values are equal, K is 0.
///
/// A lens of focal length f and f-number N before a sensor of width S has, with all lengths in one unit and W
/// the longer side of the picture in pixels, K = (W / S) f^2 z_focus / (2 N (z_focus - f)). Setting any of
/// `f_number`, `focal_length` and `sensor_width` selects this formula; the others default to f/2.8, 50 mm and
/// 36 mm. Disparities are then the inverse of distances in the same unit.
struct LensFocus {
  DepthSource depth_from = DepthSource::image;  ///< source of the depth
  DepthKind depth_kind =
      DepthKind::disparity;  ///< meaning of the values; set by the photograph if the depth comes from it
  /// Channel of a depth image with several channels. If unset, the image must have one channel, or grey and
  /// alpha.
  std::optional<DepthChannel> depth_channel;
  /// Value that a stored 1 represents. Unset: 1/255 for u8, 1/65535 for u16, 1 for floats.
  std::optional<double> depth_scale;
  /// Nearest and farthest value that an image without a unit can store, instead of a scale: disparities (the
  /// first larger) or distances (the first smaller and above 0). Stored values from 0 to 255, 65535 or 1 map
  /// linearly to this range. Near is the largest stored value of a disparity and the smallest of a depth,
  /// unless inverted.
  std::optional<ValueRange> depth_range;
  /// Exchanges near and far: a stored v becomes white - v (floats: 1 - v) before scaling.
  bool invert_depth = false;
  /// Radius of a median over the depth image before anything else, in its pixels, 0 to 512; 0: none. It
  /// removes thin outliers and keeps edges. Unknown values count as values.
  int depth_despeckle = 0;
  /// Stored value that marks unknown depth. NaN and infinity always do.
  std::optional<double> unknown;

  /// Depth that is sharp. A value is refused if the depth image has no known value within the sharp range
  /// around it, unless all its values are equal. Excludes `focus_at`.
  std::optional<FocusDepth> focus;
  /// Point of the upright picture that is sharp: the focus is the median (the lower of two) of the known
  /// values among 5 x 5 pixels of the depth image around it. If neither this nor `focus` is set, it is the
  /// centre.
  std::optional<Point> focus_at;
  /// Largest difference from the focus that is still sharp; radii grow beyond it. Unset: 0, or 1 % of the
  /// range if depth is soft.
  std::optional<double> sharp_range;
  SoftDepth soft = SoftDepth::automatic;  ///< whether depth is soft

  /// K in pixels for a value of 1, or a percentage. Unset: 1 %, unless a lens is given.
  std::optional<Length> strength;
  std::optional<double> f_number;      ///< N
  std::optional<double> focal_length;  ///< f in mm
  std::optional<double> sensor_width;  ///< S in mm, along the picture's longer side
  double depth_unit = 1000;            ///< millimetres per unit of depth: 1000 for metres
  /// Largest radius in pixels, up to 512; larger ones are held to it. Unset: 64, or the radius that a
  /// strength in percent spans if that is larger.
  std::optional<double> max_radius;
};

/// Returns the largest radius of a picture of this shape, in pixels.
[[nodiscard]] double max_radius_of(const LensFocus& lens, const Shape& picture);

}  // namespace satin
