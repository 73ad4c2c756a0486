#pragma once
// Signed radii of the circle of confusion, from a depth image or from a tilted plane.
//
// The radius of a pixel is r = K (1 / z - 1 / z_focus), with 1 / z the disparity and K the strength. Stored
// values follow a DepthRule, which the host works out; the focus and a strength in percent depend on the
// image and are found on the device, in a LensState. Everything is IEEE double, one correctly rounded
// operation after the other, so that all backends round alike.

#include <cstdint>

#include "core/maths/hd.h"
#include "core/with_type.h"
#include "depth/maths/signed_radius.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"
#include "satin/lens_focus.h"

namespace satin {

/// Source of the depth that is sharp.
enum class FocusSource : std::uint8_t {
  place,    ///< the median around a pixel of the depth image
  value,    ///< a given value
  nearest,  ///< LensState::nearest
  farthest  ///< LensState::farthest
};

/// How stored values of a depth image become radii, but for the focus that is found in the image.
struct DepthRule {
  bool distances = false;  ///< whether values are z; otherwise 1 / z
  double gain = 1;         ///< value = offset + gain * stored
  double offset = 0;
  bool has_unknown = false;
  double unknown = 0;  ///< stored value

  FocusSource focus_from = FocusSource::place;
  double focus = 0;          ///< value that is sharp, if given
  std::int64_t focus_x = 0;  ///< pixel of the depth image whose surroundings are sharp, if chosen by place
  std::int64_t focus_y = 0;
  double sharp_range = 0;
  bool sharp_range_given = false;
  SoftDepth soft = SoftDepth::automatic;

  /// K in 1/256 pixel for a difference of 1 in 1 / z. With a focal length F > 0, in units of depth, it is the
  /// K for a focus at infinity, to be divided by 1 - F / z_focus.
  double strength = 0;
  double focal_length = 0;
  /// Difference in radius between the percentiles of the depth, in 1/256 pixel, in place of `strength`; 0:
  /// not given.
  double spanned = 0;
  double largest = 0;  ///< 1/256 pixel
};

enum LensProblem : std::uint32_t {
  focus_on_unknown = 1,  ///< no value is known around the place that is to be sharp
  focus_too_near = 2,    ///< nearer than the focal length
  nothing_known = 4,
  focus_outside = 8,   ///< no known value is as near or as far as the focus
  mostly_clamped = 16  ///< more than half of the known values reach the largest radius
};

/// Findings of a run, in the backend's memory. Problems and counts add up until the host reads and clears
/// them.
struct LensState {
  double focus = 0;      ///< value that is sharp
  double near_edge = 0;  ///< 1 / z of the nearest depth that is sharp
  double far_edge = 0;   ///< 1 / z of the farthest depth that is sharp
  double strength = 0;   ///< 1/256 pixel for a difference of 1
  double lowest = 0;     ///< known value
  double highest = 0;
  double low = 0;  ///< 0.5 percentile of the known 1 / z
  double high = 0;
  double nearest = 0;  ///< known value whose 1 / z is the 98th percentile, see DepthEnd
  double farthest = 0;
  std::uint64_t unknown = 0;
  std::uint32_t problems = 0;
};

struct DepthValue {
  bool known = false;
  double value = 0;
};

SATIN_HD DepthValue depth_value(double stored, const DepthRule& rule) {
  const bool finite = stored - stored == 0;
  if (!finite || (rule.has_unknown && stored == rule.unknown)) return {};
  const double value = rule.offset + rule.gain * stored;
  return {!rule.distances || value > 0, value};
}

/// Sets the edges of the sharp range and the strength. `focus`: the value that is sharp, above 0 if it is a
/// distance.
SATIN_HD void set_focus(LensState& state, double focus, const DepthRule& rule) {
  constexpr double endless = 1e300;
  state.focus = focus;
  const double nearer = rule.distances ? focus - rule.sharp_range : focus + rule.sharp_range;
  const double farther = rule.distances ? focus + rule.sharp_range : focus - rule.sharp_range;
  state.near_edge = !rule.distances ? nearer : nearer > 0 ? 1 / nearer : endless;
  state.far_edge = rule.distances ? 1 / farther : farther;
  state.strength = rule.strength;
  if (rule.spanned != 0)
    state.strength = state.high > state.low ? rule.spanned / (state.high - state.low) : 0;
  if (rule.focal_length == 0) return;
  const double inverse = rule.distances ? 1 / focus : focus;
  const double rest = 1 - rule.focal_length * inverse;  // (z_focus - f) / z_focus
  if (rest > 0) {
    state.strength = rule.strength / rest;
  } else {
    state.strength = 0;
    state.problems |= focus_too_near;
  }
}

/// Returns the radius of a stored value, measured from the nearer edge of the sharp range, rounded to nearest
/// with ties up.
SATIN_HD SignedRadius256 circle_of_confusion(double stored, const DepthRule& rule, const LensState& state) {
  const DepthValue depth = depth_value(stored, rule);
  if (!depth.known) return unknown_radius;
  const double inverse = rule.distances ? 1 / depth.value : depth.value;
  double beyond = 0;
  if (inverse > state.near_edge) beyond = inverse - state.near_edge;
  if (inverse < state.far_edge) beyond = inverse - state.far_edge;
  const double radius = beyond * state.strength;
  const double clamped = radius > rule.largest    ? rule.largest
                         : radius < -rule.largest ? -rule.largest
                                                  : radius;
  const double raised = clamped + 0.5;
  const auto truncated = static_cast<SignedRadius256>(raised);
  return static_cast<double>(truncated) > raised ? truncated - 1 : truncated;
}

inline constexpr int focus_reach = 2;  ///< reach of the window whose median is the focus

/// Sets the focus at the given value, at an end of the depth, which `state` holds already, or at the median
/// of the known values around the place. `stored_at(x, y)` returns the stored value of a pixel of the
/// width x height image.
template <class StoredAt>
SATIN_HD void find_focus(LensState& state, const DepthRule& rule, std::int64_t width, std::int64_t height,
                         const StoredAt& stored_at) {
  if (rule.focus_from == FocusSource::value) return set_focus(state, rule.focus, rule);
  if (rule.focus_from != FocusSource::place)
    return set_focus(state, rule.focus_from == FocusSource::nearest ? state.nearest : state.farthest, rule);
  double sorted[(2 * focus_reach + 1) * (2 * focus_reach + 1)];
  int count = 0;
  for (std::int64_t y = rule.focus_y - focus_reach; y <= rule.focus_y + focus_reach; ++y)
    for (std::int64_t x = rule.focus_x - focus_reach; x <= rule.focus_x + focus_reach; ++x) {
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const DepthValue depth = depth_value(stored_at(x, y), rule);
      if (!depth.known) continue;
      int at = count++;
      for (; at > 0 && sorted[at - 1] > depth.value; --at) sorted[at] = sorted[at - 1];
      sorted[at] = depth.value;
    }
  if (count > 0) return set_focus(state, sorted[(count - 1) / 2], rule);
  state.near_edge = state.far_edge = state.strength = 0;
  state.problems |= focus_on_unknown;
}

/// A channel of an image of stored depth.
template <class T>
struct DepthRows {
  Rows<const T> rows;
  int channels = 1;
  int channel = 0;

