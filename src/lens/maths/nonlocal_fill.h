#pragma once
// Texture of what is hidden: sharp hidden samples take the colours that their group has where it repeats (He
// and Sun, Statistics of patch offsets for image completion, 2012: a few offsets dominate). At a hidden
// sample each offset counts by how well it explains what is known around it, and the means of the
// disocclusion fill by how well a mean does that.

#include <cstdint>

#include "lens/maths/nonlocal_offsets.h"
#include "lens/maths/nonlocal_work.h"
#include "pixels/maths/channel_sum.h"

namespace satin {

/// The value and count that one pixel adds to a window of 25 x 25.
struct KnownEntry {
  std::uint32_t value = 0;
  std::uint32_t count = 0;
};

// Entries of the passes over the pixels of a tile and around it. Every pass is one quantity; windows of it
// are summed by the backend.

/// Codes of one colour.
struct CodeEntry {
  NonlocalFill fill;
  int group;
  int colour;

  SATIN_HD KnownEntry operator()(int x, int y) const {
    const std::uint32_t word = fill.word_at(x, y);
    if (static_cast<int>(packed_group(word)) != group) return {};
    return {packed_code(word, colour), 1};
  }
};

/// Squares of all codes.
struct SquareEntry {
  NonlocalFill fill;
  int group;

  SATIN_HD KnownEntry operator()(int x, int y) const {
    const std::uint32_t word = fill.word_at(x, y);
    if (static_cast<int>(packed_group(word)) != group) return {};
    return {packed_difference(word, 0), 1};
  }
};

/// The difference from what lies at an offset.
struct DifferenceEntry {
  NonlocalFill fill;
  int group;
  Offset offset;

  SATIN_HD KnownEntry operator()(int x, int y) const {
    const std::uint32_t word = fill.word_at(x, y);
    if (static_cast<int>(packed_group(word)) != group) return {};
    const std::uint32_t there = fill.word_at(x + offset.x, y + offset.y);
    if (packed_group(there) != packed_group(word)) return {};
    return {packed_difference(word, there), 1};
  }
};

/// The differences at a small distance, all four ways.
struct GuardEntry {
  NonlocalFill fill;
  int group;

  SATIN_HD KnownEntry operator()(int x, int y) const {
    KnownEntry sum;
    for (int i = 0; i < 4; ++i) {
      const int step = i < 2 ? guard_distance : -guard_distance;
      const KnownEntry own =
          DifferenceEntry{fill, group, {i % 2 == 0 ? step : 0, i % 2 == 0 ? 0 : step}}(x, y);
      sum.value += own.value;
      sum.count += own.count;
    }
    return sum;
  }
};

/// How much more the means of the disocclusion fill count than an offset that explains as much. With 4 one of
/// eleven photographs lost 0.15 dB by the non-local fill, with 16 none loses 0.1; printed pages gain less.
inline constexpr float trust_in_means = 16;

/// State of one sharp hidden sample between the passes.
struct NonlocalMean {
  float squares = 0;    ///< mean of squared codes
  float means[4] = {};  ///< squared, of each colour's codes
  float weight = 0;
  float colour[4] = {};  ///< weighted, compressed

  [[nodiscard]] SATIN_HD static float mean(const KnownEntry& sums) {
    return sums.count == 0 ? 0 : static_cast<float>(sums.value) / static_cast<float>(sums.count);
  }
  SATIN_HD void add_squares(const KnownEntry& sums) { squares = mean(sums); }
  SATIN_HD void add_codes(int c, const KnownEntry& sums) { means[c] = mean(sums) * mean(sums); }

  /// Comes after the squares and codes: the disocclusion fill counts by the variance, or half of the
  /// differences at a small distance, whichever is less: real textures are smooth more often than they
  /// repeat.
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

  /// An offset's colours count by its cost; a block's pixels a quarter each.
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

  /// The weight that an offset with these costs has for each of a sample's pixels.
  [[nodiscard]] SATIN_HD static float weight_of_pixel(const KnownEntry& sums, int pixels) {
    return trust(static_cast<float>(sums.value) / static_cast<float>(sums.count)) /
           static_cast<float>(pixels);
  }

  /// Linear colours. What is as near as 16 bits tell to what the sample has leaves it, so that a constant
  /// picture stays constant.
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
  /// 1 / (cost + 0.0002)^4 of a mean of squared codes.
  SATIN_HD static float trust(float cost) {
    const float light = cost * (packed_scale * packed_scale) + 2e-4F;
    const float square = light * light;
    return 1 / (square * square);
  }
};

/// The steps of one picture. apply(group) is the backend's: every sharp hidden sample of the group by the
/// passes above, after which the plane of the places is that of the magnitudes again, and no tile is marked.
template <int Channels, class Launch, class Apply>
void fill_nonlocally(const Launch& launch, const NonlocalFill& fill, int most_groups, int pairs,
                     const Apply& apply) {
  const LensPlanes& planes = fill.planes;
  const auto runs = static_cast<int>((*fill.list.count + needed_run - 1) / needed_run);
  launch(lens_most_groups, 1, ClearNeeded{fill.work});
  launch(1, runs, CountNeeded{fill});
  launch(planes.width, planes.height, PackColours<Channels>{fill});
  for (int group = 1; group < most_groups; ++group) {
    if (!fill.work->needs(group)) continue;
    launch(offset_count, 1, ClearOffsets{fill, group});
    launch(1, runs, MarkTiles{fill, group});
    launch(1, fill.tile_count(), ClearPlaces{fill});
    launch(1, runs, PlaceNeeded{fill, group});
    launch(point_cells, point_cells, ChoosePoints{fill, group});
    launch(1, offset_rows, SumDifferences{fill, group});
    launch(offset_columns, offset_rows, FindCandidates{fill, group});
    launch(most_candidates, 1, RankCandidates{fill, group, pairs});
    apply(group);
  }
}

}  // namespace satin
