#pragma once
// The data that the steps of the non-local fill share: packed colours, samples to fill, and found offsets.

#include <cmath>
#include <cstdint>

#include "lens/maths/disocclusion_fill.h"

namespace satin {

inline constexpr std::uint32_t nonlocal_radius = 4 * 256;  ///< hidden samples below it are sharp
inline constexpr std::uint32_t least_needed = 50;          ///< fewer sharp ones of a group stay as they are
inline constexpr float most_copied = 1.2F;                 ///< linear light; lamps are not texture

inline constexpr int offset_reach = 72;
inline constexpr int offset_columns = 2 * offset_reach + 1;
inline constexpr int offset_rows = offset_reach + 1;  ///< below or beside; those above are their opposites
inline constexpr int offset_count = offset_columns * offset_rows;
inline constexpr int least_offset = 5;  ///< nearer ones repeat nothing
inline constexpr int point_cells = 48;  ///< points along the longer side of the picture
inline constexpr int most_points = point_cells * point_cells;
inline constexpr int most_candidates = offset_count / 2;
inline constexpr int most_offset_pairs = 16;  ///< an offset and its opposite

inline constexpr int known_reach = 12;  ///< costs are means over 25 x 25 pixels
inline constexpr int known_area = (2 * known_reach + 1) * (2 * known_reach + 1);
inline constexpr std::uint32_t least_known = known_area * 15 / 100;  ///< fewer known pixels tell no cost
inline constexpr int guard_distance = 4;

// Compressed light in 9 bits, three colours a word and the group above them; what must not be copied has no
// group. A difference of words is below 3 * 2^18: a sum of four over the window stays below 2^31, over all
// points below 2^31 as well.

inline constexpr std::uint32_t packed_largest = 511;
inline constexpr std::uint32_t nothing_packed = 7U << 27;
/// Above every code. The code of infinite light, which is not used, is this one.
inline constexpr float most_scaled = 1024;
inline constexpr float packed_scale = most_copied / (1 + most_copied) / packed_largest;  ///< of one code
static_assert(std::uint64_t{4} * known_area * 3 * packed_largest * packed_largest < std::uint64_t{1} << 31);
static_assert(std::uint64_t{most_points} * 3 * packed_largest * packed_largest < std::uint64_t{1} << 31);

SATIN_HD std::uint32_t packed_group(std::uint32_t word) { return word >> 27; }
SATIN_HD std::uint32_t packed_code(std::uint32_t word, int c) { return word >> (9 * c) & packed_largest; }

/// Squared differences of the codes, summed.
SATIN_HD std::uint32_t packed_difference(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (int c = 0; c < 3; ++c) {
    const auto apart =
        static_cast<std::int32_t>(packed_code(a, c)) - static_cast<std::int32_t>(packed_code(b, c));
    sum += static_cast<std::uint32_t>(apart * apart);
  }
  return sum;
}

struct Offset {
  std::int32_t x;
  std::int32_t y;
};

/// Place i of the array of offsets.
SATIN_HD Offset offset_at(int i) { return {i % offset_columns - offset_reach, i / offset_columns}; }

/// The sum of differences at sampled points, and how many of them know both ends.
struct OffsetSum {
  std::uint32_t sum;
  std::uint32_t count;
};

struct OffsetCandidate {
  double difference;  ///< mean
  std::int32_t place;
};

/// Work on one picture and one group at a time, in the memory of one device.
struct NonlocalWork {
  std::uint32_t needed[lens_most_groups] = {};  ///< sharp hidden samples by group
  std::uint32_t points = 0;
  std::uint32_t candidates = 0;
  std::uint32_t offsets = 0;
  Offset point[most_points] = {};  ///< in no order
  OffsetSum sums[offset_count] = {};
  OffsetCandidate candidate[most_candidates] = {};  ///< in no order
  Offset offset[most_offset_pairs] = {};            ///< the best one first

