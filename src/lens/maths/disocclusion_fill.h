#pragma once
// Disocclusion fill: a blurred near object shows what lies behind it. For each group but the nearest,
// pixels of nearer groups get a hidden sample of that group.
//
// Colour and radius are means over the group's pixels in five growing windows, the smaller ones with much
// more weight. The weight of the sample is the share of the group among all pixels in or behind it. Sharp
// fills are refined along the row and the column, very blurred ones off the picture's border are merged
// 2 x 2. A backend provides the window sums, from summed-area tables of (u, c, 1), u = v / (1 + v).

#include <cstdint>

#include "lens/maths/picture.h"
#include "lens/maths/samples.h"
#include "pixels/maths/pixel.h"

namespace satin {

inline constexpr int fill_windows = 5;
inline constexpr int fill_reach = 32;            ///< reach of the largest window
inline constexpr float least_occupancy = 0.05F;  ///< least weight of a sample
inline constexpr int refined_reach = 8;          ///< reach of the search for both ends of a line, pixels
inline constexpr float refined_radius = 3.0F;    ///< sharper fills are refined, pixels
/// Merging radii that are tried if the list does not hold the samples: first of all groups, then of one group
/// after the other, as long as they fit.
inline constexpr float lower_merged_radius = 2.0F;
inline constexpr float every_merged_radius = -1.0F;

/// Half side of a window, and the weight of its pixels.
struct FillWindow {
  int reach;
  float factor;
};
SATIN_HD FillWindow fill_window(int number) {
  constexpr FillWindow windows[fill_windows] = {
      {1, 1.0F}, {2, 1.0F / 24}, {4, 1.0F / 2048}, {16, 1.0F / 131072}, {fill_reach, 1.0F / 33554432}};
  return windows[number];
}

// Window sums are modulo 2^32. A window has at most 65 x 65 pixels: colours of 16 bits stay below 2^28.1,
// radii below 2^31 if they are below 2^18, counts below 2^13.

/// A pixel's entry in the table of counts: whether it is in the group, and in bit 16 whether it is in it or
/// behind it.
SATIN_HD std::uint32_t fill_count(std::uint32_t in_group, std::uint32_t from_group_on) {
  return in_group + (from_group_on << 16);
}

/// Bound in 1/256 pixel below which window sums of radii are exact.
inline constexpr std::int32_t largest_fill_radius = 1 << 18;
static_assert(std::int64_t{(2 * fill_reach + 1) * (2 * fill_reach + 1)} * largest_fill_radius <
              std::int64_t{1} << 31);

/// Returns u = v / (1 + v), so that lamps do not dominate a mean.
SATIN_HD float compressed_light(float light) { return light / (1 + light); }
/// Converts compressed light to 16 bits.
SATIN_HD std::uint32_t packed_light(float compressed) {
  return static_cast<std::uint32_t>(compressed * 65535.0F + 0.5F);
}
SATIN_HD std::uint32_t compressed(float light) { return packed_light(compressed_light(light)); }
inline constexpr float least_light_left = 0.5F / 65535.0F;
/// Returns v = u / (1 - u).
SATIN_HD float expanded_light(float mean) {
  const float rest = 1 - mean;
  return mean / (rest > least_light_left ? rest : least_light_left);
}

/// Weighted sums over a pixel's windows from `first` on. There is no sample if `first` is fill_windows.
template <int Channels>
struct FillFound {
  int first = fill_windows;
  float in_group = 0;
  float from_group_on = 0;
  float radius = 0;
  float colour[4] = {};

  /// These add the sum over window `number`, for each number from `first` on in increasing order.
  SATIN_HD void add_counts(int number, std::uint32_t counts) {
    in_group = in_group + fill_window(number).factor * static_cast<float>(counts & 0xFFFFU);
    from_group_on = from_group_on + fill_window(number).factor * static_cast<float>(counts >> 16);
  }
  SATIN_HD void add_radius(int number, std::uint32_t sum) {
    radius = radius + fill_window(number).factor * static_cast<float>(static_cast<std::int32_t>(sum));
  }
  SATIN_HD void add_colour(int number, int channel, std::uint32_t sum) {
    colour[channel] = colour[channel] + fill_window(number).factor * static_cast<float>(sum);
  }
  /// Whether the group is too rare for a sample; valid after all counts.
  [[nodiscard]] SATIN_HD bool is_rare() const {
    return !(in_group > 0) || in_group < least_occupancy * from_group_on;
  }
};

/// A hidden sample: linear light, radius in pixels. There is none if the weight is 0.
struct Hidden {
  float colour[4];
  float radius;
  float weight;
};

/// Half side of the window whose farther groups expose a pixel. Elsewhere the pixel is inside a surface, and
/// opaque even where the radii around it differ so that its own group leaves gaps.
SATIN_HD int exposed_reach(std::uint32_t radius) { return static_cast<int>((radius + 255) / 256) + 1; }
static_assert(lens_exposed_radius <= (fill_reach - 1) * 256);

template <int Channels>
struct FillDisocclusions {
  LensPlanes planes;
  const LensUnit* unit;
  int group;
  LensList list;
  float merged_radius;  ///< more blurred fills are merged 2 x 2, pixels

