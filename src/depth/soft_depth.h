#pragma once
// Soft depth, as phones and learned estimators make it: its silhouettes are ramps next to the edges of the
// picture, and overshoot.
//
// A depth image is soft if at least half of its silhouettes are ramps, or if the caller says so. Then
//   - more depth around the focus is sharp (DecideSoftness),
//   - thin extremes give way to the median around them (RejectThinExtremes),
//   - pixels near a silhouette get the radius of the side that looks like them (SnapToColours), and so do the
//     rims of nearer things (SoftRim).
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
    const double strength = state->strength;
    count([&](std::int64_t i) { return strength * inverse(x + i, y); }, counts);
  }
  SATIN_HD void count_down(std::int64_t x, std::int64_t y, RampCounts& counts) const {
    if (y < surface_reach || y + surface_reach >= height) return;
    const double strength = state->strength;
    count([&](std::int64_t i) { return strength * inverse(x, y + i); }, counts);
  }
  SATIN_HD void add(const RampCounts& counts) const {
    if (counts.silhouettes != 0) add_shared(&statistics->silhouettes, counts.silhouettes);
    if (counts.ramps != 0) add_shared(&statistics->ramps, counts.ramps);
  }

 private:
  /// Returns the inverse distance; NaN if it is unknown, which fails every comparison below.
  SATIN_HD double inverse(std::int64_t x, std::int64_t y) const {
    const DepthValue value = depth_value(static_cast<double>(depth.at(x, y)), rule);
    if (!value.known) return NAN;
    return rule.distances ? 1 / value.value : value.value;
  }
  SATIN_HD static double magnitude(double value) { return value < 0 ? -value : value; }

  /// Counts the pixel at 0; `radius_at(i)` returns the radius i pixels on.
  template <class RadiusAt>
  SATIN_HD static void count(const RadiusAt& radius_at, RampCounts& counts) {
    const double before = radius_at(-1);
    const double after = radius_at(1);
    const double rise = magnitude(after - before);
    if (!(rise > silhouette_step)) return;
    const double own = radius_at(0);
    if (!(own - own == 0)) return;
    if (!(magnitude(radius_at(surface_reach) - radius_at(-surface_reach)) <= most_rise * rise)) return;
    const double a = own - before;
    const double b = after - own;
    ++counts.silhouettes;
    counts.ramps += (a > ramp_step && b > ramp_step) || (a < -ramp_step && b < -ramp_step) ? 1U : 0U;
  }
};

/// Decides whether depth is soft, and then widens the sharp range; one thread.
struct DecideSoftness {
  DepthRule rule;
  DepthStatistics* statistics;
  LensState* state;

