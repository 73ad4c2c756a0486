#pragma once
// Launches of label.cu, label_tiles.cu, label_shapes.cu, relabel.cu and region_values.cu, in the manner of
// launch.h.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "masks/label.h"
#include "masks/maths/region.h"
#include "masks/region_values.h"
#include "masks/relabel.h"

namespace satin::kernels {

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

/// Of find_components(): the components of tiles.
void find_parts(const LabelArguments& arguments, StreamHandle stream);
/// Components of tiles, then of the picture; fills all but `before`, the total and the labels.
void find_components(const LabelArguments& arguments, StreamHandle stream);
/// With `before` filled: the total and the labels.
void write_labels(const LabelArguments& arguments, StreamHandle stream);
/// After write_labels(): one shape a component.
void describe_components(const LabelArguments& arguments, RegionShape* shapes, StreamHandle stream);

struct RelabelArguments {
  RelabelJob job;
  Source labels;
  const std::uint32_t* table = nullptr;
  Target output;
};

void relabel(const RelabelArguments& arguments, StreamHandle stream);

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
