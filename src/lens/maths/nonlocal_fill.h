#pragma once
// Non-local fill: sharp hidden samples get the texture of their group instead of a mean.
//
// 1. Offsets. A few offsets explain how a group repeats (He and Sun, Statistics of patch offsets for image
// completion, 2012). The difference of the group from its shifted self is summed at sampled points for each
// offset within 72 pixels; the deepest local minima are candidates, of which the best 16 pairs are kept.
// 2. Costs. For each offset, the mean squared difference over the 25 x 25 pixels around a sample that are
// known at both ends.
// 3. Mean. The sample's colour is the mean of the colours at the offsets, weight 1 / (cost + 2e-4)^4, and of
// its disocclusion fill. The fill counts by the variance around it: without this guard, smooth textures lose
// up to 1.3 dB.
//
// A backend sums the windows of step 2, one quantity per pass over a tile.

#include <cmath>
#include <cstdint>

#include "lens/maths/disocclusion_fill.h"
#include "pixels/maths/pixel.h"

namespace satin {

inline constexpr std::uint32_t nonlocal_radius = 4 * 256;  ///< hidden samples below it are sharp
inline constexpr std::uint32_t least_needed = 50;          ///< least sharp samples of a processed group
inline constexpr float most_copied = 1.2F;                 ///< linear light; brighter pixels are no texture

inline constexpr int offset_reach = 72;
inline constexpr int offset_columns = 2 * offset_reach + 1;
inline constexpr int offset_rows = offset_reach + 1;  ///< offsets downwards; the others are their opposites
inline constexpr int offset_count = offset_columns * offset_rows;
inline constexpr int least_offset = 5;  ///< least length of an offset, pixels
inline constexpr int point_cells = 48;  ///< cells of sample points along the longer side
inline constexpr int most_points = point_cells * point_cells;
inline constexpr int most_candidates = offset_count / 2;
inline constexpr int most_offset_pairs = 16;  ///< an offset and its opposite

inline constexpr int known_reach = 12;  ///< costs are means over 25 x 25 pixels
inline constexpr int known_area = (2 * known_reach + 1) * (2 * known_reach + 1);
inline constexpr std::uint32_t least_known = known_area * 15 / 100;  ///< least known pixels of a cost
inline constexpr int guard_distance = 4;

// Pixels are words: three colours of compressed light with 9 bits each, and the group above them. Pixels that
// must not be copied have no group. A squared difference of words is below 3 * 2^18, so that sums of four
// over a window, and sums over all points, stay below 2^31.

inline constexpr std::uint32_t packed_largest = 511;
inline constexpr std::uint32_t nothing_packed = 7U << 27;
/// Above every code. Infinite light gets this code, which is not used.
inline constexpr float most_scaled = 1024;
inline constexpr float packed_scale = most_copied / (1 + most_copied) / packed_largest;  ///< one code step
static_assert(std::uint64_t{4} * known_area * 3 * packed_largest * packed_largest < std::uint64_t{1} << 31);
static_assert(std::uint64_t{most_points} * 3 * packed_largest * packed_largest < std::uint64_t{1} << 31);

SATIN_HD std::uint32_t packed_group(std::uint32_t word) { return word >> 27; }
SATIN_HD std::uint32_t packed_code(std::uint32_t word, int c) { return word >> (9 * c) & packed_largest; }

/// Sum of the squared differences of the codes.
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

SATIN_HD Offset offset_at(int i) { return {i % offset_columns - offset_reach, i / offset_columns}; }

/// Sum of differences, and number of points that are known at both ends.
struct OffsetSum {
  std::uint32_t sum;
  std::uint32_t count;
};

struct OffsetCandidate {
  double difference;  ///< mean difference
  std::int32_t place;
};

/// Offsets of one group at a time, in the memory of one device.
struct NonlocalWork {
  std::uint32_t needed[lens_most_groups] = {};  ///< sharp hidden samples per group
  std::uint32_t points = 0;
  std::uint32_t candidates = 0;
  std::uint32_t offsets = 0;
  Offset point[most_points] = {};  ///< unordered
  OffsetSum sums[offset_count] = {};
  OffsetCandidate candidate[most_candidates] = {};  ///< unordered
  Offset offset[most_offset_pairs] = {};            ///< best first

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

struct NonlocalFill {
  LensPlanes planes;
  LensList list;
  const LensUnit* unit;
  NonlocalWork* work;
  std::uint32_t* words;  ///< packed pixels, a plane of the picture's size
  int colours;           ///< colour channels, at most 3
  int group = 0;         ///< group that a step is for