  [[nodiscard]] SATIN_HD bool is_nearer(int x, int y) const {
    return planes.holds(x, y) && planes.groups[planes.place(x, y)] < group;
  }

  /// Marks a nearer pixel at `at`, whose magnitude is given, with the group in its window. count(reach) is
  /// the number of the group's pixels.
  template <class Count>
  SATIN_HD void expose(std::int64_t at, std::uint32_t radius, const Count& count) const {
    if (radius < lens_exposed_radius && count(exposed_reach(radius)) != 0) planes.exposed[at] = 1;
  }

  /// Whether a sample of the group can show beside a pixel with this radius: the nearest window that has any
  /// is within both radii.
  [[nodiscard]] SATIN_HD bool shows(std::int32_t radius, const FillFound<Channels>& found) const {
    const int empty_reach = found.first == 0 ? 0 : fill_window(found.first - 1).reach;
    const float own = absolute(static_cast<float>(radius)) * lens_radius_scale;
    return !(static_cast<float>(empty_reach) > own + absolute(mean_radius(found)) + 1);
  }

  /// Makes the hidden sample of one pixel. nearest(x, y, step_x, step_y) returns the distance along a
  /// direction to the nearest pixel that is in the group or behind it; 0 if there is none within
  /// refined_reach, or if that pixel is behind.
  template <class Nearest>
  [[nodiscard]] SATIN_HD Hidden hidden_at(int x, int y, const FillFound<Channels>& found,
                                          const Nearest& nearest) const {
    Hidden result{};
    if (found.first == fill_windows || found.is_rare() || !shows(planes.radii[planes.place(x, y)], found))
      return result;
    result.radius = mean_radius(found);
    for (int c = 0; c < Channels; ++c) result.colour[c] = found.colour[c] / found.in_group / 65535.0F;
    result.weight = found.in_group / found.from_group_on;
    if (absolute(result.radius) < refined_radius) refine(x, y, nearest, result);
    for (int c = 0; c < Channels; ++c) result.colour[c] = expanded_light(result.colour[c]);
    if (found.first == 0) take_lamps(x, y, result);
    return result;
  }

  /// Adds the samples of block (x, y) of 2 x 2 pixels to the list.
  SATIN_HD void add_block(int x, int y, const Hidden (&hidden)[4]) const {
    for_samples_of_block(x, y, hidden, [&](const LensSample& sample) { list.add(sample); });
  }

  template <class Take>
  SATIN_HD void for_samples_of_block(int x, int y, const Hidden (&hidden)[4], const Take& take) const {
    Hidden merged{};
    for (int i = 0; i < 4; ++i) {
      for (int c = 0; c < Channels; ++c)
        merged.colour[c] = merged.colour[c] + hidden[i].weight * hidden[i].colour[c];
      merged.radius = merged.radius + hidden[i].weight * hidden[i].radius;
      merged.weight = merged.weight + hidden[i].weight;
    }
    if (!(merged.weight > 0)) return;
    for (int c = 0; c < Channels; ++c) merged.colour[c] = merged.colour[c] / merged.weight;
    merged.radius = merged.radius / merged.weight;
    const bool inner = x > 0 && y > 0 && 2 * x + 2 < planes.width && 2 * y + 2 < planes.height;
    if (inner && absolute(merged.radius) > merged_radius) return make(2 * x, 2 * y, merged, 2, take);
    for (int i = 0; i < 4; ++i)
      if (hidden[i].weight > 0) make(2 * x + (i & 1), 2 * y + (i >> 1), hidden[i], 1, take);
  }

 private:
  [[nodiscard]] SATIN_HD static float mean_radius(const FillFound<Channels>& found) {
    return found.radius / found.in_group * lens_radius_scale;
  }
  [[nodiscard]] SATIN_HD static float absolute(float value) { return value < 0 ? -value : value; }

