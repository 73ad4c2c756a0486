#pragma once
// Launches of mask work, in the manner of kernels/device/launch.h. Those of steps on each pixel alone are in
// kernels/pixels/launch.h.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "masks/distance.h"
#include "masks/regions.h"
#include "masks/maths/region.h"

namespace satin::kernels {

/// Pixels of a row that share one entry of GroupHeights; rows of columns are whole groups.
inline constexpr int distance_group = 32;

/// The smallest height that each side sees in a group.
struct GroupHeights {
  std::uint16_t inside = 0;
  std::uint16_t outside = 0;
};

struct DistanceArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t groups = 0;  ///< of a row
  MaskSide side = MaskSide::both;
  DistanceResult result = DistanceResult::squared;
  std::int32_t most = 1;
  std::int32_t reach = 0;
  bool inverted = false;
  Source mask;
  /// Distances down the columns, at most reach + 1: above 0 inside, below 0 outside, 0 beyond the row.
  std::int16_t* columns = nullptr;
  GroupHeights* group_heights = nullptr;  ///< not of moved
  const std::uint16_t* chords = nullptr;  ///< of moved: 1 + floor(sqrt(most - 1 - g^2)), 0 for reach + 1
  const std::uint32_t* ramps = nullptr;   ///< DistanceRamp::first of `inside`, then of `outside`
  Target output;
};

void distance(const DistanceArguments& arguments, StreamHandle stream);

/// Pixels of a row that share a word of bits, and the tiles of words by rows whose components are found
/// first.
inline constexpr std::int64_t label_word = 32;
inline constexpr int label_tile_words = 4;
inline constexpr int label_tile_rows = 64;

/// How a picture is cut into tiles, and these into bands of rows that share their runs: with 8 neighbours
/// two, since pixels of two rows in neighbouring columns always touch, so that a run is one of columns with a
/// pixel in either row. A tile's runs are numbered band after band, its components ("parts") in the order of
/// their first runs; 2^run_bits places are kept for either.
struct LabelTiles {
  std::int64_t words = 0;  ///< of a row
  std::uint32_t columns = 0;
  std::uint32_t count = 0;
  int band_rows = 1;
  int run_bits = 0;
};

[[nodiscard]] LabelTiles tiles_of(const LabelJob& job);

/// All but the first four in device memory.
struct LabelArguments {
  LabelJob job;
  LabelTiles tiles;
  Source mask;
  Target labels;
  // One element a word, row after row.
  std::uint32_t* bits = nullptr;         ///< the pixels that are inside
  std::uint16_t* runs_before = nullptr;  ///< of the tile's bands and words before; first rows of bands alone
  std::uint32_t* firsts = nullptr;       ///< the pixels that are the first ones of components
  std::uint8_t* counts = nullptr;        ///< of firsts
  std::uint32_t* before = nullptr;       ///< their exclusive scan
  // A tile's after those of another.
  std::uint16_t* part_of_run = nullptr;
  std::uint16_t* part_place =
      nullptr;                       ///< the first pixel of a part, and whether it touches the tile's sides
  std::uint32_t* parents = nullptr;  ///< of parts: parts, labels at last
  std::uint16_t* runs = nullptr;     ///< one a tile: their number
  std::uint16_t* parts = nullptr;    ///< likewise
  std::uint32_t* total = nullptr;    ///< one: the number of components
};

/// First step of find_components(): the components of tiles.
void find_parts(const LabelArguments& arguments, StreamHandle stream);
/// Components of tiles, then of the picture; fills all but `before`, the total and the labels.
void find_components(const LabelArguments& arguments, StreamHandle stream);
/// Writes the total and the labels; `before` is filled.
void write_labels(const LabelArguments& arguments, StreamHandle stream);
/// Makes one shape a component, after write_labels().
void describe_components(const LabelArguments& arguments, RegionShape* shapes, StreamHandle stream);

struct RegionValuesArguments {
  RegionValuesJob job;
  Source labels;
  Source picture;
  const Measured* measured = nullptr;
  std::uint32_t count = 0;
  RegionSums* sums = nullptr;
};

void sum_region_values(const RegionValuesArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
