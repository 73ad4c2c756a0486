#pragma once
// Soft depth, as phones and learned estimators make it: its silhouettes are ramps next to the edges of the
// picture, and overshoot.
//
// A depth image is soft if at least a quarter of its silhouettes are ramps, or if the caller says so. Then
//   - more depth around the focus is sharp (DecideSoftness),
//   - noise gives way to the mean on surfaces, and thin extremes to the median near silhouettes (CleanRadii),
//   - every pixel near a silhouette is scored by how much it looks like the nearer side (ScoreSides); the
//     scores around it choose its side (ChooseSides), because where both sides are textured, a pixel that
//     decided alone would leave specks; and it gets the radius of that side, or of the other one where the
//     chosen pixels are a speck all the same (SnapToSides).
// Depth that is not soft keeps every bit: against ray-traced truth snapping gains 2 dB on soft depth, and
// costs clean depth up to 3.

#include <cmath>
#include <cstdint>

#include "core/maths/atomics.h"
#include "core/with_type.h"
#include "depth/circle_of_confusion.h"
#include "depth/depth_statistics.h"
#include "depth/enlarge_radii.h"
#include "depth/maths/signed_radius.h"
#include "order/maths/rank.h"
#include "pixels/maths/pixel.h"
#include "pixels/maths/rows.h"
#include "pixels/pixelwise.h"

namespace satin {

inline constexpr int soft_stride = 4;                   ///< distance of the rows searched for silhouettes
inline constexpr std::uint32_t least_silhouettes = 16;  ///< fewer decide nothing
/// Unless a sharp range is given, soft depth is sharp within this share of its range on both sides of focus.
inline constexpr double soft_sharp_share = 0.01;

inline constexpr std::int64_t surface_reach = 8;
/// Over 16 pixels a surface rises eight times as much as over two, a silhouette less than this.
inline constexpr double most_rise = 6;
inline constexpr double least_rise = 0.05;  ///< share of the range of depth; noise rises less over two pixels
inline constexpr double least_lasting = 0.75;  ///< share of a silhouette's rise that is left some pixels on
/// The steepest two pixels of a ramp have less than this share of its rise; those of a step have all of it,
/// also if resampling has put it between pixels.
inline constexpr double steepest_share = 0.7;

struct RampCounts {
  std::uint32_t silhouettes = 0;
  std::uint32_t ramps = 0;
};

/// Counts silhouettes, and how many of them are ramps, along the rows and columns of a chunk of columns. It
/// works on radii that are not clamped, because clamping looks like a silhouette.
template <class T>
struct CountRamps {
  DepthRule rule;
  DepthRows<T> depth;
  std::int64_t width;
  std::int64_t height;
  const LensState* state;
  DepthStatistics* statistics;

  SATIN_HD void operator()(int x, int row) const {
    const std::int64_t y = std::int64_t{row} * soft_stride;
    RampCounts counts;
    const std::int64_t first = std::int64_t{x} * columns_at_once;
    const std::int64_t last = first + columns_at_once < width ? first + columns_at_once : width;
    for (std::int64_t u = first; u < last; ++u) {
      count_across(u, y, counts);
      count_down(u, y, counts);
    }
    add(counts);
  }

  SATIN_HD void count_across(std::int64_t x, std::int64_t y, RampCounts& counts) const {
    if (x < surface_reach || x + surface_reach >= width) return;
    count_along([&](std::int64_t i) { return depth.at(x + i, y); }, counts);
  }
  SATIN_HD void count_down(std::int64_t x, std::int64_t y, RampCounts& counts) const {
    if (y < surface_reach || y + surface_reach >= height) return;
    count_along([&](std::int64_t i) { return depth.at(x, y + i); }, counts);
  }
  /// Counts a pixel along one axis. `stored_at(i)` returns the depth i pixels on.
  template <class StoredAt>
  SATIN_HD void count_along(const StoredAt& stored_at, RampCounts& counts) const {
    const double strength = state->strength;
    count([&](std::int64_t i) { return strength * inverse(stored_at(i)); }, least(strength), counts);
  }
  SATIN_HD void add(const RampCounts& counts) const {
    if (counts.silhouettes != 0) add_shared(&statistics->silhouettes, counts.silhouettes);
    if (counts.ramps != 0) add_shared(&statistics->ramps, counts.ramps);
  }

 private:
  /// Returns the inverse distance; NaN if it is unknown, which fails every comparison below.
  SATIN_HD double inverse(T stored) const {
    const DepthValue value = depth_value(static_cast<double>(stored), rule);
    if (!value.known) return NAN;
    return rule.distances ? 1 / value.value : value.value;
  }
  SATIN_HD static double magnitude(double value) { return value < 0 ? -value : value; }

