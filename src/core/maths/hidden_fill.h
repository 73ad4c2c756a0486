#pragma once
// Step 3: what a lens sees behind nearer things. For every group but the nearest, pixels that are nearer than
// it get a sample of that group: colour and depth by means over growing windows, the share of the group among
// all that is as far or farther as its weight.

#include <cstdint>

#include "core/maths/channel_sum.h"
#include "core/maths/lens_picture.h"
#include "core/maths/lens_planes.h"

namespace satin {

inline constexpr int fill_windows = 5;
inline constexpr int fill_reach = 32;            ///< of the largest window
inline constexpr float least_occupancy = 0.05F;  ///< rarer groups are not filled in
inline constexpr int refined_reach = 8;          ///< pixels to both ends of a refined line
inline constexpr float refined_radius = 3.0F;    ///< sharper fills are refined, pixels
inline constexpr float merged_radius = 2.0F;     ///< more blurred ones are merged 2 x 2, pixels

/// Sums over one group, modulo 2^32. A window has at most 65 x 65 pixels: colours of 16 bits stay below
/// 2^28.1, radii below 2^31 if they are below 2^18, counts below 2^13.
struct alignas(16) FillColours {
  std::uint32_t value[4] = {};
};
struct alignas(8) FillOthers {
  std::uint32_t radius = 0;
  std::uint32_t counts = 0;  ///< of the group | of it and all behind << 16
};
inline constexpr int fill_colours = sizeof(FillColours) / sizeof(std::uint32_t);

/// The largest radius in 1/256 pixel for which window sums of radii are exact.
inline constexpr std::int32_t largest_fill_radius = 1 << 18;
static_assert(std::int64_t{(2 * fill_reach + 1) * (2 * fill_reach + 1)} * largest_fill_radius <
              std::int64_t{1} << 31);

/// u = v / (1 + v), so that lamps do not outweigh everything in a mean.
SATIN_HD float compressed_light(float light) { return light / (1 + light); }
/// In 16 bits.
SATIN_HD std::uint32_t compressed(float light) {
  return static_cast<std::uint32_t>(compressed_light(light) * 65535.0F + 0.5F);
}
/// v = u / (1 - u).
SATIN_HD float expanded_light(float mean) {
  constexpr float least = 0.5F / 65535.0F;
  const float rest = 1 - mean;
  return mean / (rest > least ? rest : least);
}

/// Inclusive tables, interleaved, of the part of the picture that begins at (left, top).
struct FillTables {
  const FillColours* colours = nullptr;
  const FillOthers* others = nullptr;
  std::int64_t stride = 0;  ///< pixels from row to row
  int left = 0;
  int top = 0;
};

template <int Channels>
struct FillSums {
  std::uint32_t colour[4] = {};
  std::int32_t radius = 0;
  std::uint32_t in_group = 0;
  std::uint32_t from_group_on = 0;
};

/// What one pixel adds to the tables of a group: six numbers.
struct FillEntry {
  LensPlanes planes;
  const LensUnit* unit;
  int group;

  SATIN_HD void operator()(int x, int y, FillColours& colours, FillOthers& others) const {
    const std::int64_t at = planes.place(x, y);
    const int own = planes.groups[at];
    colours = {};
    others = {0, own < group ? 0U : 1U << 16};
    if (own != group) return;
    for (int c = 0; c < planes.channels; ++c)
      colours.value[c] = compressed(lens_light(planes.colours[at * planes.channels + c], *unit));
    others.radius = static_cast<std::uint32_t>(planes.radii[at]);
    others.counts += 1;
  }
};

/// Adds the hidden samples of one group for a block of 2 x 2 pixels.
template <int Channels>
struct FillHidden {
  LensPlanes planes;
  FillTables tables;
  const LensUnit* unit;
  int group;
  LensList list;

