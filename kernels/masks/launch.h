#pragma once
// Launches of distances, components and sums under labels, in the manner of kernels/device/launch.h. Steps on
// each pixel alone are launched by kernels/pixels/launch.h.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "masks/distance.h"
#include "masks/maths/region.h"
#include "masks/regions.h"

namespace satin::kernels {

/// Pixels of a row that share one entry of GroupHeights; rows of columns are whole groups.
inline constexpr int distance_group = 32;

/// The smallest height in a group, for pixels on either side.
struct GroupHeights {
  std::uint16_t inside = 0;
  std::uint16_t outside = 0;
};

struct DistanceArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t groups = 0;  ///< per row
  MaskSide side = MaskSide::both;
  DistanceResult result = DistanceResult::squared;
  std::int32_t most = 1;
  std::int32_t reach = 0;
  bool inverted = false;
  Source mask;
  /// Distances down the columns, at most reach + 1: positive inside, negative outside, 0 beyond the row.
  std::int16_t* columns = nullptr;
  GroupHeights* group_heights = nullptr;  ///< unless the result is `moved`
  const std::uint16_t* chords = nullptr;  ///< for `moved`: 1 + floor(sqrt(most - 1 - g^2)), 0 for reach + 1
  const std::uint32_t* ramps = nullptr;   ///< DistanceRamp::first of `inside`, then of `outside`
  Target output;
};

void distance(const DistanceArguments& arguments, StreamHandle stream);

/// Pixels in a word of bits, and the size of the tiles whose components are found first.
inline constexpr std::int64_t label_word = 32;
inline constexpr int label_tile_words = 4;
inline constexpr int label_tile_rows = 64;

/// The tiles of a picture. A tile's runs are numbered row after row, and its components, which are called
/// parts, in the order of their first runs. Arrays have 2^run_bits entries per tile for either.
struct LabelTiles {
  std::int64_t words = 0;     ///< words per row
  std::uint32_t columns = 0;  ///< tiles per row
  std::uint32_t count = 0;    ///< tiles in all
  int run_bits = 0;
};

[[nodiscard]] LabelTiles tiles_of(const LabelJob& job);

/// All pointers are to device memory.
struct LabelArguments {
  LabelJob job;
  LabelTiles tiles;
  Source mask;
  Target labels;
  // One element per word, row after row:
  std::uint32_t* bits = nullptr;         ///< pixels inside
  std::uint16_t* runs_before = nullptr;  ///< number of the tile's runs before
  std::uint32_t* firsts = nullptr;       ///< pixels that are the first of a component
  std::uint8_t* counts = nullptr;        ///< number of bits in `firsts`
  std::uint32_t* before = nullptr;       ///< exclusive scan of `counts`
  // 2^run_bits elements per tile:
  std::uint16_t* part_of_run = nullptr;
  std::uint16_t* part_place =
      nullptr;                       ///< the first pixel of a part, and whether it touches the tile's sides
  std::uint32_t* parents = nullptr;  ///< parent of each part; its label at last
  // One element per tile:
  std::uint16_t* runs = nullptr;   ///< number of runs
  std::uint16_t* parts = nullptr;  ///< number of parts
  // One element:
  std::uint32_t* total = nullptr;  ///< number of components
};

/// Finds the components of tiles: first step of find_components().
void find_parts(const LabelArguments& arguments, StreamHandle stream);
/// Finds the components of tiles, then of the picture. Fills everything but `before`, the total and the
/// labels.
void find_components(const LabelArguments& arguments, StreamHandle stream);
/// Writes the total and the labels. The caller has filled `before`.
void write_labels(const LabelArguments& arguments, StreamHandle stream);
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