  /// Returns the least rise of a silhouette over two pixels.
  SATIN_HD double least(double strength) const {
    const double of_range = least_rise * strength * (state->high - state->low);
    return of_range > silhouette_step ? of_range : silhouette_step;
  }

  /// Counts the pixel at 0 if it is the steepest of a silhouette, so that a wide ramp counts no more often
  /// than a step. `radius_at(i)` returns the radius i pixels on.
  template <class RadiusAt>
  SATIN_HD static void count(const RadiusAt& radius_at, double least, RampCounts& counts) {
    const double before = radius_at(-1);
    const double after = radius_at(1);
    const double rise = magnitude(after - before);
    if (!(rise > least)) return;
    const double own = radius_at(0);
    if (!(magnitude(radius_at(2) - own) <= rise && magnitude(own - radius_at(-2)) <= rise)) return;
    if (!(magnitude(radius_at(surface_reach) - radius_at(-surface_reach)) <= most_rise * rise)) return;
    double lasting = 0;
    for (std::int64_t i = 3; i <= 5; ++i) lasting = lasting + (radius_at(i) - radius_at(-i)) / 3;
    if (after < before) lasting = -lasting;
    if (!(lasting >= least_lasting * rise)) return;
    ++counts.silhouettes;
    counts.ramps += rise < steepest_share * lasting ? 1U : 0U;
  }
};

/// Decides whether depth is soft, and then widens the sharp range; one thread.
struct DecideSoftness {
  DepthRule rule;
  DepthStatistics* statistics;
  LensState* state;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    // Rendered maps have at most 0.16 with noise and jitter, those of phones and estimators at least 0.29.
    const bool has_ramps = statistics->silhouettes >= least_silhouettes &&
                           4 * std::uint64_t{statistics->ramps} >= statistics->silhouettes;
    statistics->soft = rule.soft == SoftDepth::automatic ? has_ramps : rule.soft == SoftDepth::on;
    if (statistics->soft == 0 || rule.sharp_range_given) return;
    const double more = soft_sharp_share * (state->high - state->low);
    state->near_edge = state->near_edge + more;
    state->far_edge = state->far_edge - more;
  }
};

/// Makes the radii again with the sharp range of soft depth.
template <class T>
struct RadiiOfSoftDepth {
  RadiiOfDepth<T> step;
  const DepthStatistics* statistics;

  [[nodiscard]] SATIN_HD bool idle() const { return statistics->soft == 0; }
  SATIN_HD auto row(int y) const { return step.row(y); }
};

/// Returns the range of the radii in the window of that reach around (x, y).
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

/// Replaces radii of soft depth by the mean of 3 x 3 radii on surfaces, and near silhouettes by the median of
/// 5 x 5, with the rank that RankOperation has. Noise that differs from frame to frame would show as flicker.
/// RankOperation would filter every pixel, and depth that is not soft as well, because the host of a GPU does
/// not know whether depth is soft.
struct CleanRadii {
  static constexpr int reach = 2;

  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  const DepthStatistics* statistics;
  Rows<SignedRadius256> result;

  [[nodiscard]] SATIN_HD bool idle() const { return statistics->soft == 0; }
  SATIN_HD void operator()(int x, int y) const {
    if (!idle()) store(x, y, range_of_square(radii, width, height, x, y, reach));
  }
  /// Stores the result of a pixel. `around`: the range of the radii within `reach`.
  SATIN_HD void store(int x, int y, const RadiusRange& around) const {
    result.row(y)[x] = around.high - around.low > silhouette_step ? median_around(x, y) : mean_around(x, y);
  }

 private:
  /// Rounded to nearest. Pixels on the border of the image keep their radius, so that slopes do.
  SATIN_HD SignedRadius256 mean_around(int x, int y) const {
    if (x < 1 || y < 1 || x + 1 >= width || y + 1 >= height) return radii.row(y)[x];
    SignedRadius256 sum = 0;
    for (std::int64_t v = y - 1; v <= y + 1; ++v) {
      const SignedRadius256* row = radii.row(v) + x;
      sum += row[-1] + row[0] + row[1];
    }
    constexpr SignedRadius256 raised = 1 << 18;  // so that the quotient is of positive numbers
    static_assert(largest_lens_radius * 256 < raised);
    return static_cast<SignedRadius256>(static_cast<std::uint32_t>(sum + 9 * raised + 4) / 9) - raised;
  }
  SATIN_HD SignedRadius256 median_around(int x, int y) const {
    SignedRadius256 around[(2 * reach + 1) * (2 * reach + 1)];
    int count = 0;
    for (std::int64_t v = y - reach; v <= y + reach; ++v)
      for (std::int64_t u = x - reach; u <= x + reach; ++u)
        if (u >= 0 && v >= 0 && u < width && v < height) around[count++] = radii.row(v)[u];
    return median(around, count);
  }
  /// Sorts only as far as the middle.
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

/// Runs ColourSamples if depth is soft.
template <class T>
struct ColourSoftSamples {
  ColourSamples<T> step;
  const DepthStatistics* statistics;