  /// (x, y) is the number of the block.
  SATIN_HD void operator()(int x, int y) const {
    if (nothing_to_fill(2 * x, 2 * y)) return;
    Hidden merged{};
    Hidden hidden[4];
    for (int i = 0; i < 4; ++i) {
      hidden[i] = Hidden{};
      const int u = 2 * x + (i & 1);
      const int v = 2 * y + (i >> 1);
      if (!is_nearer(u, v)) continue;
      hidden[i] = fill(u, v);
      for (int c = 0; c < Channels; ++c)
        merged.colour[c] = merged.colour[c] + hidden[i].weight * hidden[i].colour[c];
      merged.radius = merged.radius + hidden[i].weight * hidden[i].radius;
      merged.weight = merged.weight + hidden[i].weight;
    }
    if (!(merged.weight > 0)) return;
    for (int c = 0; c < Channels; ++c) merged.colour[c] = merged.colour[c] / merged.weight;
    merged.radius = merged.radius / merged.weight;
    const bool whole = 2 * x + 1 < planes.width && 2 * y + 1 < planes.height;
    if (whole && absolute(merged.radius) > merged_radius) return add(2 * x, 2 * y, merged, 2);
    for (int i = 0; i < 4; ++i)
      if (hidden[i].weight > 0) add(2 * x + (i & 1), 2 * y + (i >> 1), hidden[i], 1);
  }

 private:
  /// Linear light and a radius in pixels.
  struct Hidden {
    float colour[4];
    float radius;
    float weight;
  };

  [[nodiscard]] SATIN_HD static float absolute(float value) { return value < 0 ? -value : value; }

  [[nodiscard]] SATIN_HD bool is_nearer(int x, int y) const {
    return planes.holds(x, y) && planes.groups[planes.place(x, y)] < group;
  }

  /// No pixel of the block at (x, y) is nearer than the group, or the group is nowhere around them.
  [[nodiscard]] SATIN_HD bool nothing_to_fill(int x, int y) const {
    if (!is_nearer(x, y) && !is_nearer(x + 1, y) && !is_nearer(x, y + 1) && !is_nearer(x + 1, y + 1))
      return true;
    const FillWindow first = window_of(x, y, fill_reach);
    const FillWindow last = window_of(x + 1, y + 1, fill_reach);
    return (counts({first.left, first.top, last.right, last.bottom}) & 0xFFFFU) == 0;
  }

  /// Tables hold 16 bits: what is nearer than that to the visible colour is the visible colour, so that a
  /// constant picture stays constant.
  SATIN_HD std::uint32_t integer_near(float light, std::uint32_t visible) const {
    const float apart = compressed_light(light) - compressed_light(lens_light(visible, *unit));
    return absolute(apart) < 1.0F / 65535.0F ? visible : lens_integer(light, *unit);
  }

  SATIN_HD void add(int x, int y, const Hidden& hidden, int block) const {
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
    list.add(sample);
  }

