#pragma once
// Rows of deltas: samples spread into them, and sums of them composited; compiled for every SIMD target.

#include <cstddef>
#include <cstdint>

#include "lens/maths/lens_kernel.h"
#include "lens/splat.h"

namespace satin::cpu {

/// The sums of one pixel, colours and then weights, fill a cell of 2, 4 or 8.
constexpr int cell_size(int channels) { return channels == 1 ? 2 : channels < 4 ? 4 : 8; }

/// What is the same for all rows of a run.
struct SplatRule {
  LensKernelView kernels;
  int channels = 3;
  int highlight_channels = 3;  ///< colours without alpha
  std::uint32_t white = 0;
  int colour_bits = 16;
  std::uint32_t last_group = 0;
  std::uint32_t merge_from = never_merged;
};

/// Rows of second differences of columns first to last - 1, and one cell more that takes what lies beyond.
/// Samples left of the first column count there.
struct DeltaRows {
  std::int64_t first = 0;
  std::int64_t last = 0;
  /// rows[group * span + reach + dy] lies dy rows below the sample's; rows above the band are its first one,
  /// and rows below it one that nobody reads.
  std::uint64_t* const* rows = nullptr;
  std::int64_t reach = 0;
  std::int64_t span = 0;
};

/// One row of the visible samples, from the picture's first column on.
struct VisibleRow {
  std::int64_t width = 0;
  const std::uint32_t* colours = nullptr;
  const std::uint32_t* radii = nullptr;
  const std::uint8_t* groups = nullptr;
  const std::uint16_t* weights = nullptr;
};

/// A row and the one that its samples are merged with: rows 0 and 1, 2 and 3, and so on.
struct VisiblePair {
  VisibleRow upper;
  VisibleRow lower;  ///< without width behind the last row
  bool spreads_lower = false;
};

/// Which groups a row has samples of: bit 0 is group 0.
struct GroupsOfRow {
  std::uint32_t spread = 0;   ///< out of focus
  std::uint32_t focused = 0;  ///< these stay on their pixels
};

/// Spreads the samples of one row and columns begin to end - 1 that are out of focus; `begin` is even. Merged
/// ones count as the upper row's.
GroupsOfRow spread_visible(const SplatRule& rule, const VisiblePair& pair, std::int64_t begin,
                           std::int64_t end, const DeltaRows& rows);

/// Spreads samples of one row, by their places in the list.
GroupsOfRow spread_listed(const SplatRule& rule, const LensSample* listed, const std::uint32_t* places,
                          std::size_t count, const DeltaRows& rows);

/// A row of one group, from the tile's first column on.
struct GroupRow {
  std::uint32_t group = 0;
  bool spread = false;               ///< has deltas, here or above
  bool focused = false;              ///< has samples in focus
  std::uint64_t* deltas = nullptr;   ///< become 0
  std::uint64_t* columns = nullptr;  ///< sums of the deltas above; get those of this row
};

/// Integrates and composites one group of columns first to last - 1. Sums are overwritten. State:
/// cell_size(channels) reals a pixel, float up to most_bits_in_float, otherwise double.
void composite_group(const SplatRule& rule, const GroupRow& group, const VisibleRow& row, std::int64_t first,
                     std::int64_t last, std::uint64_t* sums, void* state);

/// Colours of one row, or the source's where nothing arrived.
void store_composite(const SplatRule& rule, const void* state, const std::uint32_t* source,
                     std::size_t pixels, std::uint32_t* out);

}  // namespace satin::cpu