  [[nodiscard]] SATIN_HD bool needs(int group) const { return needed[group] >= least_needed; }
  [[nodiscard]] SATIN_HD bool needs_any() const {
    bool any = false;
    for (const std::uint32_t count : needed) any = any || count >= least_needed;
    return any;
  }
  [[nodiscard]] SATIN_HD double difference(int x, int y) const {
    const OffsetSum& own = sums[y * offset_columns + x];
    const std::uint32_t least = points / 20 + 8;
    return own.count < least ? HUGE_VAL : static_cast<double>(own.sum) / static_cast<double>(own.count);
  }
};

/// The pixels of a tile: columns [left, right) and rows [top, bottom).
struct TileArea {
  int left, top, right, bottom;
};

/// The data that the steps share. `words` and `places` are planes of the picture's size.
struct NonlocalFill {
  LensPlanes planes;
  LensList list;
  const LensUnit* unit;
  NonlocalWork* work;
  std::uint32_t* words;  ///< packed
  /// In tiles that are marked: of the pixel's sharp hidden sample of the group in work, from 1 on; 0: none.
  std::uint32_t* places;
  std::uint8_t* tiles;  ///< 1: such samples are in the tile
  int tile_side;
  int colours;  ///< channels without opacity, at most 3

  /// Samples of silhouettes are in the list as well: of their pixel's group or of a nearer one.
  [[nodiscard]] SATIN_HD bool is_needed(const LensSample& sample) const {
    if (sample.radius >= nonlocal_radius) return false;
    return sample.block == 2 || sample.group > planes.groups[planes.place(sample.x, sample.y)];
  }
  [[nodiscard]] SATIN_HD int tile_columns() const { return (planes.width + tile_side - 1) / tile_side; }
  [[nodiscard]] SATIN_HD int tile_count() const {
    return tile_columns() * ((planes.height + tile_side - 1) / tile_side);
  }
  [[nodiscard]] SATIN_HD TileArea area_of(int tile) const {
    const int left = tile % tile_columns() * tile_side;
    const int top = tile / tile_columns() * tile_side;
    return {left, top, left + tile_side < planes.width ? left + tile_side : planes.width,
            top + tile_side < planes.height ? top + tile_side : planes.height};
  }
  [[nodiscard]] SATIN_HD std::uint32_t word_at(int x, int y) const {
    return planes.holds(x, y) ? words[planes.place(x, y)] : nothing_packed;
  }
};

/// Clears the counts of samples; one place a group.
struct ClearNeeded {
  NonlocalWork* work;

  SATIN_HD void operator()(int x, int /*y*/) const { work->needed[x] = 0; }
};

inline constexpr std::uint32_t needed_run = 512;  ///< samples of the list that a step looks at in one place

/// Calls take(i, sample) for the sharp hidden samples of run `run` of the list.
template <class Take>
SATIN_HD void for_needed_of_run(const NonlocalFill& fill, int run, const Take& take) {
  const std::uint32_t first = static_cast<std::uint32_t>(run) * needed_run;
  const std::uint32_t count = *fill.list.count;
  for (std::uint32_t i = first; i < count && i < first + needed_run; ++i)
    if (fill.is_needed(fill.list.samples[i])) take(i, fill.list.samples[i]);
}

/// Counts the sharp hidden samples of every group; one place a run of the list.
struct CountNeeded {
  NonlocalFill fill;

  SATIN_HD void operator()(int /*x*/, int run) const {
    std::uint32_t counts[lens_most_groups] = {};
    for_needed_of_run(fill, run, [&](std::uint32_t, const LensSample& sample) { ++counts[sample.group]; });
    for (int group = 0; group < lens_most_groups; ++group)
      if (counts[group] != 0) add_shared(&fill.work->needed[group], counts[group]);
  }
};

/// Packs the colours of a pixel. Words of groups that need no samples are not read.
template <int Channels>
struct PackColours {
  NonlocalFill fill;

  [[nodiscard]] SATIN_HD bool idle() const { return !fill.work->needs_any(); }

