#pragma once
// Soft depth, as phones and learned estimators give it: silhouettes are ramps that lie beside the edges of
// the picture and overshoot. A depth image is soft if at least half of its silhouettes are ramps. Then thin
// extremes give way to the median around them, more around the focus is sharp, and pixels near a silhouette
// take the depth of the side that looks like them. Depth that is not soft keeps every bit.

#include <cmath>
#include <cstdint>

#include "core/maths/atomics.h"
#include "depth/maths/circle_of_confusion.h"
#include "depth/maths/depth_span.h"
#include "depth/maths/enlarge_radii.h"
#include "depth/maths/soft_rim.h"
#include "order/maths/rank.h"
#include "pixels/maths/channel_sum.h"

namespace satin {

/// Rows that are looked at for silhouettes.
inline constexpr int soft_stride = 4;
inline constexpr std::uint32_t least_silhouettes = 16;  ///< fewer say nothing
/// Unless a sharp range is told, soft depth is sharp within this share of its range on both sides of focus.
inline constexpr double soft_sharp_share = 0.01;

inline constexpr std::int64_t surface_reach = 8;
/// A surface rises over twice the reach eight times as much as from one neighbour to the other, a silhouette
/// less than this.
inline constexpr double most_rise = 6;

struct RampCounts {
  std::uint32_t silhouettes = 0;
  std::uint32_t ramps = 0;
};

/// Counts the silhouettes, and those of them that are ramps, along the rows and columns of a run of columns,
/// by radii that nothing holds: those that are held look like silhouettes.
template <class T>
struct CountRamps {
  DepthRule rule;
  DepthRows<T> depth;
  std::int64_t width;
  std::int64_t height;
  const LensState* state;
  DepthSpan* span;

  SATIN_HD void operator()(int x, int run_row) const {
    const std::int64_t y = std::int64_t{run_row} * soft_stride;
    RampCounts counts;
    const std::int64_t first = std::int64_t{x} * span_run;
    const std::int64_t last = first + span_run < width ? first + span_run : width;
    for (std::int64_t u = first; u < last; ++u) {
      count_across(u, y, counts);
      count_down(u, y, counts);
    }
    add(counts);
  }

  SATIN_HD void count_across(std::int64_t x, std::int64_t y, RampCounts& counts) const {
    if (x < surface_reach || x + surface_reach >= width) return;
    const double strength = state->strength;
    count([&](std::int64_t i) { return strength * inverse(x + i, y); }, counts);
  }
  SATIN_HD void count_down(std::int64_t x, std::int64_t y, RampCounts& counts) const {
    if (y < surface_reach || y + surface_reach >= height) return;
    const double strength = state->strength;
    count([&](std::int64_t i) { return strength * inverse(x, y + i); }, counts);
  }
  SATIN_HD void add(const RampCounts& counts) const {
    if (counts.silhouettes != 0) add_shared(&span->silhouettes, counts.silhouettes);
    if (counts.ramps != 0) add_shared(&span->ramps, counts.ramps);
  }

 private:
  /// The inverse distance. It is NaN if unknown, and so is all that is computed from it.
  SATIN_HD double inverse(std::int64_t x, std::int64_t y) const {
    const DepthValue value = depth_value(static_cast<double>(depth.at(x, y)), rule);
    if (!value.known) return NAN;
    return rule.distances ? 1 / value.value : value.value;
  }
  SATIN_HD static double magnitude(double value) { return value < 0 ? -value : value; }

  /// along(i) is the radius i pixels on.
  template <class Along>
  SATIN_HD static void count(const Along& along, RampCounts& counts) {
    const double before = along(-1);
    const double after = along(1);
    const double rise = magnitude(after - before);
    if (!(rise > silhouette_step)) return;
    const double own = along(0);
    if (!(own - own == 0)) return;
    if (!(magnitude(along(surface_reach) - along(-surface_reach)) <= most_rise * rise)) return;
    const double a = own - before;
    const double b = after - own;
    ++counts.silhouettes;
    counts.ramps += (a > ramp_step && b > ramp_step) || (a < -ramp_step && b < -ramp_step) ? 1U : 0U;
  }
};

/// Tells if depth is soft, and then widens the sharp range; one thread. With a lens no depth is taken for
/// soft: its radii stay as they are.
struct TellSoftness {
  DepthRule rule;
  DepthSpan* span;
  LensState* state;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    const bool mostly_ramps =
        span->silhouettes >= least_silhouettes && 2 * std::uint64_t{span->ramps} >= span->silhouettes;
    span->soft = mostly_ramps && rule.focal_length == 0 ? 1 : 0;
    if (span->soft == 0 || rule.sharp_range_given) return;
    const double more = soft_sharp_share * (state->high - state->low);
    state->near_edge = state->near_edge + more;
    state->far_edge = state->far_edge - more;
  }
};