  [[nodiscard]] SATIN_HD bool is_lamp(const std::uint32_t* colour) const {
    for (int c = 0; c < Channels; ++c)
      if (lens_light(colour[c], *unit) > 1) return true;
    return false;
  }

  /// Continues lamps behind silhouettes: beside pixels above white, colours are the linear mean of the
  /// group's 3 x 3 pixels, because a mean of compressed light would hide the lamp.
  SATIN_HD void take_lamps(int x, int y, Hidden& hidden) const {
    if (!(unit->largest > unit->white)) return;
    float sum[4] = {};
    float count = 0;
    bool lamp = false;
    for (int i = 0; i < 9; ++i) {
      const int u = x + i % 3 - 1;
      const int v = y + i / 3 - 1;
      if (!planes.holds(u, v) || planes.groups[planes.place(u, v)] != group) continue;
      const std::uint32_t* colour = planes.colours + planes.place(u, v) * Channels;
      lamp = lamp || is_lamp(colour);
      for (int c = 0; c < Channels; ++c) sum[c] = sum[c] + lens_light(colour[c], *unit);
      count = count + 1;
    }
    if (!lamp) return;
    for (int c = 0; c < Channels; ++c) hidden.colour[c] = sum[c] / count;
  }

  /// Converts to an integer. Tables hold 16 bits; a colour that equals the visible one within them is stored
  /// as the visible one, so that a constant picture stays constant.
  SATIN_HD std::uint32_t integer_near(float light, std::uint32_t visible) const {
    const float apart = compressed_light(light) - compressed_light(lens_light(visible, *unit));
    return absolute(apart) < 1.0F / 65535.0F ? visible : lens_integer(light, *unit);
  }

  template <class Take>
  SATIN_HD void make(int x, int y, const Hidden& hidden, int block, const Take& take) const {
    const auto weight = static_cast<std::uint32_t>(hidden.weight * lens_full_weight + 0.5F);
    if (weight == 0) return;
    LensSample sample{};
    const std::uint32_t* visible = planes.colours + planes.place(x, y) * Channels;
    for (int c = 0; c < Channels; ++c) sample.colour[c] = integer_near(hidden.colour[c], visible[c]);
    sample.x = x;
    sample.y = y;
    sample.radius = static_cast<std::uint32_t>(absolute(hidden.radius) * 256.0F + 0.5F);
    sample.weight = static_cast<std::uint16_t>(weight);
    sample.block = static_cast<std::uint8_t>(block);
    sample.group = static_cast<std::uint8_t>(group);
    take(sample);
  }

  /// Continues lines behind thin objects: interpolates compressed colours between both ends, along the row
  /// and the column.
  /// The weight of an axis is 1 / (L^2 (|dv|^2 + 0.03)), L the distance of both ends.
  template <class Nearest>
  SATIN_HD void refine(int x, int y, const Nearest& nearest, Hidden& hidden) const {
    constexpr float fill_weight = 1.0F / 30;
    float sum[4] = {};
    float total = 0;
    for (int axis = 0; axis < 2; ++axis) {
      const int step_x = axis == 0 ? 1 : 0;
      const int step_y = 1 - step_x;
      const int after = nearest(x, y, step_x, step_y);
      if (after == 0) continue;
      const int before = nearest(x, y, -step_x, -step_y);
      if (before == 0) continue;
      const std::uint32_t* a =
          planes.colours + planes.place(x - before * step_x, y - before * step_y) * Channels;
      const std::uint32_t* b =
          planes.colours + planes.place(x + after * step_x, y + after * step_y) * Channels;
      const float length = static_cast<float>(before + after);
      float apart[4] = {};
      float between[4];
      for (int c = 0; c < Channels; ++c) {
        const float va = compressed_light(lens_light(a[c], *unit));
        const float vb = compressed_light(lens_light(b[c], *unit));
        apart[c] = (va - vb) * (va - vb);
        between[c] = (va * static_cast<float>(after) + vb * static_cast<float>(before)) / length;
      }
      const float weight = 1.0F / (length * length * (sum_of_channels(apart, Channels) + 0.03F));
      for (int c = 0; c < Channels; ++c) sum[c] = sum[c] + weight * between[c];
      total = total + weight;
    }
    if (!(total > 0)) return;
    for (int c = 0; c < Channels; ++c)
      hidden.colour[c] = (sum[c] + fill_weight * hidden.colour[c]) / (total + fill_weight);
  }
};

}  // namespace satin