  [[nodiscard]] SATIN_HD bool group_needs_samples() const { return work->needs(group); }
  [[nodiscard]] SATIN_HD bool is_in_group(std::uint32_t word) const {
    return static_cast<int>(packed_group(word)) == group;
  }

  [[nodiscard]] SATIN_HD std::uint32_t word_at(int x, int y) const {
    return planes.holds(x, y) ? words[planes.place(x, y)] : nothing_packed;
  }
};

/// Packs the pixels of groups that have enough sharp samples; words of others are never read.
template <int Channels>
struct PackColours {
  NonlocalFill fill;

  struct Row {
    LensUnit unit;
    std::uint32_t needed;   ///< a bit per group
    std::uint32_t used[3];  ///< mask of a colour's code: packed_largest, or 0 for opacity
    const std::uint8_t* groups;
    const std::uint8_t* edges;
    const std::uint32_t* values;
    std::uint32_t* words;

    SATIN_HD void operator()(int x) const {
      float light[3] = {};
      float compressed[3] = {};
      for (int c = 0; c < 3 && c < Channels; ++c) {
        // The bound lens_largest_light is left out: such light is not copied, and a branch would prevent
        // vector code.
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

  /// Returns the word of a pixel with these colours, in linear and in compressed light. A pixel whose `off`
  /// is not 0 must not be copied.
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

// Step 1: offsets.

/// Chooses a pseudo-random point in each cell of a grid, if it is of the group.
struct ChoosePoints {
  NonlocalFill fill;

  SATIN_HD void operator()(int x, int y) const {
    if (!fill.group_needs_samples()) return;
    const int longer = fill.planes.width > fill.planes.height ? fill.planes.width : fill.planes.height;
    const int side = (longer + point_cells - 1) / point_cells;
    std::uint32_t bits = static_cast<std::uint32_t>(y * point_cells + x + 1) * 0x9E3779B9U;
    bits ^= bits >> 15;
    bits *= 0x85EBCA6BU;
    const Offset point{x * side + static_cast<int>((bits >> 8) % static_cast<std::uint32_t>(side)),
                       y * side + static_cast<int>((bits >> 20) % static_cast<std::uint32_t>(side))};
    if (!fill.is_in_group(fill.word_at(point.x, point.y))) return;
    fill.work->point[add_shared(&fill.work->points, 1)] = point;
  }
};

/// Sums the differences of all offsets in row y over all points.
struct SumDifferences {
  NonlocalFill fill;

  /// Handles a row of offsets at once, in a loop that compilers vectorise.
  SATIN_HD void operator()(int /*x*/, int y) const {
    std::uint32_t sums[offset_columns] = {};
    std::uint32_t counts[offset_columns] = {};
    const NonlocalWork& work = *fill.work;
    const auto own_group = static_cast<std::uint32_t>(fill.group);
    for (std::uint32_t i = 0; i < work.points; ++i) {
      const Offset later = work.point[i + 4 < work.points ? i + 4 : i];
      if (later.y + y < fill.planes.height)  // prefetches the words of a later point, as points are unordered
        for (int x = 0; x <= offset_columns; x += 16)
          __builtin_prefetch(fill.words + fill.planes.place(later.x, later.y + y) + x - offset_reach);
      const Offset point = work.point[i];
      if (point.y + y >= fill.planes.height) continue;
      const std::uint32_t own = fill.words[fill.planes.place(point.x, point.y)];
      const std::uint32_t* there = fill.words + fill.planes.place(point.x, point.y + y) - offset_reach;
      const int left = offset_reach - point.x;
      const int right = left + fill.planes.width < offset_columns ? left + fill.planes.width : offset_columns;
      for (int x = left > 0 ? left : 0; x < right; ++x) {
        const bool known = packed_group(there[x]) == own_group;
        sums[x] += known ? packed_difference(own, there[x]) : 0;
        counts[x] += known ? 1U : 0U;
      }
    }
    for (int x = 0; x < offset_columns; ++x) fill.work->sums[y * offset_columns + x] = {sums[x], counts[x]};
  }

  /// Sums the difference of one offset over every `stride`th point from `first` on.
  [[nodiscard]] SATIN_HD OffsetSum sum(int x, int y, std::uint32_t first, std::uint32_t stride) const {
    OffsetSum own{};
    const std::uint32_t points = fill.work->points;
    for (std::uint32_t i = first; i < points; i += stride) {
      const Offset point = fill.work->point[i];
      const std::uint32_t there = fill.word_at(point.x + x - offset_reach, point.y + y);
      if (!fill.is_in_group(there)) continue;
      own.sum += packed_difference(fill.words[fill.planes.place(point.x, point.y)], there);
      ++own.count;
    }
    return own;
  }
};

struct FindCandidates {
  NonlocalFill fill;

  SATIN_HD void operator()(int x, int y) const {
    NonlocalWork& work = *fill.work;
    if (!fill.group_needs_samples()) return;
    const Offset offset{x - offset_reach, y};
    if (offset.x * offset.x + y * y < least_offset * least_offset) return;
    const double own = work.difference(x, y);
    if (!(own < HUGE_VAL)) return;
    for (int v = y - 1; v <= y + 1; ++v)
      for (int u = x - 1; u <= x + 1; ++u)
        if (beside(work, u, v) < own) return;
    const std::uint32_t place = add_shared(&work.candidates, 1);
    if (place < most_candidates) work.candidate[place] = {own, y * offset_columns + x};
  }

 private:
  /// Difference of a neighbour. Row -1 holds the opposites of row 1.
  SATIN_HD static double beside(const NonlocalWork& work, int x, int y) {
    const int u = y < 0 ? offset_columns - 1 - x : x;
    if (u < 0 || u >= offset_columns || y >= offset_rows) return HUGE_VAL;
    return work.difference(u, y < 0 ? -y : y);
  }
};

/// Ranks the candidates and keeps the best. The first of equal ones wins.
struct RankCandidates {
  NonlocalFill fill;
  int pairs;

  SATIN_HD void operator()(int x, int /*y*/) const {
    if (!fill.group_needs_samples()) return;
    begin(x);
    if (x < count()) take(x, better(x, 0, 1));
  }

  [[nodiscard]] SATIN_HD int count() const {
    const std::uint32_t found = fill.work->candidates;
    return static_cast<int>(found < most_candidates ? found : most_candidates);
  }
  SATIN_HD void begin(int x) const {
    if (x == 0) fill.work->offsets = static_cast<std::uint32_t>(count() < pairs ? count() : pairs);
  }
  /// Counts the candidates that rank before candidate x, among every `stride`th one from `first` on; stops at
  /// `pairs`.
  [[nodiscard]] SATIN_HD int better(int x, int first, int stride) const {
    const NonlocalWork& work = *fill.work;
    const OffsetCandidate own = work.candidate[x];
    int rank = 0;
    for (int i = first; i < count() && rank < pairs; i += stride) {
      const OffsetCandidate& other = work.candidate[i];
      if (other.difference < own.difference ||
          (other.difference == own.difference && other.place < own.place))
        ++rank;
    }
    return rank;
  }
  SATIN_HD void take(int x, int rank) const {
    if (rank < pairs) fill.work->offset[rank] = offset_at(fill.work->candidate[x].place);
  }
};

/// Value and count of one pixel, or of a window of 25 x 25.
struct KnownEntry {
  std::uint32_t value = 0;
  std::uint32_t count = 0;
};
SATIN_HD KnownEntry sum_of(const KnownEntry& a, const KnownEntry& b) {
  return {a.value + b.value, a.count + b.count};
}

/// Number of value bits where value and count share a word. They hold sums over the rows of a window with up
/// to two entries per pixel.
inline constexpr int value_bits = 26;
static_assert(2 * (2 * known_reach + 1) * 3 * packed_largest * packed_largest < 1U << value_bits);
static_assert(2 * (2 * known_reach + 1) < 1 << (32 - value_bits));

SATIN_HD std::uint32_t joined(const KnownEntry& entry) { return entry.count << value_bits | entry.value; }
SATIN_HD KnownEntry parted(std::uint32_t word) {
  return {word & ((1U << value_bits) - 1U), word >> value_bits};
}

// Step 2: entries of the passes.

struct CodeEntry {
  NonlocalFill fill;
  int colour;

  SATIN_HD KnownEntry operator()(int x, int y) const {
    const std::uint32_t word = fill.word_at(x, y);
    if (!fill.is_in_group(word)) return {};
    return {packed_code(word, colour), 1};
  }
};

struct SquareEntry {
  NonlocalFill fill;

  SATIN_HD KnownEntry operator()(int x, int y) const {
    const std::uint32_t word = fill.word_at(x, y);
    if (!fill.is_in_group(word)) return {};
    return {packed_difference(word, 0), 1};
  }
};

/// Squared difference from the pixel at an offset.
struct DifferenceEntry {
  NonlocalFill fill;
  Offset offset;

  SATIN_HD KnownEntry operator()(int x, int y) const {
    const std::uint32_t word = fill.word_at(x, y);
    if (!fill.is_in_group(word)) return {};
    const std::uint32_t there = fill.word_at(x + offset.x, y + offset.y);
    if (!fill.is_in_group(there)) return {};
    return {packed_difference(word, there), 1};
  }
};

/// How much more the disocclusion fill counts than an offset with the same cost. With 4, one of eleven
/// photographs lost 0.15 dB by the non-local fill; with 16, none loses 0.1, but printed pages gain less.
inline constexpr float trust_in_means = 16;

/// Step 3: the colour of one sharp hidden sample, between the passes.
struct NonlocalMean {
  float squares = 0;    ///< mean squared code
  float means[4] = {};  ///< squared means of each colour's codes
  float weight = 0;
  float colour[4] = {};  ///< weighted sum of compressed colours

  [[nodiscard]] SATIN_HD static float mean(const KnownEntry& sums) {
    return sums.count == 0 ? 0 : static_cast<float>(sums.value) / static_cast<float>(sums.count);
  }
  SATIN_HD void add_squares(const KnownEntry& sums) { squares = mean(sums); }
  SATIN_HD void add_codes(int c, const KnownEntry& sums) { means[c] = mean(sums) * mean(sums); }

  /// Begins with the disocclusion fill, after the squares and the codes. Its cost is the smaller of the
  /// variance and half the difference at distance 4, as real textures are smooth more often than they repeat.
  template <int Channels>
  SATIN_HD void begin(const LensSample& sample, const KnownEntry& guard, const LensUnit& unit) {
    const float variance = squares - sum_of_channels(means, 3);
    float spread = variance > 0 ? variance : 0;
    if (guard.count > 0) {
      const float half = static_cast<float>(guard.value) / static_cast<float>(guard.count) / 2;
      spread = half < spread ? half : spread;
    }
    weight = trust_in_means * trust(spread);
    for (int c = 0; c < Channels; ++c)
      colour[c] = weight * compressed_light(lens_light(sample.colour[c], unit));
  }

  /// Adds the colours at an offset. Pixels of a block count a quarter each.
  template <int Channels>
  SATIN_HD void add_offset(const NonlocalFill& fill, const LensSample& sample, const Offset& offset,
                           const KnownEntry& sums, const LensUnit& unit) {
    if (sums.count < least_known) return;
    const int pixels = sample.block * sample.block;
    const float each = weight_of_pixel(sums, pixels);
    for (int i = 0; i < pixels; ++i) {
      const int x = sample.x + offset.x + i % 2;
      const int y = sample.y + offset.y + i / 2;
      if (packed_group(fill.word_at(x, y)) != sample.group) continue;
      const std::uint32_t* there = fill.planes.colours + fill.planes.place(x, y) * Channels;
      for (int c = 0; c < Channels; ++c)
        colour[c] = colour[c] + each * compressed_light(lens_light(there[c], unit));
      weight = weight + each;
    }
  }

  [[nodiscard]] SATIN_HD static float weight_of_pixel(const KnownEntry& sums, int pixels) {
    return trust(static_cast<float>(sums.value) / static_cast<float>(sums.count)) /
           static_cast<float>(pixels);
  }

  /// Stores linear colours. A colour that equals the sample's within 16 bits is left alone, so that a
  /// constant picture stays constant.
  template <int Channels>
  SATIN_HD void store(LensSample& sample, const LensUnit& unit) const {
    for (int c = 0; c < Channels; ++c) {
      const float mean = colour[c] / weight;
      const float apart = mean - compressed_light(lens_light(sample.colour[c], unit));
      if (apart < 1.0F / 65535.0F && apart > -1.0F / 65535.0F) continue;
      sample.colour[c] = lens_integer(expanded_light(mean), unit);
    }
  }

 private:
  /// Returns 1 / (cost + 2e-4)^4 for a mean of squared codes.
  SATIN_HD static float trust(float cost) {
    const float light = cost * (packed_scale * packed_scale) + 2e-4F;
    const float square = light * light;
    return 1 / (square * square);
  }
};

}  // namespace satin