  [[nodiscard]] SATIN_HD bool idle() const { return statistics->soft == 0; }
  SATIN_HD void operator()(int i, int j) const {
    if (!idle()) step(i, j);
  }
};

SATIN_HD SignedRadius256 rounded_radius(float radius) {
  return static_cast<SignedRadius256>(radius < 0 ? radius - 0.5F : radius + 0.5F);
}

/// Radii belong to a side of a silhouette if they differ from its extreme by less than this share of the
/// range.
inline constexpr float snap_side = 0.3F;
/// Squared difference of colours that is as likely as not within one surface.
inline constexpr float snap_colours = 0.0128F;

/// Returns 1 for equal colours, and less the more they differ.
SATIN_HD float likeness_of(const GuideColour& a, const GuideColour& b) {
  float terms[4] = {};
  for (int c = 0; c < 3; ++c) terms[c] = (a.value[c] - b.value[c]) * (a.value[c] - b.value[c]);
  const float times = 1 + sum_of_channels(terms, 3) / snap_colours;
  return 1 / (times * times);
}

// Constants of rims.

inline constexpr std::int64_t rim_share = 240;  ///< rims are at most 1/240 of the width of the depth image
inline constexpr int widest_rim = 8;
inline constexpr int narrowest_rim = 2;
inline constexpr SignedRadius256 rim_step = silhouette_step / 2;  ///< least step to the nearer thing
inline constexpr int rim_reach = 12;  ///< radius of the disc in which the surface behind is sampled
inline constexpr int rim_stride = 3;  ///< distance of its samples along rows and columns
/// Samples are at least this much farther from the nearer thing than the pixel. They count more the farther
/// they are, because those close by may be on the rim as well.
inline constexpr float rim_beyond = 2;
inline constexpr float least_behind = 30;  ///< least total weight of the samples, out of some 1500
inline constexpr float rim_side = 0.1F;    ///< largest difference of a sample's radius, as share of the range
inline constexpr float rim_likeness = 0.1F;  ///< pixels of a rim look less than this like the surface behind

/// Returns the largest width of a rim in a depth image of this width; 0 if it is too small to have rims.
SATIN_HD int rim_of(std::int64_t width) {
  const std::int64_t share = width / rim_share;
  if (share < narrowest_rim) return 0;
  return share < widest_rim ? static_cast<int>(share) : widest_rim;
}

/// For a SoftRim that scores nothing.
struct NoColours {};

/// Finds out which pixels may be on a rim, and whether they look like it. `colours(x, y)` returns the colour
/// of a sample.
///
/// A rim is the outermost part of a nearer thing that soft depth assigns to the surface behind: estimators
/// work on small pictures, whose outlines are inside those of the large one. A rim would stay sharp where the
/// thing is blurred, as a line along its silhouette. It looks unlike the surface behind.
template <class Colours>
struct SoftRim {
  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  Colours colours;

  /// A pixel that may be on a rim.
  struct Candidate {
    int x = 0;
    int y = 0;
    RadiusRange range{0, 0};   ///< radii around
    SignedRadius256 near = 0;  ///< radius of the nearer thing
    float right = 0;           ///< unit vector to the nearer thing
    float down = 0;
  };

  /// Returns false if no nearer thing is beside the pixel, whose radius is `own`.
  SATIN_HD bool find(int x, int y, SignedRadius256 own, Candidate& pixel) const {
    const int rim = rim_of(width);
    if (rim == 0 || !may_be_near(x, y, rim, own)) return false;
    RadiusRange range{own, own};
    for_pixels_around(x, y, rim, [&](int, int, SignedRadius256 radius) {
      range.low = radius < range.low ? radius : range.low;
      range.high = radius > range.high ? radius : range.high;
    });
    const auto apart = static_cast<float>(range.high - range.low);
    if (range.high - range.low <= silhouette_step || static_cast<float>(range.high - own) < snap_side * apart)
      return false;
    Nearer nearer;
    for_pixels_around(x, y, rim, [&](int i, int j, SignedRadius256 radius) {
      if (static_cast<float>(range.high - radius) < snap_side * apart) nearer.add(i, j, radius);
    });
    const float length = sqrtf(nearer.right * nearer.right + nearer.down * nearer.down);
    if (!(length > 0)) return false;
    pixel = {x, y, range, nearer.mean(), nearer.right / length, nearer.down / length};
    look_farther_inside(pixel);
    return true;
  }