  SATIN_HD const T* row(std::int64_t y) const { return rows.row(y) + channel; }
  SATIN_HD T at(std::int64_t x, std::int64_t y) const { return row(y)[x * channels]; }
};

/// Finds the focus; one thread.
template <class T>
struct FindFocus {
  DepthRule rule;
  DepthRows<T> depth;
  std::int64_t width;
  std::int64_t height;
  LensState* state;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    find_focus(*state, rule, width, height,
               [&](std::int64_t x, std::int64_t y) { return static_cast<double>(depth.at(x, y)); });
  }
};

template <class T>
struct RadiiOfDepth {
  DepthRule rule;
  DepthRows<T> depth;
  const LensState* state;
  Rows<SignedRadius256> radii;

  struct Row {
    DepthRule rule;
    LensState state;
    const T* stored;
    std::int64_t channels;
    SignedRadius256* radii;

    SATIN_HD void operator()(int x) const {
      radii[x] = circle_of_confusion(static_cast<double>(stored[x * channels]), rule, state);
    }
  };
  SATIN_HD Row row(int y) const { return {rule, *state, depth.row(y), depth.channels, radii.row(y)}; }
};

/// A depth image as a plane of signed radii.
struct CircleOfConfusionJob {
  using Operation = PixelwiseOperation<CircleOfConfusionJob>;
  static constexpr const char* doing = "making radii of depth";

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type type = Type::u8;  ///< type of the depth image: u8, u16 or f32
  int channels = 1;
  int channel = 0;
  DepthRule rule;

  struct Images {
    ImageView depth;
    LensState* state = nullptr;  ///< in the backend's memory
    MutableImageView radii;      ///< one channel, i32; unknown_radius where nothing is known
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    with_pixel_type(type, [&]<class T>() {
      const DepthRows<T> depth{Rows<const T>(images.depth), channels, channel};
      launch(std::int64_t{1}, std::int64_t{1}, FindFocus<T>{rule, depth, width, height, images.state});
      launch(width, height, RadiiOfDepth<T>{rule, depth, images.state, Rows<SignedRadius256>(images.radii)});
    });
  }
};

/// A tilted lens that focuses on a plane in space: pixels within `half_band` of a line are sharp, and radii
/// grow with the distance from there.
struct PlanarFocus {
  double normal_x = 0;  ///< unit normal of the line, towards the near side
  double normal_y = 1;
  double offset = 0;     ///< normal . point for points on the line, in pixels
  double half_band = 0;  ///< pixels
  double slope = 0;      ///< radius in 1/256 pixel for each pixel of distance
  double largest = 0;    ///< 1/256 pixel
};

SATIN_HD SignedRadius256 planar_radius(std::int64_t x, std::int64_t y, const PlanarFocus& focus) {
  const double along_x = focus.normal_x * (static_cast<double>(x) + 0.5);
  const double along_y = focus.normal_y * (static_cast<double>(y) + 0.5);
  const double distance = along_x + along_y - focus.offset;
  const double beyond = (distance < 0 ? -distance : distance) - focus.half_band;
  if (!(beyond > 0)) return 0;
  const double radius = beyond * focus.slope;
  const auto magnitude =
      static_cast<SignedRadius256>((radius < focus.largest ? radius : focus.largest) + 0.5);
  return distance < 0 ? -magnitude : magnitude;
}

struct RadiiOfPlane {
  PlanarFocus focus;
  Rows<SignedRadius256> radii;

  SATIN_HD void operator()(int x, int y) const { radii.row(y)[x] = planar_radius(x, y, focus); }
};

/// Signed radii of a plane, without a depth image.
struct PlanarRadiiJob {
  using Operation = PixelwiseOperation<PlanarRadiiJob>;
  static constexpr const char* doing = "making radii of a plane";

  std::int64_t width = 0;
  std::int64_t height = 0;
  PlanarFocus focus;

  struct Images {
    MutableImageView radii;  ///< one channel, i32
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(width, height, RadiiOfPlane{focus, Rows<SignedRadius256>(images.radii)});
  }
};

}  // namespace satin
