#pragma once
// Rims: the outermost pixels of a nearer thing, to which soft depth gives the depth of what is behind it, as
// estimators work on small pictures, whose outlines lie inside those of the large one. Rims would stay sharp
// where the thing is blurred, as a line beside its silhouette.

#include <cmath>
#include <cstdint>

#include "depth/maths/circle_of_confusion.h"
#include "depth/maths/enlarge_radii.h"
#include "pixels/maths/channel_sum.h"

namespace satin {

/// Pixels belong to a side of a silhouette if they are nearer to its extreme than this share of the range.
inline constexpr float snap_side = 0.3F;
/// Differences of colour, squared and summed, that are as likely as not within one surface.
inline constexpr float snap_colours = 0.0128F;

/// Likeness of two colours: 1 if they are the same, less the more they differ.
SATIN_HD float likeness_of(const GuideColour& a, const GuideColour& b) {
  float terms[4] = {};
  for (int c = 0; c < 3; ++c) terms[c] = (a.value[c] - b.value[c]) * (a.value[c] - b.value[c]);
  const float times = 1 + sum_of_channels(terms, 3) / snap_colours;
  return 1 / (times * times);
}

inline constexpr std::int64_t rim_share = 240;  ///< a rim is no wider than this part of the depth image
inline constexpr int widest_rim = 8;
inline constexpr int narrowest_rim = 2;
/// At the distance of a rim lies something that is nearer by more.
inline constexpr SignedRadius256 rim_step = silhouette_step / 2;
/// What is behind is looked at in a disc of this radius, at every third row and column.
inline constexpr int rim_reach = 12;
inline constexpr int rim_stride = 3;
/// It lies so many pixels farther from the nearer thing than the pixel, and counts more the farther it is, as
/// closer by lies more of the rim.
inline constexpr float rim_beyond = 2;
inline constexpr float least_behind = 30;  ///< of some 1500 in the open
inline constexpr float rim_side = 0.1F;    ///< it differs in radius by less than this share of the range
/// Pixels of a rim look less than this like what is behind, and so does at least half of the pixels beside
/// them along the silhouette, at steps both ways: single pixels of a textured background do not.
inline constexpr float rim_likeness = 0.05F;
inline constexpr int rim_beside = 2;
inline constexpr int rim_steps = 2;

/// Pixels that a rim is wide at most in a depth image of this width; 0: it is too small to have any.
SATIN_HD int rim_of(std::int64_t width) {
  const std::int64_t share = width / rim_share;
  if (share < narrowest_rim) return 0;
  return share < widest_rim ? static_cast<int>(share) : widest_rim;
}

/// Gives pixels of rims the radius of the nearer thing. `Colours` tells the colour of a sample.
template <class Colours>
struct SoftRim {
  Rows<const SignedRadius256> radii;
  std::int64_t width;
  std::int64_t height;
  Colours colours;

  /// The radius of a pixel whose own is `own`.
  SATIN_HD SignedRadius256 radius(int x, int y, SignedRadius256 own) const {
    const int rim = rim_of(width);
    return rim == 0 || !may_be_near(x, y, rim, own) ? own : radius_near(x, y, rim, own);
  }

 private:
  /// The radius of a pixel that may be near a nearer thing.
  SATIN_HD SignedRadius256 radius_near(int x, int y, int rim, SignedRadius256 own) const {
    RadiusRange range{own, own};
    for_places_around(x, y, rim, [&](int, int, SignedRadius256 radius) {
      range.low = radius < range.low ? radius : range.low;
      range.high = radius > range.high ? radius : range.high;
    });
    const auto apart = static_cast<float>(range.high - range.low);
    if (range.high - range.low <= silhouette_step || static_cast<float>(range.high - own) < snap_side * apart)
      return own;
    Nearer nearer;
    for_places_around(x, y, rim, [&](int i, int j, SignedRadius256 radius) {
      if (static_cast<float>(range.high - radius) < snap_side * apart) nearer.add(i, j, radius);
    });
    const float length = sqrtf(nearer.right * nearer.right + nearer.down * nearer.down);
    if (!(length > 0)) return own;
    // What a ramp has made of the pixel's own radius tells nothing of what is behind.
    const Place place{x,
                      y,
                      nearer.right / length,
                      nearer.down / length,
                      radii.row(y)[x] == own ? own : range.low,
                      rim_side * apart};
    return looks_like_a_rim(place) ? radius_of_nearer(place, nearer.mean()) : own;
  }