/// RadiiOfDepth with the edges of soft depth.
template <class T>
struct RadiiOfSoftDepth {
  RadiiOfDepth<T> step;
  const DepthSpan* span;

  [[nodiscard]] SATIN_HD bool idle() const { return span->soft == 0; }
  SATIN_HD auto row(int y) const { return step.row(y); }
};

/// Smallest and largest radius within `reach` pixels of (x, y) each way, in the image.
SATIN_HD RadiusRange range_of_square(const Rows<const SignedRadius256>& radii, std::int64_t width,
                                     std::int64_t height, int x, int y, int reach) {
  const SignedRadius256 own = radii.row(y)[x];
  RadiusRange range{own, own};
  const std::int64_t right = x + reach < width ? x + reach : width - 1;
  const std::int64_t bottom = y + reach < height ? y + reach : height - 1;
  for (std::int64_t v = y < reach ? 0 : y - reach; v <= bottom; ++v) {
    const SignedRadius256* row = radii.row(v);
    for (std::int64_t u = x < reach ? 0 : x - reach; u <= right; ++u) {
      range.low = row[u] < range.low ? row[u] : range.low;
      range.high = row[u] > range.high ? row[u] : range.high;
    }
  }
  return range;
}

/// Near a silhouette of soft depth the median of 5 x 5 radii by the rank of RankOperation, elsewhere the
/// radius itself. That operation itself would take the median of every pixel, and of depth that is not soft
/// as well, as a GPU's host does not know which depth is soft.
struct RejectThinExtremes {
  static constexpr int reach = 2;  ///< of the median

  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  const DepthSpan* span;
  Rows<SignedRadius256> result;

  [[nodiscard]] SATIN_HD bool idle() const { return span->soft == 0; }
  SATIN_HD void operator()(int x, int y) const {
    if (!idle()) store(x, y, range_of_square(radii, width, height, x, y, reach));
  }
  /// Stores the result of a pixel. `around`: the range of the radii within `reach`.
  SATIN_HD void store(int x, int y, const RadiusRange& around) const {
    result.row(y)[x] = around.high - around.low > silhouette_step ? median_around(x, y) : radii.row(y)[x];
  }

 private:
  SATIN_HD SignedRadius256 median_around(int x, int y) const {
    SignedRadius256 around[(2 * reach + 1) * (2 * reach + 1)];
    int count = 0;
    for (std::int64_t v = y - reach; v <= y + reach; ++v)
      for (std::int64_t u = x - reach; u <= x + reach; ++u)
        if (u >= 0 && v >= 0 && u < width && v < height) around[count++] = radii.row(v)[u];
    return median(around, count);
  }
  /// Half of the values in order are enough.
  SATIN_HD static SignedRadius256 median(SignedRadius256* values, int count) {
    const auto middle = static_cast<int>(rank_of(percent_whole / 2, static_cast<std::uint32_t>(count))) - 1;
    for (int i = 0; i <= middle; ++i)
      for (int j = i + 1; j < count; ++j) {
        const SignedRadius256 low = values[j] < values[i] ? values[j] : values[i];
        values[j] = values[j] < values[i] ? values[i] : values[j];
        values[i] = low;
      }
    return values[middle];
  }
};

/// ColourSamples of soft depth.
template <class T>
struct ColourSoftSamples {
  ColourSamples<T> step;
  const DepthSpan* span;

  [[nodiscard]] SATIN_HD bool idle() const { return span->soft == 0; }
  SATIN_HD void operator()(int i, int j) const {
    if (!idle()) step(i, j);
  }
};

inline constexpr int snap_reach = 6;  ///< both sides of a ramp are looked for in a disc of this radius
/// A pixel is near a silhouette if 5 x 5 radii differ by this share of what those of the square do.
inline constexpr float snap_share = 0.3F;
/// No silhouette is near a pixel around which they differ by no more.
inline constexpr float least_beside = snap_share * silhouette_step;

/// A side of a ramp: how likely the pixel's colour is on it, and its radius.
struct SnapSide {
  float likeness = 0;
  float weight = 0;
  float radius = 0;
  float inner_weight = 0;

