#pragma once
// From a stored value of a depth image to the signed radius of the circle of confusion, in 1/256 pixel. All
// in IEEE double, one correctly rounded operation after the other.

#include <cstdint>

#include "core/maths/hd.h"
#include "pixels/maths/rows.h"

namespace satin {

/// Signed, positive for what is nearer than the focus.
using SignedRadius256 = std::int32_t;
inline constexpr SignedRadius256 unknown_radius = INT32_MIN;

/// Pixels per unit of a radius.
inline constexpr float lens_radius_scale = 1.0F / 256.0F;

SATIN_HD std::uint32_t magnitude_of(std::int32_t radius) {
  return static_cast<std::uint32_t>(radius < 0 ? -radius : radius);
}

inline constexpr std::int32_t ramp_step = 77;         ///< 0.3 pixels a pixel, both ways
inline constexpr std::int32_t silhouette_step = 384;  ///< 1.5 pixels: farther apart are two surfaces

struct RadiusRange {
  std::int32_t low;
  std::int32_t high;
};

/// Radii are held within this many pixels at most.
inline constexpr double largest_lens_radius = 512;

/// The uniform part of the work: everything but the focus that is found in the image.
struct DepthRule {
  bool distances = false;  ///< values are z, otherwise 1 / z
  double gain = 1;         ///< value = offset + gain * stored
  double offset = 0;
  bool has_unknown = false;
  double unknown = 0;  ///< stored value

  bool focus_given = false;
  double focus = 0;          ///< value that is sharp, if given
  std::int64_t focus_x = 0;  ///< otherwise the pixel of the depth image
  std::int64_t focus_y = 0;
  double sharp_range = 0;
  bool sharp_range_given = false;

  /// 1/256 pixel for a difference of 1 in 1 / z. With a focal length F > 0, in units of depth, it is that for
  /// a focus at infinity, to be divided by 1 - F / z_focus.
  double strength = 0;
  double focal_length = 0;
  /// 1/256 pixel for the range of the depth, in place of `strength`; 0: not told.
  double spanned = 0;
  double largest = 0;  ///< 1/256 pixel
};

enum LensProblem : std::uint32_t {
  focus_on_unknown = 1,  ///< no value is known around the place that is to be sharp
  focus_too_near = 2,    ///< nearer than the focal length
  nothing_known = 4,
  focus_outside = 8,  ///< no known value is as near or as far as the focus
  mostly_held = 16    ///< more than half of the known values reach the largest radius
};

/// What runs found, in the backend's memory. Problems and counts add up until they are asked for.
struct LensState {
  double focus = 0;      ///< value that is sharp
  double near_edge = 0;  ///< 1 / z: what is sharp ends here
  double far_edge = 0;
  double strength = 0;  ///< 1/256 pixel for a difference of 1
  double lowest = 0;    ///< known value
  double highest = 0;
  double low = 0;  ///< 1 / z: 0.5 percentile of the known values
  double high = 0;
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

/// Sets the edges of what is sharp and the strength. `focus`: the value that is sharp, above 0 if it is a
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

/// r = K (1 / z - 1 / z_focus), measured from the nearer edge of what is sharp.
SATIN_HD SignedRadius256 circle_of_confusion(double stored, const DepthRule& rule, const LensState& state) {
  const DepthValue depth = depth_value(stored, rule);
  if (!depth.known) return unknown_radius;
  const double inverse = rule.distances ? 1 / depth.value : depth.value;
  double beyond = 0;
  if (inverse > state.near_edge) beyond = inverse - state.near_edge;
  if (inverse < state.far_edge) beyond = inverse - state.far_edge;
  const double radius = beyond * state.strength;
  const double held = radius > rule.largest ? rule.largest : radius < -rule.largest ? -rule.largest : radius;
  const double raised = held + 0.5;
  const auto truncated = static_cast<SignedRadius256>(raised);
  return static_cast<double>(truncated) > raised ? truncated - 1 : truncated;
}

inline constexpr int focus_reach = 2;  ///< of the window around the place that is sharp

/// Sets the focus at the given value or at the median of the known values around the place. `stored_at(x, y)`
/// is the stored value of a pixel of the width x height image.
template <class StoredAt>
SATIN_HD void find_focus(LensState& state, const DepthRule& rule, std::int64_t width, std::int64_t height,
                         const StoredAt& stored_at) {
  if (rule.focus_given) return set_focus(state, rule.focus, rule);
  double sorted[(2 * focus_reach + 1) * (2 * focus_reach + 1)];
  int count = 0;
  for (std::int64_t y = rule.focus_y - focus_reach; y <= rule.focus_y + focus_reach; ++y)
    for (std::int64_t x = rule.focus_x - focus_reach; x <= rule.focus_x + focus_reach; ++x) {
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const DepthValue depth = depth_value(stored_at(x, y), rule);
      if (!depth.known) continue;
      int place = count++;
      for (; place > 0 && sorted[place - 1] > depth.value; --place) sorted[place] = sorted[place - 1];
      sorted[place] = depth.value;
    }
  if (count > 0) return set_focus(state, sorted[(count - 1) / 2], rule);
  state.near_edge = state.far_edge = state.strength = 0;
  state.problems |= focus_on_unknown;
}

/// One channel of an image of stored depth.
template <class T>
struct DepthRows {
  Rows<const T> rows;
  int channels = 1;
  int channel = 0;

  SATIN_HD const T* row(std::int64_t y) const { return rows.row(y) + channel; }
  SATIN_HD T at(std::int64_t x, std::int64_t y) const { return row(y)[x * channels]; }
};

/// Of one place: the state's focus.
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

}  // namespace satin