  struct Nearer {
    float right = 0;  ///< the way there
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

  struct Place {
    int x, y;
    float right, down;       ///< the way to the nearer thing, of length 1
    SignedRadius256 behind;  ///< the radius of what is behind
    float close;             ///< to it
  };

  /// False if the four places at the distance of a rim are no nearer than the pixel. Few pixels are looked at
  /// more closely.
  SATIN_HD bool may_be_near(int x, int y, int rim, SignedRadius256 own) const {
    const SignedRadius256 least = own + rim_step;
    const SignedRadius256* row = radii.row(y);
    return (x >= rim && row[x - rim] > least) || (x + rim < width && row[x + rim] > least) ||
           (y >= rim && radii.row(y - rim)[x] > least) || (y + rim < height && radii.row(y + rim)[x] > least);
  }

  /// Calls take(i, j, radius) for eight directions and two distances in the picture.
  template <class Take>
  SATIN_HD void for_places_around(int x, int y, int rim, const Take& take) const {
    for (int distance = rim / 2; distance <= rim; distance += rim - rim / 2)
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
          const int away = i != 0 && j != 0 ? (distance * 3 + 3) / 4 : distance;
          const std::int64_t u = x + i * away;
          const std::int64_t v = y + j * away;
          if ((i == 0 && j == 0) || u < 0 || v < 0 || u >= width || v >= height) continue;
          take(i, j, radii.row(v)[u]);
        }
  }

  /// What is near enough to be found may lie on the ramp: behind that is the nearer thing itself.
  SATIN_HD SignedRadius256 radius_of_nearer(const Place& place, SignedRadius256 found) const {
    const std::int64_t u = place.x + static_cast<int>(rim_reach * place.right);
    const std::int64_t v = place.y + static_cast<int>(rim_reach * place.down);
    if (u < 0 || v < 0 || u >= width || v >= height) return found;
    const SignedRadius256 inside = radii.row(v)[u];
    return inside > found ? inside : found;
  }

  SATIN_HD bool looks_like_a_rim(const Place& place) const {
    if (!differs_from_behind(place, place.x, place.y)) return false;
    int beside = 0;
    for (int step = -rim_steps; step <= rim_steps; ++step) {
      const auto along = static_cast<float>(step * rim_beside);
      const std::int64_t u = place.x + static_cast<int>(along * -place.down);
      const std::int64_t v = place.y + static_cast<int>(along * place.right);
      if (step == 0 || u < 0 || v < 0 || u >= width || v >= height) continue;
      beside += differs_from_behind(place, u, v) ? 1 : 0;
    }
    return beside >= rim_steps;
  }

  /// True if the colour at (u, v) is not one of what is behind the place.
  SATIN_HD bool differs_from_behind(const Place& place, std::int64_t u, std::int64_t v) const {
    const GuideColour own = colours(u, v);
    float likeness = 0;
    float weight = 0;
    for (int j = -rim_reach; j <= rim_reach; j += rim_stride)
      for (int i = -rim_reach; i <= rim_reach; i += rim_stride) {
        const float beyond = -static_cast<float>(i) * place.right - static_cast<float>(j) * place.down;
        const std::int64_t at_x = place.x + i;
        const std::int64_t at_y = place.y + j;
        if (!(beyond > rim_beyond) || i * i + j * j > rim_reach * rim_reach || at_x < 0 || at_y < 0 ||
            at_x >= width || at_y >= height)
          continue;
        const auto off = static_cast<float>(radii.row(at_y)[at_x] - place.behind);
        if (!((off < 0 ? -off : off) < place.close)) continue;
        const float by = beyond * (beyond * beyond / (rim_beyond * rim_beyond) - 1);
        likeness = likeness + by * likeness_of(own, colours(at_x, at_y));
        weight = weight + by;
      }
    return weight > least_behind && likeness < rim_likeness * weight;
  }
};

}  // namespace satin