  /// Returns a score from 0, the pixel looks like the surface behind, whose radius is `behind`, to 1.
  SATIN_HD float score(const Candidate& pixel, SignedRadius256 behind) const {
    const float close = rim_side * static_cast<float>(pixel.range.high - pixel.range.low);
    const GuideColour own = colours(pixel.x, pixel.y);
    float likeness = 0;
    float weight = 0;
    for (int j = -rim_reach; j <= rim_reach; j += rim_stride)
      for (int i = -rim_reach; i <= rim_reach; i += rim_stride) {
        const float beyond = -static_cast<float>(i) * pixel.right - static_cast<float>(j) * pixel.down;
        const std::int64_t u = pixel.x + i;
        const std::int64_t v = pixel.y + j;
        if (!(beyond > rim_beyond) || i * i + j * j > rim_reach * rim_reach || u < 0 || v < 0 || u >= width ||
            v >= height)
          continue;
        const auto off = static_cast<float>(radii.row(v)[u] - behind);
        if (!((off < 0 ? -off : off) < close)) continue;
        const float weight_here = beyond * (beyond * beyond / (rim_beyond * rim_beyond) - 1);
        likeness = likeness + weight_here * likeness_of(own, colours(u, v));
        weight = weight + weight_here;
      }
    const float most = rim_likeness * weight;
    return weight > least_behind && likeness < most ? 1 - likeness / most : 0;
  }

 private:
  /// Sums over the pixels around that are on the nearer thing.
  struct Nearer {
    float right = 0;  ///< direction to them
    float down = 0;
    float radius = 0;
    float count = 0;

    SATIN_HD void add(int i, int j, SignedRadius256 own) {
      right = right + static_cast<float>(i);
      down = down + static_cast<float>(j);
      radius = radius + static_cast<float>(own);
      count = count + 1;
    }
    [[nodiscard]] SATIN_HD SignedRadius256 mean() const { return rounded_radius(radius / count); }
  };

  /// Whether one of the four pixels at the distance of a rim is nearer. Few pixels pass this test.
  SATIN_HD bool may_be_near(int x, int y, int rim, SignedRadius256 own) const {
    const SignedRadius256 least = own + rim_step;
    const SignedRadius256* row = radii.row(y);
    return (x >= rim && row[x - rim] > least) || (x + rim < width && row[x + rim] > least) ||
           (y >= rim && radii.row(y - rim)[x] > least) || (y + rim < height && radii.row(y + rim)[x] > least);
  }

  /// Calls visit(i, j, radius) for pixels in eight directions (i, j) at two distances.
  template <class Visit>
  SATIN_HD void for_pixels_around(int x, int y, int rim, const Visit& visit) const {
    for (int distance = rim / 2; distance <= rim; distance += rim - rim / 2)
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
          const int away = i != 0 && j != 0 ? (distance * 3 + 3) / 4 : distance;
          const std::int64_t u = x + i * away;
          const std::int64_t v = y + j * away;
          if ((i == 0 && j == 0) || u < 0 || v < 0 || u >= width || v >= height) continue;
          visit(i, j, radii.row(v)[u]);
        }
  }

  /// The pixels found may be on the ramp of the nearer thing, so its radius is looked up once more.
  SATIN_HD void look_farther_inside(Candidate& pixel) const {
    const std::int64_t u = pixel.x + static_cast<int>(rim_reach * pixel.right);
    const std::int64_t v = pixel.y + static_cast<int>(rim_reach * pixel.down);
    if (u < 0 || v < 0 || u >= width || v >= height) return;
    const SignedRadius256 inside = radii.row(v)[u];
    if (inside > pixel.near) pixel.near = inside;
  }
};

inline constexpr int snap_reach = 6;  ///< radius of the disc in which both sides of a ramp are sampled
inline constexpr int ramp_reach = 2;  ///< reach of the window whose radii say whether a pixel is on a ramp
/// A pixel is near a silhouette if 5 x 5 radii differ by this share of the range in the window of snap_reach.
inline constexpr float snap_share = 0.3F;
/// Pixels whose 5 x 5 radii differ by no more are near no silhouette, whatever is farther away.
inline constexpr float least_beside = snap_share * silhouette_step;