  SATIN_HD void add_corner(FillSums<Channels>& sums, int x, int y, std::uint32_t sign) const {
    if (x < tables.left || y < tables.top) return;
    const std::int64_t at = static_cast<std::int64_t>(y - tables.top) * tables.stride + (x - tables.left);
    const FillColours colours = tables.colours[at];
    const FillOthers others = tables.others[at];
    for (int c = 0; c < Channels; ++c) sums.colour[c] += sign * colours.value[c];
    sums.radius = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums.radius) + sign * others.radius);
    sums.in_group += sign * others.counts;
  }

  struct FillWindow {
    int left, top, right, bottom;
  };

  SATIN_HD FillWindow window_of(int x, int y, int reach) const {
    return {x < reach ? 0 : x - reach, y < reach ? 0 : y - reach,
            x + reach < planes.width ? x + reach : planes.width - 1,
            y + reach < planes.height ? y + reach : planes.height - 1};
  }

  [[nodiscard]] SATIN_HD std::uint32_t counts_at(int x, int y) const {
    if (x < tables.left || y < tables.top) return 0;
    const std::int64_t at = static_cast<std::int64_t>(y - tables.top) * tables.stride + (x - tables.left);
    return tables.others[at].counts;
  }

  /// The counts alone, as they are stored.
  [[nodiscard]] SATIN_HD std::uint32_t counts(const FillWindow& w) const {
    return counts_at(w.right, w.bottom) - counts_at(w.left - 1, w.bottom) - counts_at(w.right, w.top - 1) +
           counts_at(w.left - 1, w.top - 1);
  }

  SATIN_HD FillSums<Channels> window(int x, int y, int reach) const {
    const FillWindow w = window_of(x, y, reach);
    FillSums<Channels> sums;
    add_corner(sums, w.right, w.bottom, 1U);
    add_corner(sums, w.left - 1, w.bottom, ~0U);
    add_corner(sums, w.right, w.top - 1, ~0U);
    add_corner(sums, w.left - 1, w.top - 1, 1U);
    sums.from_group_on = sums.in_group >> 16;
    sums.in_group &= 0xFFFFU;
    return sums;
  }

  /// The hidden sample of one pixel; weight 0: there is none.
  SATIN_HD Hidden fill(int x, int y) const {
    constexpr int reaches[fill_windows] = {1, 2, 4, 16, fill_reach};
    constexpr float factors[fill_windows] = {1.0F, 1.0F / 24, 1.0F / 2048, 1.0F / 131072, 1.0F / 33554432};
    Hidden result{};
    // a window holds all smaller ones: nothing in it, nothing in them
    if ((counts(window_of(x, y, fill_reach)) & 0xFFFFU) == 0) return result;
    int first = fill_windows - 1;
    while (first > 0 && counts(window_of(x, y, reaches[first - 1])) != 0) --first;
    float in_group = 0;
    float from_group_on = 0;
    const int below_first = first == 0 ? 0 : reaches[first - 1];
    for (int i = first; i < fill_windows; ++i) {
      const FillSums<Channels> sums = window(x, y, reaches[i]);
      for (int c = 0; c < Channels; ++c)
        result.colour[c] = result.colour[c] + factors[i] * static_cast<float>(sums.colour[c]);
      result.radius = result.radius + factors[i] * static_cast<float>(sums.radius);
      in_group = in_group + factors[i] * static_cast<float>(sums.in_group);
      from_group_on = from_group_on + factors[i] * static_cast<float>(sums.from_group_on);
    }
    if (!(in_group > 0) || in_group < least_occupancy * from_group_on) return Hidden{};
    result.radius = result.radius / in_group * lens_radius_scale;
    const float own = absolute(static_cast<float>(planes.radii[planes.place(x, y)])) * lens_radius_scale;
    if (static_cast<float>(below_first) > own + absolute(result.radius) + 1) return Hidden{};
    for (int c = 0; c < Channels; ++c) result.colour[c] = result.colour[c] / in_group / 65535.0F;
    result.weight = in_group / from_group_on;
    if (absolute(result.radius) < refined_radius) refine(x, y, result);
    for (int c = 0; c < Channels; ++c) result.colour[c] = expanded_light(result.colour[c]);
    return result;
  }

  /// The nearest pixel along one direction that is of the group or behind it: its distance, 0 if there is
  /// none within reach or it is behind.
  SATIN_HD int distance(int x, int y, int step_x, int step_y) const {
    for (int i = 1; i <= refined_reach; ++i) {
      const int u = x + i * step_x;
      const int v = y + i * step_y;
      if (!planes.holds(u, v)) return 0;
      const int own = planes.groups[planes.place(u, v)];
      if (own >= group) return own == group ? i : 0;
    }
    return 0;
  }

  /// Lines of structure go on behind what is thin: along the row and the column, compressed colours between
  /// both ends.
  SATIN_HD void refine(int x, int y, Hidden& hidden) const {
    constexpr float fill_weight = 1.0F / 30;
    float sum[4] = {};
    float total = 0;
    for (int axis = 0; axis < 2; ++axis) {
      const int step_x = axis == 0 ? 1 : 0;
      const int step_y = 1 - step_x;
      const int after = distance(x, y, step_x, step_y);
      if (after == 0) continue;
      const int before = distance(x, y, -step_x, -step_y);
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
