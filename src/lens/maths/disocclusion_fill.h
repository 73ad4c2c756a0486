#pragma once
// Step 3: what a lens sees behind nearer things. For every group but the nearest, pixels that are nearer than
// it get a sample of that group: colour and depth by means over growing windows, the share of the group among
// all that is as far or farther as its weight.

#include <cstdint>

#include "lens/maths/picture.h"
#include "lens/maths/samples.h"
#include "pixels/maths/channel_sum.h"

namespace satin {

inline constexpr int fill_windows = 5;
inline constexpr int fill_reach = 32;            ///< of the largest window
inline constexpr float least_occupancy = 0.05F;  ///< rarer groups are not filled in
inline constexpr int refined_reach = 8;          ///< pixels to both ends of a refined line
inline constexpr float refined_radius = 3.0F;    ///< sharper fills are refined, pixels
inline constexpr float merged_radius = 2.0F;     ///< more blurred ones are merged 2 x 2, pixels

/// Pixels that a window reaches to each side, and what each of them weighs.
struct FillWindow {
  int reach;
  float factor;
};
SATIN_HD FillWindow fill_window(int number) {
  constexpr FillWindow windows[fill_windows] = {
      {1, 1.0F}, {2, 1.0F / 24}, {4, 1.0F / 2048}, {16, 1.0F / 131072}, {fill_reach, 1.0F / 33554432}};
  return windows[number];
}

// Sums over one group are modulo 2^32. A window has at most 65 x 65 pixels: colours of 16 bits stay below
// 2^28.1, radii below 2^31 if they are below 2^18, counts below 2^13.

/// What a pixel adds to the counts of a group: 1 if it is of it | 1 if it is of it or behind << 16.
SATIN_HD std::uint32_t fill_count(std::uint32_t in_group, std::uint32_t from_group_on) {
  return in_group + (from_group_on << 16);
}

/// The largest radius in 1/256 pixel for which window sums of radii are exact.
inline constexpr std::int32_t largest_fill_radius = 1 << 18;
static_assert(std::int64_t{(2 * fill_reach + 1) * (2 * fill_reach + 1)} * largest_fill_radius <
              std::int64_t{1} << 31);

/// u = v / (1 + v), so that lamps do not outweigh everything in a mean.
SATIN_HD float compressed_light(float light) { return light / (1 + light); }
/// Compressed light in 16 bits.
SATIN_HD std::uint32_t packed_light(float compressed) {
  return static_cast<std::uint32_t>(compressed * 65535.0F + 0.5F);
}
SATIN_HD std::uint32_t compressed(float light) { return packed_light(compressed_light(light)); }
inline constexpr float least_light_left = 0.5F / 65535.0F;
/// v = u / (1 - u).
SATIN_HD float expanded_light(float mean) {
  const float rest = 1 - mean;
  return mean / (rest > least_light_left ? rest : least_light_left);
}

/// What one pixel finds in its windows from `first` on: sums of what the group has there, near ones with more
/// weight. No sample is made where `first` is fill_windows.
template <int Channels>
struct FillFound {
  int first = fill_windows;
  float in_group = 0;
  float from_group_on = 0;
  float radius = 0;
  float colour[4] = {};

  /// Each of these adds the sum over window `number`, from `first` upwards.
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
  /// After all counts.
  [[nodiscard]] SATIN_HD bool is_rare() const {
    return !(in_group > 0) || in_group < least_occupancy * from_group_on;
  }
};

/// What a pixel hides: linear light and a radius in pixels. Weight 0: nothing.
struct Hidden {
  float colour[4];
  float radius;
  float weight;
};

/// The disocclusion fill of one group.
template <int Channels>
struct FillDisocclusions {
  LensPlanes planes;
  const LensUnit* unit;
  int group;
  LensList list;

  /// Only such pixels look into their windows.
  [[nodiscard]] SATIN_HD bool is_nearer(int x, int y) const {
    return planes.holds(x, y) && planes.groups[planes.place(x, y)] < group;
  }

  /// A sample of the group may show beside the pixel: the group is near enough for their two radii.
  [[nodiscard]] SATIN_HD bool shows(int x, int y, const FillFound<Channels>& found) const {
    const int empty_reach = found.first == 0 ? 0 : fill_window(found.first - 1).reach;
    const float own = absolute(static_cast<float>(planes.radii[planes.place(x, y)])) * lens_radius_scale;
    return !(static_cast<float>(empty_reach) > own + absolute(mean_radius(found)) + 1);
  }

  /// The filled sample behind one pixel. nearest(x, y, step_x, step_y) is the nearest pixel along one
  /// direction that is of the group or behind it: its distance, 0 if there is none in refined_reach or it is
  /// behind.
  template <class Nearest>
  [[nodiscard]] SATIN_HD Hidden hidden_at(int x, int y, const FillFound<Channels>& found,
                                          const Nearest& nearest) const {
    Hidden result{};
    if (found.first == fill_windows || found.is_rare() || !shows(x, y, found)) return result;
    result.radius = mean_radius(found);
    for (int c = 0; c < Channels; ++c) result.colour[c] = found.colour[c] / found.in_group / 65535.0F;
    result.weight = found.in_group / found.from_group_on;
    if (absolute(result.radius) < refined_radius) refine(x, y, nearest, result);
    for (int c = 0; c < Channels; ++c) result.colour[c] = expanded_light(result.colour[c]);
    if (found.first == 0) take_lamps(x, y, result);
    return result;
  }

  /// Adds the samples of a block of 2 x 2 pixels to the list; (x, y) is its number.
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
    const bool whole = 2 * x + 1 < planes.width && 2 * y + 1 < planes.height;
    if (whole && absolute(merged.radius) > merged_radius) return make(2 * x, 2 * y, merged, 2, take);
    for (int i = 0; i < 4; ++i)
      if (hidden[i].weight > 0) make(2 * x + (i & 1), 2 * y + (i >> 1), hidden[i], 1, take);
  }

 private:
  /// Pixels.
  [[nodiscard]] SATIN_HD static float mean_radius(const FillFound<Channels>& found) {
    return found.radius / found.in_group * lens_radius_scale;
  }
  [[nodiscard]] SATIN_HD static float absolute(float value) { return value < 0 ? -value : value; }

  [[nodiscard]] SATIN_HD bool is_lamp(const std::uint32_t* colour) const {
    for (int c = 0; c < Channels; ++c)
      if (lens_light(colour[c], *unit) > 1) return true;
    return false;
  }

  /// Lamps go on behind silhouettes: beside pixels brighter than white, the linear mean of the group in 3 x 3
  /// pixels, as the mean of compressed light hides them.
  SATIN_HD void take_lamps(int x, int y, Hidden& hidden) const {
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

  /// Tables hold 16 bits: what is nearer than that to the visible colour is the visible colour, so that a
  /// constant picture stays constant.
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

  /// Lines of structure go on behind what is thin: along the row and the column, compressed colours between
  /// both ends.
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