/// A side of a ramp: how well the pixel's colour fits it, and its radius.
struct SnapSide {
  float likeness = 0;
  float weight = 0;
  float radius = 0;
  float inner_weight = 0;

  /// Adds a sample of this weight. `inside`: how far its radius is within the side; near the limit it belongs
  /// to the ramp rather than to the side.
  SATIN_HD void add(float sample_weight, float alike, SignedRadius256 own, float inside) {
    likeness = likeness + sample_weight * alike;
    weight = weight + sample_weight;
    const float inner = sample_weight * inside;
    radius = radius + inner * static_cast<float>(own);
    inner_weight = inner_weight + inner;
  }
  /// Returns the mean likeness, which is near 1 / 10 if there are few samples.
  [[nodiscard]] SATIN_HD float likely() const { return (likeness + 1e-3F) / (weight + 1e-2F); }
  [[nodiscard]] SATIN_HD SignedRadius256 mean() const { return rounded_radius(radius / inner_weight); }
};

/// The two sides of the ramp that a pixel is on.
struct SoftRamp {
  RadiusRange range{0, 0};  ///< radii around
  SnapSide near;
  SnapSide far;

  /// Returns how much a pixel of the radius `own` looks like the nearer side, from 0 to 1.
  [[nodiscard]] SATIN_HD float score(SignedRadius256 own) const {
    const float share = static_cast<float>(own - range.low) / static_cast<float>(range.high - range.low);
    const float nearer = near.likely() * (0.15F + share);
    return nearer / (nearer + far.likely() * (1.15F - share));
  }
};

/// Finds the range of the radii around the ramp at (x, y); false if the pixel is near no silhouette.
/// `beside`: the range of the radii of 5 x 5 pixels.
SATIN_HD bool is_on_ramp(const Rows<const SignedRadius256>& radii, std::int64_t width, std::int64_t height,
                         int x, int y, const RadiusRange& beside, RadiusRange& range) {
  const auto step = static_cast<float>(beside.high - beside.low);
  if (step <= least_beside) return false;
  range = range_of_square(radii, width, height, x, y, snap_reach);
  return range.high - range.low > silhouette_step &&
         step > snap_share * static_cast<float>(range.high - range.low);
}

/// Finds the sides of the ramp at (x, y), whose range is known; false if one has no samples. `likeness(u, v)`
/// returns how much a pixel looks like this one.
template <class Likeness>
SATIN_HD bool find_sides(const Rows<const SignedRadius256>& radii, std::int64_t width, std::int64_t height,
                         int x, int y, const Likeness& likeness, SoftRamp& ramp) {
  const float close = snap_side * static_cast<float>(ramp.range.high - ramp.range.low);
  for (int j = -snap_reach; j <= snap_reach; ++j)
    for (int i = -snap_reach; i <= snap_reach; ++i) {
      const int distance = i * i + j * j;
      const std::int64_t u = x + i;
      const std::int64_t v = y + j;
      if (distance > snap_reach * snap_reach || u < 0 || v < 0 || u >= width || v >= height) continue;
      const SignedRadius256 radius = radii.row(v)[u];
      const float within_near = close - static_cast<float>(ramp.range.high - radius);
      const float within_far = close - static_cast<float>(radius - ramp.range.low);
      if (!(within_near > 0) && !(within_far > 0)) continue;
      const float times = 1 + static_cast<float>(distance) / (0.72F * snap_reach * snap_reach);
      const float weight = 1 / (times * times);
      if (within_near > 0)
        ramp.near.add(weight, likeness(u, v), radius, within_near);
      else
        ramp.far.add(weight, likeness(u, v), radius, within_far);
    }
  return ramp.near.weight > 0.05F && ramp.far.weight > 0.05F;
}

/// Scores of a pixel in a byte, four bits each: from 0, it looks like the farther side, to full_score.
struct SideScores {
  static constexpr int full_score = 14;
  static constexpr int none = 15;  ///< the pixel is on no ramp, or on no rim

  std::uint8_t ramp : 4 = none;
  std::uint8_t rim : 4 = none;

  SATIN_HD static unsigned rounded(float score) { return static_cast<unsigned>(score * full_score + 0.5F); }
  [[nodiscard]] SATIN_HD bool exist() const { return ramp != none || rim != none; }
};

/// Scores the pixels near silhouettes of soft depth, each by its own colour.
template <class Colours>
struct ScoreSides {
  static constexpr int reach = ramp_reach;

  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  Colours colours;
  const DepthStatistics* statistics;
  SideScores* scores;  ///< densely packed rows

