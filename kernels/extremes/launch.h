#pragma once
// Launches of sliding minima and maxima (sliding_extreme_launch.cuh), in the manner of
// kernels/device/launch.h: keys of extremes/maths/extreme.h, four bytes of a row at a time.

#include <cstddef>
#include <cstdint>

#include "extremes/sliding_extreme.h"
#include "kernels/device/launch.h"

namespace satin::kernels {

/// Rows of keys: interleaved channels, rows 16-byte aligned.
struct KeyRows {
  std::byte* data = nullptr;
  std::int64_t row = 0;  ///< bytes
};

/// How rows are cut for the pass along them: a block has a tile with what its windows see beside it, twice,
/// in shared memory.
struct ExtremeTile {
  std::int64_t bytes = 0;  ///< of a row; 0: there is no room for windows of this reach
  std::size_t shared_bytes = 0;
};

[[nodiscard]] ExtremeTile extreme_tile(std::int64_t row_bytes, std::int64_t pixel_bytes, std::int64_t reach,
                                       std::size_t shared_limit);

/// Stored pixels -> keys, colours of fully transparent pixels out of the way.
void hide_colours(const SlidingExtremeJob& job, const Source& source, const KeyRows& keys,
                  StreamHandle stream);

/// Extremes along rows. `reach` may be a part of the job's: passes that follow each other reach as far as all
/// of them together.
struct RowExtremeArguments {
  SlidingExtremeJob job;
  std::int64_t reach = 0;
  ExtremeTile tile;
  bool stored = true;  ///< the source holds stored pixels, not keys
  Source source;
  KeyRows keys;
};

/// The caller runs this once for a job on its device; it returns the code of a cudaError_t.
[[nodiscard]] int prepare_row_extremes(const SlidingExtremeJob& job);

void row_extremes(const RowExtremeArguments& arguments, StreamHandle stream);

/// Rows of outputs that one thread computes; a window's rows that all of them share are looked at once.
[[nodiscard]] int extreme_chunk(std::int64_t reach);

/// Groups of rows whose extremes are prepared, for windows so high that the shared rows are many.
struct ExtremeGroups {
  std::int64_t shared = 0;  ///< groups that a window's shared rows hold; 0: none are needed
  std::int64_t count = 0;
};

[[nodiscard]] ExtremeGroups extreme_groups(std::int64_t height, std::int64_t reach);

/// Extremes down columns, from keys to stored pixels (to keys unless `plain`).
struct ColumnExtremeArguments {
  SlidingExtremeJob job;
  std::int64_t reach = 0;  ///< the job's, as far as it is needed
  bool plain = true;       ///< nothing is left to be done with the pixels but to store them
  KeyRows keys;
  ExtremeGroups groups;
  KeyRows group_keys[2];  ///< workspace of groups.count rows each, if groups.shared is not 0
  Target output;
};

void column_extremes(const ColumnExtremeArguments& arguments, StreamHandle stream);

/// Turns keys into stored pixels in place, with alpha and mask.
void finish_extremes(const SlidingExtremeJob& job, const Source& source, const Source& mask,
                     const Target& output, StreamHandle stream);

}  // namespace satin::kernels