  SATIN_HD void operator()(int /*x*/, int /*y*/) const {
    const bool mostly_ramps = statistics->silhouettes >= least_silhouettes &&
                              2 * std::uint64_t{statistics->ramps} >= statistics->silhouettes;
    statistics->soft = rule.soft == SoftDepth::automatic ? mostly_ramps : rule.soft == SoftDepth::on;
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

/// Replaces radii near a silhouette of soft depth by the median of 5 x 5 radii, with the rank that
/// RankOperation has. That operation would filter every pixel, and depth that is not soft as well, because
/// the host of a GPU does not know whether depth is soft.
struct RejectThinExtremes {
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

// Constants of rims. Colours decide whether a pixel is on a rim: it looks unlike the surface behind, and so
// do at least half of the pixels next to it along the silhouette. Single pixels of a textured background do
// not.

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
inline constexpr float rim_likeness = 0.05F;  ///< pixels of a rim look less than this like the surface behind
inline constexpr int rim_beside = 2;          ///< distance of the pixels along the silhouette
inline constexpr int rim_steps = 2;           ///< number of them in each direction

/// Returns the largest width of a rim in a depth image of this width; 0 if it is too small to have rims.
SATIN_HD int rim_of(std::int64_t width) {
  const std::int64_t share = width / rim_share;
  if (share < narrowest_rim) return 0;
  return share < widest_rim ? static_cast<int>(share) : widest_rim;
}

/// Gives pixels of rims the radius of the nearer thing. `colours(x, y)` returns the colour of a sample.
///
/// A rim is the outermost part of a nearer thing that soft depth assigns to the surface behind: estimators
/// work on small pictures, whose outlines are inside those of the large one. A rim would stay sharp where the
/// thing is blurred, as a line along its silhouette.
template <class Colours>
struct SoftRim {
  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  Colours colours;

  /// Returns the radius of a pixel, which is `own` off rims.
  SATIN_HD SignedRadius256 radius(int x, int y, SignedRadius256 own) const {
    const int rim = rim_of(width);
    return rim == 0 || !may_be_near(x, y, rim, own) ? own : radius_near(x, y, rim, own);
  }

 private:
  SATIN_HD SignedRadius256 radius_near(int x, int y, int rim, SignedRadius256 own) const {
    RadiusRange range{own, own};
    for_pixels_around(x, y, rim, [&](int, int, SignedRadius256 radius) {
      range.low = radius < range.low ? radius : range.low;
      range.high = radius > range.high ? radius : range.high;
    });
    const auto apart = static_cast<float>(range.high - range.low);
    if (range.high - range.low <= silhouette_step || static_cast<float>(range.high - own) < snap_side * apart)
      return own;
    Nearer nearer;
    for_pixels_around(x, y, rim, [&](int i, int j, SignedRadius256 radius) {
      if (static_cast<float>(range.high - radius) < snap_side * apart) nearer.add(i, j, radius);
    });
    const float length = sqrtf(nearer.right * nearer.right + nearer.down * nearer.down);
    if (!(length > 0)) return own;
    // A radius that snapping changed says nothing about the surface behind
    const Candidate pixel{x,
                          y,
                          nearer.right / length,
                          nearer.down / length,
                          radii.row(y)[x] == own ? own : range.low,
                          rim_side * apart};
    return looks_like_a_rim(pixel) ? radius_of_nearer(pixel, nearer.mean()) : own;
  }

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
    [[nodiscard]] SATIN_HD SignedRadius256 mean() const {
      const float mean = radius / count;
      return static_cast<SignedRadius256>(mean < 0 ? mean - 0.5F : mean + 0.5F);
    }
  };

  /// A pixel that may be on a rim.
  struct Candidate {
    int x, y;
    float right, down;       ///< unit vector to the nearer thing
    SignedRadius256 behind;  ///< radius of the surface behind
    float close;             ///< largest difference from `behind` on that surface
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

  /// Returns the radius of the nearer thing. The pixels found may be on its ramp, so it is looked up once
  /// more farther inside.
  SATIN_HD SignedRadius256 radius_of_nearer(const Candidate& pixel, SignedRadius256 found) const {
    const std::int64_t u = pixel.x + static_cast<int>(rim_reach * pixel.right);
    const std::int64_t v = pixel.y + static_cast<int>(rim_reach * pixel.down);
    if (u < 0 || v < 0 || u >= width || v >= height) return found;
    const SignedRadius256 inside = radii.row(v)[u];
    return inside > found ? inside : found;
  }

  SATIN_HD bool looks_like_a_rim(const Candidate& pixel) const {
    if (!differs_from_behind(pixel, pixel.x, pixel.y)) return false;
    int beside = 0;
    for (int step = -rim_steps; step <= rim_steps; ++step) {
      const auto along = static_cast<float>(step * rim_beside);
      const std::int64_t u = pixel.x + static_cast<int>(along * -pixel.down);
      const std::int64_t v = pixel.y + static_cast<int>(along * pixel.right);
      if (step == 0 || u < 0 || v < 0 || u >= width || v >= height) continue;
      beside += differs_from_behind(pixel, u, v) ? 1 : 0;
    }
    return beside >= rim_steps;
  }

  /// Whether the colour at (u, v) is none of the surface behind the pixel.
  SATIN_HD bool differs_from_behind(const Candidate& pixel, std::int64_t u, std::int64_t v) const {
    const GuideColour own = colours(u, v);
    float likeness = 0;
    float weight = 0;
    for (int j = -rim_reach; j <= rim_reach; j += rim_stride)
      for (int i = -rim_reach; i <= rim_reach; i += rim_stride) {
        const float beyond = -static_cast<float>(i) * pixel.right - static_cast<float>(j) * pixel.down;
        const std::int64_t at_x = pixel.x + i;
        const std::int64_t at_y = pixel.y + j;
        if (!(beyond > rim_beyond) || i * i + j * j > rim_reach * rim_reach || at_x < 0 || at_y < 0 ||
            at_x >= width || at_y >= height)
          continue;
        const auto off = static_cast<float>(radii.row(at_y)[at_x] - pixel.behind);
        if (!((off < 0 ? -off : off) < pixel.close)) continue;
        const float weight_here = beyond * (beyond * beyond / (rim_beyond * rim_beyond) - 1);
        likeness = likeness + weight_here * likeness_of(own, colours(at_x, at_y));
        weight = weight + weight_here;
      }
    return weight > least_behind && likeness < rim_likeness * weight;
  }
};

inline constexpr int snap_reach = 6;  ///< radius of the disc in which both sides of a ramp are sampled
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
};

/// Gives pixels near silhouettes of soft depth the radius of the side that looks like them. `colours(x, y)`
/// returns the colour of a sample.
template <class Colours>
struct SnapToColours {
  static constexpr int reach = 2;

  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  Colours colours;
  const DepthStatistics* statistics;
  Rows<SignedRadius256> result;

  [[nodiscard]] SATIN_HD bool idle() const { return statistics->soft == 0; }
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
    const float share = static_cast<float>(own - range.low) / apart;
    const bool is_near = near.likely() * (0.15F + share) > far.likely() * (1.15F - share);
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
        const float weight = 1 / (times * times);
        const float alike = likeness_of(own, colours(u, v));
        if (within_near > 0)
          near.add(weight, alike, radius, within_near);
        else
          far.add(weight, alike, radius, within_far);
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

/// Removes thin extremes from the radii of soft depth and moves its silhouettes to the edges of the picture.
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
    MutableImageView radii;                 ///< i32, of the depth image's size, no unknown_radius
    MutableImageView spare;                 ///< workspace, shaped like radii
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    const std::int64_t width = sizes.depth_width;
    const std::int64_t height = sizes.depth_height;
    const ImageView radii = images.radii;
    const ImageView spare = images.spare;
    launch(width, height,
           RejectThinExtremes{Rows<const SignedRadius256>(radii), width, height, images.statistics,
                              Rows<SignedRadius256>(images.spare)});
    const auto snap = [&]<class Colours>(const Colours& colours_at) {
      launch(width, height,
             SnapToColours<Colours>{Rows<const SignedRadius256>(spare), width, height, colours_at,
                                    images.statistics, Rows<SignedRadius256>(images.radii)});
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