  [[nodiscard]] SATIN_HD bool idle() const { return statistics->soft == 0; }
  SATIN_HD void operator()(int x, int y) const {
    if (!idle()) store(x, y, range_of_square(radii, width, height, x, y, reach));
  }
  /// Stores the score of a pixel. `beside`: the range of the radii within `reach`.
  SATIN_HD void store(int x, int y, const RadiusRange& beside) const {
    const SignedRadius256 own = radii.row(y)[x];
    SignedRadius256 snapped = own;
    SideScores found;
    SoftRamp ramp;
    if (is_on_ramp(radii, width, height, x, y, beside, ramp.range)) {
      const GuideColour colour = colours(x, y);
      const auto alike = [&](std::int64_t u, std::int64_t v) { return likeness_of(colour, colours(u, v)); };
      if (find_sides(radii, width, height, x, y, alike, ramp)) {
        const float score = ramp.score(own);
        found.ramp = SideScores::rounded(score) & 0xFU;
        snapped = score > 0.5F ? ramp.near.mean() : ramp.far.mean();
      }
    }
    const SoftRim<Colours> rim{radii, width, height, colours};
    typename SoftRim<Colours>::Candidate pixel;
    // A radius that snapping changed says nothing about the surface behind
    if (rim.find(x, y, snapped, pixel))
      found.rim = SideScores::rounded(rim.score(pixel, snapped == own ? own : pixel.range.low)) & 0xFU;
    scores[y * width + x] = found;
  }
};

/// The side of a silhouette that a pixel is on.
enum class ChosenSide : std::uint8_t {
  none,  ///< the pixel has no scores, and keeps its radius
  far,
  near
};

/// Chooses the side of each pixel near a silhouette of soft depth by the scores of 5 x 5 pixels: on a ramp of
/// those that look like this one, on a rim of all of them.
template <class Colours>
struct ChooseSides {
  static constexpr int score_reach = 2;
  static constexpr float spread = 16;             ///< squared distance at which a score counts a quarter
  static constexpr float least_likeness = 0.05F;  ///< colours that nothing around resembles count so much
  static constexpr float rim_mean = 0.55F;        ///< least mean of the scores on a rim

  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  Colours colours;
  const DepthStatistics* statistics;
  const SideScores* scores;
  ChosenSide* sides;  ///< densely packed rows

  struct Row {
    const ChooseSides& step;
    const SideScores* scores;
    ChosenSide* sides;
    int y;

    SATIN_HD void operator()(int x) const { sides[x] = step.chosen(x, y); }
    [[nodiscard]] SATIN_HD bool is_rare(int x) const { return scores[x].exist(); }
    SATIN_HD void usual(int x) const { sides[x] = ChosenSide::none; }
  };
  [[nodiscard]] SATIN_HD bool idle() const { return statistics->soft == 0; }
  SATIN_HD Row row(int y) const { return {*this, scores + y * width, sides + y * width, y}; }

 private:
  SATIN_HD ChosenSide chosen(int x, int y) const {
    const SideScores score = scores[y * width + x];
    if (!score.exist()) return ChosenSide::none;
    if (score.ramp != SideScores::none) {
      const RadiusRange range = range_of_square(radii, width, height, x, y, snap_reach);
      const bool is_near = mean_on_ramp(x, y, range) > 0.5F ||
                           (score.rim != SideScores::none && mean_on_rim(x, y, range) > rim_mean);
      return is_near ? ChosenSide::near : ChosenSide::far;
    }
    const SoftRim<Colours> rim{radii, width, height, colours};
    typename SoftRim<Colours>::Candidate pixel;
    const bool is_near = rim.find(x, y, radii.row(y)[x], pixel) && mean_on_rim(x, y, pixel.range) > rim_mean;
    return is_near ? ChosenSide::near : ChosenSide::far;
  }

  /// Returns the mean of the scores of ramps, each weighted by how much the pixel looks like this one.
  SATIN_HD float mean_on_ramp(int x, int y, const RadiusRange& range) const {
    const GuideColour own = colours(x, y);
    return mean(x, y, [&](std::int64_t u, std::int64_t v, float& weight) {
      const auto square = static_cast<float>((u - x) * (u - x) + (v - y) * (v - y));
      const float times = 1 + square / spread;
      weight = (likeness_of(own, colours(u, v)) + least_likeness) / (times * times);
      return ramp_score(u, v, range);
    });
  }
  /// Returns the mean of the scores of ramps and rims.
  SATIN_HD float mean_on_rim(int x, int y, const RadiusRange& range) const {
    return mean(x, y, [&](std::int64_t u, std::int64_t v, float& /*weight*/) {
      const std::uint8_t rim = scores[v * width + u].rim;
      const float by_rim = rim == SideScores::none ? 0 : static_cast<float>(rim) / SideScores::full_score;
      const float by_ramp = ramp_score(u, v, range);
      return by_rim > by_ramp ? by_rim : by_ramp;
    });
  }

