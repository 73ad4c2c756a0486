#pragma once
// Launches of label.cu, label_shapes.cu, relabel.cu and region_values.cu, in the manner of launch.h.

#include <cstdint>

#include "core/maths/region.h"
#include "core/operations/label.h"
#include "core/operations/region_values.h"
#include "core/operations/relabel.h"
#include "kernels/launch.h"

namespace satin::kernels {

/// Pixels of a row that share a word of bits, and entries for the runs that can begin in one: a run that
/// begins at bit b has entry b / 2. Runs end with their word; entry numbers ascend in raster order.
inline constexpr std::int64_t label_word = 32;
inline constexpr std::int64_t label_entries = label_word / 2;

/// All but the first three in device memory; one element a word, row after row, of `parents` 16.
struct LabelArguments {
  LabelJob job;
  Source mask;
  Target labels;
  std::int64_t words = 0;               ///< of a row
  std::uint32_t* bits = nullptr;        ///< the pixels that are inside
  std::uint16_t* tile_roots = nullptr;  ///< entries that are the roots of their tile's components
  std::uint16_t* roots = nullptr;       ///< entries that are the roots of components
  std::uint8_t* counts = nullptr;       ///< of roots
  std::uint32_t* before = nullptr;      ///< their exclusive scan
  std::uint32_t* parents =
      nullptr;                     ///< of entries: of a tile's roots labels at last, of others a tile's root
  std::uint32_t* total = nullptr;  ///< one: the number of components
};

/// Components of tiles, then of the picture; fills bits, tile_roots, roots and counts.
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