  /// `inside`: how far the radius is within the side. Radii at its border are the ramp's more than the
  /// side's.
  SATIN_HD void add(float by, float alike, SignedRadius256 own, float inside) {
    likeness = likeness + by * alike;
    weight = weight + by;
    const float inner = by * inside;
    radius = radius + inner * static_cast<float>(own);
    inner_weight = inner_weight + inner;
  }
  /// The mean likeness; near 1 / 10 where little is known.
  [[nodiscard]] SATIN_HD float likely() const { return (likeness + 1e-3F) / (weight + 1e-2F); }
};

/// Radii near silhouettes of soft depth: of the side that looks like the pixel. `Colours` tells the colour of
/// a sample: colours(x, y).
template <class Colours>
struct SnapToColours {
  static constexpr int reach = 2;

  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  Colours colours;
  const DepthSpan* span;
  Rows<SignedRadius256> result;

  [[nodiscard]] SATIN_HD bool idle() const { return span->soft == 0; }
  SATIN_HD void operator()(int x, int y) const {
    if (!idle()) store(x, y, range_of_square(radii, width, height, x, y, reach));
  }
  /// Stores the result of a pixel. `beside`: the range of the radii within `reach`.
  SATIN_HD void store(int x, int y, const RadiusRange& beside) const {
    const SoftRim<Colours> rim{radii, width, height, colours};
    const SignedRadius256 own = radii.row(y)[x];
    const bool flat = static_cast<float>(beside.high - beside.low) <= least_beside;
    result.row(y)[x] = rim.radius(x, y, flat ? own : snapped(x, y, beside));
  }

 private:
  SATIN_HD SignedRadius256 snapped(int x, int y, const RadiusRange& beside) const {
    const SignedRadius256 own = radii.row(y)[x];
    const RadiusRange range = range_of_square(radii, width, height, x, y, snap_reach);
    const auto apart = static_cast<float>(range.high - range.low);
    if (range.high - range.low <= silhouette_step ||
        static_cast<float>(beside.high - beside.low) <= snap_share * apart)
      return own;
    SnapSide near;
    SnapSide far;
    add_sides(x, y, range, near, far);
    if (!(near.weight > 0.05F) || !(far.weight > 0.05F)) return own;
    const float place = static_cast<float>(own - range.low) / apart;
    const bool is_near = near.likely() * (0.15F + place) > far.likely() * (1.15F - place);
    const SnapSide& side = is_near ? near : far;
    const float radius = side.radius / side.inner_weight;
    return static_cast<SignedRadius256>(radius < 0 ? radius - 0.5F : radius + 0.5F);
  }

  SATIN_HD void add_sides(int x, int y, const RadiusRange& range, SnapSide& near, SnapSide& far) const {
    const GuideColour own = colours(x, y);
    const float close = snap_side * static_cast<float>(range.high - range.low);
    for (int j = -snap_reach; j <= snap_reach; ++j)
      for (int i = -snap_reach; i <= snap_reach; ++i) {
        const int distance = i * i + j * j;
        const std::int64_t u = x + i;
        const std::int64_t v = y + j;
        if (distance > snap_reach * snap_reach || u < 0 || v < 0 || u >= width || v >= height) continue;
        const SignedRadius256 radius = radii.row(v)[u];
        const float within_near = close - static_cast<float>(range.high - radius);
        const float within_far = close - static_cast<float>(radius - range.low);
        if (!(within_near > 0) && !(within_far > 0)) continue;
        const float times = 1 + static_cast<float>(distance) / (0.72F * snap_reach * snap_reach);
        const float by = 1 / (times * times);
        const float alike = likeness_of(own, colours(u, v));
        if (within_near > 0)
          near.add(by, alike, radius, within_near);
        else
          far.add(by, alike, radius, within_far);
      }
  }
};

/// Colours of a picture of the depth image's size.
template <class T>
struct PictureColours {
  Rows<const T> picture;
  int channels;
  int colours;

  SATIN_HD GuideColour operator()(std::int64_t x, std::int64_t y) const {
    return guide_colour(picture.row(y) + x * channels, colours);
  }
};

/// Colours that ColourSamples made.
struct ColoursOfSamples {
  const GuideColour* of_samples;
  std::int64_t width;

  SATIN_HD GuideColour operator()(std::int64_t x, std::int64_t y) const { return of_samples[y * width + x]; }
};

}  // namespace satin