  template <class Score>
  SATIN_HD float mean(int x, int y, const Score& score) const {
    float sum = 0;
    float weights = 0;
    for (std::int64_t v = y - score_reach; v <= y + score_reach; ++v)
      for (std::int64_t u = x - score_reach; u <= x + score_reach; ++u) {
        if (u < 0 || v < 0 || u >= width || v >= height) continue;
        float weight = 1;
        const float here = score(u, v, weight);
        sum = sum + weight * here;
        weights = weights + weight;
      }
    return sum / weights;
  }

  /// Returns the score of a pixel, or off ramps the place of its radius in the range.
  SATIN_HD float ramp_score(std::int64_t u, std::int64_t v, const RadiusRange& range) const {
    const std::uint8_t score = scores[v * width + u].ramp;
    if (score != SideScores::none) return static_cast<float>(score) / SideScores::full_score;
    const float share =
        static_cast<float>(radii.row(v)[u] - range.low) / static_cast<float>(range.high - range.low);
    return share < 0 ? 0 : share > 1 ? 1 : share;
  }
};

/// Gives pixels near silhouettes of soft depth the radius of their side. Pixels of specks and thin threads
/// change sides.
struct SnapToSides {
  static constexpr int speck_reach = 3;
  static constexpr int largest_speck = 12;  ///< pixels; a thread one pixel wide has 7 in 7 x 7

  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  const DepthStatistics* statistics;
  const ChosenSide* sides;
  Rows<SignedRadius256> result;

  struct Row {
    const SnapToSides& step;
    const ChosenSide* sides;
    const SignedRadius256* radii;
    SignedRadius256* result;
    int y;

    SATIN_HD void operator()(int x) const { result[x] = step.snapped(x, y); }
    [[nodiscard]] SATIN_HD bool is_rare(int x) const { return sides[x] != ChosenSide::none; }
    SATIN_HD void usual(int x) const { result[x] = radii[x]; }
  };
  [[nodiscard]] SATIN_HD bool idle() const { return statistics->soft == 0; }
  SATIN_HD Row row(int y) const { return {*this, sides + y * width, radii.row(y), result.row(y), y}; }

 private:
  SATIN_HD SignedRadius256 snapped(int x, int y) const {
    const SignedRadius256 own = radii.row(y)[x];
    const ChosenSide side = sides[y * width + x];
    if (side == ChosenSide::none) return own;
    SoftRamp ramp;
    const auto any = [](std::int64_t, std::int64_t) { return 1.0F; };
    const RadiusRange beside = range_of_square(radii, width, height, x, y, ramp_reach);
    if (is_on_ramp(radii, width, height, x, y, beside, ramp.range) &&
        find_sides(radii, width, height, x, y, any, ramp)) {
      const bool is_near = (side == ChosenSide::near) != is_speck(x, y, ramp.range);
      return is_near ? ramp.near.mean() : ramp.far.mean();
    }
    const SoftRim<NoColours> rim{radii, width, height, {}};
    SoftRim<NoColours>::Candidate pixel;
    const bool is_near =
        rim.find(x, y, own, pixel) && (side == ChosenSide::near) != is_speck(x, y, pixel.range);
    return is_near ? pixel.near : own;
  }