  struct Row {
    LensUnit unit;
    std::uint32_t needed;   ///< bits of groups
    std::uint32_t used[3];  ///< of colours: packed_largest; 0: opacity
    const std::uint8_t* groups;
    const std::uint8_t* edges;
    const std::uint32_t* values;
    std::uint32_t* words;

    SATIN_HD void operator()(int x) const {
      float light[3] = {};
      float compressed[3] = {};
      for (int c = 0; c < 3 && c < Channels; ++c) {
        // not held to lens_largest_light, which is not copied either: a branch would hold compilers back
        const auto value = static_cast<float>(values[std::int64_t{x} * Channels + c]);
        light[c] = lens_quotient(value, unit.white, unit.of_one);
        compressed[c] = compressed_light(light[c]);
      }
      const std::uint32_t off = edges[x] | (~needed >> groups[x] & 1U);
      words[x] = packed(groups[x], off, light, compressed, used);
    }
    [[nodiscard]] SATIN_HD bool is_rare(int x) const { return (needed >> groups[x] & 1U) != 0; }
    SATIN_HD void usual(int x) const { words[x] = nothing_packed; }
  };
  SATIN_HD Row row(int y) const {
    const LensPlanes& planes = fill.planes;
    const std::int64_t at = planes.place(0, y);
    Row row{*fill.unit,     0, {}, planes.groups + at, planes.edges + at, planes.colours + at * Channels,
            fill.words + at};
    for (int group = 0; group < lens_most_groups; ++group)
      row.needed |= fill.work->needs(group) ? 1U << group : 0U;
    for (int c = 0; c < 3; ++c) row.used[c] = used(c);
    return row;
  }

  [[nodiscard]] SATIN_HD std::uint32_t used(int c) const { return c < fill.colours ? packed_largest : 0; }

  /// The word of a pixel whose colours have such light, which is compressed_light() as well. `off`: not 0 if
  /// it must not be copied.
  [[nodiscard]] SATIN_HD static std::uint32_t packed(std::uint32_t group, std::uint32_t off,
                                                     const float* light, const float* compressed,
                                                     const std::uint32_t* used) {
    std::uint32_t word = group << 27;
    for (int c = 0; c < 3 && c < Channels; ++c) {
      const float scaled = lens_quotient(compressed[c], packed_scale, 1 / packed_scale) + 0.5F;
      const auto code = static_cast<std::int32_t>(scaled < most_scaled ? scaled : most_scaled);
      word |= (static_cast<std::uint32_t>(code) & used[c]) << (9 * c);
      off |= light[c] > most_copied ? used[c] : 0;
    }
    return word | (off != 0 ? nothing_packed : 0);
  }
};

/// Marks the tiles that have samples of a group; one place a run of the list.
struct MarkTiles {
  NonlocalFill fill;
  int group;

  SATIN_HD void operator()(int /*x*/, int run) const {
    for_needed_of_run(fill, run, [&](std::uint32_t, const LensSample& sample) {
      if (sample.group == group)
        set_shared(&fill.tiles[sample.y / fill.tile_side * fill.tile_columns() + sample.x / fill.tile_side]);
    });
  }
};

/// Clears the places of the tiles that are marked; one place a tile.
struct ClearPlaces {
  NonlocalFill fill;

  SATIN_HD void operator()(int /*x*/, int tile) const {
    if (fill.tiles[tile] == 0) return;
    const TileArea area = fill.area_of(tile);
    for (int y = area.top; y < area.bottom; ++y)
      for (int x = area.left; x < area.right; ++x) fill.places[fill.planes.place(x, y)] = 0;
  }
};

/// Tells pixels their samples; one place a run of the list.
struct PlaceNeeded {
  NonlocalFill fill;
  int group;

  SATIN_HD void operator()(int /*x*/, int run) const {
    for_needed_of_run(fill, run, [&](std::uint32_t i, const LensSample& sample) {
      if (sample.group == group) fill.places[fill.planes.place(sample.x, sample.y)] = i + 1;
    });
  }
};

}  // namespace satin