  /// Whether few of the 7 x 7 pixels around are on the pixel's side and connected with it, by corners too.
  /// Pixels outside the image are on every side. The window is 8 x 8 bits, whose last row and column stay 0,
  /// so that shifts do not wrap around.
  SATIN_HD bool is_speck(int x, int y, const RadiusRange& range) const {
    constexpr int pitch = 2 * speck_reach + 2;
    static_assert(pitch == 8);
    const bool is_near = sides[y * width + x] == ChosenSide::near;
    std::uint64_t alike = 0;
    for (int j = -speck_reach; j <= speck_reach; ++j)
      for (int i = -speck_reach; i <= speck_reach; ++i) {
        const std::int64_t u = x + i;
        const std::int64_t v = y + j;
        if (u < 0 || v < 0 || u >= width || v >= height || is_nearer(u, v, range) == is_near)
          alike |= std::uint64_t{1} << (pitch * (j + speck_reach) + i + speck_reach);
      }
    std::uint64_t before = 0;
    std::uint64_t connected = std::uint64_t{1} << (pitch * speck_reach + speck_reach);
    while (connected != before) {
      before = connected;
      connected |= connected << 1 | connected >> 1;
      connected |= connected << pitch | connected >> pitch;
      connected &= alike;
    }
    int size = 0;  // nvcc drops std::popcount
    for (; connected != 0; connected &= connected - 1) ++size;
    return size <= largest_speck;
  }
  SATIN_HD bool is_nearer(std::int64_t x, std::int64_t y, const RadiusRange& range) const {
    const ChosenSide side = sides[y * width + x];
    if (side != ChosenSide::none) return side == ChosenSide::near;
    const SignedRadius256 own = radii.row(y)[x];
    return own - range.low > range.high - own;
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

/// Colours from ColourSamples.
struct ColoursOfSamples {
  const GuideColour* sample_colours;
  std::int64_t width;

  SATIN_HD GuideColour operator()(std::int64_t x, std::int64_t y) const {
    return sample_colours[y * width + x];
  }
};

/// Decides whether depth is soft. If it is, and no sharp range was given, the radii are made again with one.
struct SoftDepthJob {
  using Operation = PixelwiseOperation<SoftDepthJob>;
  static constexpr const char* doing = "looking for soft depth";

  CircleOfConfusionJob circles;

  struct Images {
    ImageView depth;
    DepthStatistics* statistics = nullptr;  ///< this and the next one: in the backend's memory
    LensState* state = nullptr;
    MutableImageView radii;  ///< result of `circles`
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const std::int64_t width = circles.width;
    const std::int64_t height = circles.height;
    with_pixel_type(circles.type, [&]<class T>() {
      const DepthRows<T> depth{Rows<const T>(images.depth), circles.channels, circles.channel};
      launch(column_chunks(width), (height + soft_stride - 1) / soft_stride,
             CountRamps<T>{circles.rule, depth, width, height, images.state, images.statistics});
      launch(std::int64_t{1}, std::int64_t{1}, DecideSoftness{circles.rule, images.statistics, images.state});
      if (circles.rule.sharp_range_given || circles.rule.soft == SoftDepth::off) return;
      const RadiiOfDepth<T> again{circles.rule, depth, images.state, Rows<SignedRadius256>(images.radii)};
      launch(width, height, RadiiOfSoftDepth<T>{again, images.statistics});
    });
  }
};

/// Removes noise and thin extremes from the radii of soft depth and moves its silhouettes to the edges of the
/// picture.
struct SnapDepthJob {
  using Operation = PixelwiseOperation<SnapDepthJob>;
  static constexpr const char* doing = "snapping soft depth to the picture";

  EnlargeSizes sizes;
  Type type = Type::u8;  ///< type of the picture: u8, u16 or f32
  int channels = 1;
  int colours = 1;  ///< number of channels that guide: 1 or 3

  struct Images {
    ImageView picture;
    const DepthStatistics* statistics = nullptr;  ///< this and the next one: in the backend's memory
    GuideColour* sample_colours = nullptr;  ///< workspace, one for each sample; null if the sizes are equal
    SideScores* scores = nullptr;           ///< workspace, this and the next one for each sample
    ChosenSide* sides = nullptr;
    MutableImageView radii;  ///< i32, of the depth image's size, no unknown_radius
    MutableImageView spare;  ///< workspace, shaped like radii
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const std::int64_t width = sizes.depth_width;
    const std::int64_t height = sizes.depth_height;
    const ImageView radii = images.radii;
    const ImageView spare = images.spare;
    launch(width, height,
           CleanRadii{Rows<const SignedRadius256>(radii), width, height, images.statistics,
                      Rows<SignedRadius256>(images.spare)});
    const Rows<const SignedRadius256> clean(spare);
    const auto snap = [&]<class Colours>(const Colours& colours_at) {
      launch(width, height,
             ScoreSides<Colours>{clean, width, height, colours_at, images.statistics, images.scores});
      launch(width, height,
             ChooseSides<Colours>{clean, width, height, colours_at, images.statistics, images.scores,
                                  images.sides});
      launch(width, height,
             SnapToSides{clean, width, height, images.statistics, images.sides,
                         Rows<SignedRadius256>(images.radii)});
    };
    with_pixel_type(type, [&]<class T>() {
      const Rows<const T> picture(images.picture);
      if (images.sample_colours == nullptr) return snap(PictureColours<T>{picture, channels, colours});
      const ColourSamples<T> samples{sizes, picture, channels, colours, images.sample_colours};
      launch(width, height, ColourSoftSamples<T>{samples, images.statistics});
      snap(ColoursOfSamples{images.sample_colours, width});
    });
  }
};

}  // namespace satin
