#pragma once
// Launches of sliding minima and maxima (sliding_extreme.cuh), in the manner of kernels/device/launch.h. They
// work on keys of extremes/maths/extreme.h, four bytes of a row at a time.

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

/// Tiles of the pass along rows: a block has two copies of a tile and what its windows see in shared memory.
struct ExtremeTile {
  std::int64_t bytes = 0;  ///< width; 0: there is no room for windows of this reach
  std::size_t shared_bytes = 0;
};

[[nodiscard]] ExtremeTile extreme_tile(std::int64_t row_bytes, std::int64_t pixel_bytes, std::int64_t reach,
                                       std::size_t shared_limit);

/// Turns stored pixels into keys, and the colours of fully transparent pixels into neutral keys.
void hide_colours(const SlidingExtremeJob& job, const Source& source, const KeyRows& keys,
                  StreamHandle stream);

/// Extremes along rows. `reach` may be smaller than the job's: the reaches of successive passes add up.
struct RowExtremeArguments {
  SlidingExtremeJob job;
  std::int64_t reach = 0;
  ExtremeTile tile;
  bool stored = true;  ///< whether the source holds stored pixels, not keys
  Source source;
  KeyRows keys;
};

/// Must be called once for a job on its device. Returns the code of a cudaError_t.
[[nodiscard]] int prepare_row_extremes(const SlidingExtremeJob& job);

void row_extremes(const RowExtremeArguments& arguments, StreamHandle stream);

/// Returns the number of outputs below each other that one thread computes.
[[nodiscard]] int extreme_chunk(std::int64_t reach);

inline constexpr int extreme_group_rows = 32;

/// Groups of rows whose extremes are prepared, for windows so high that the outputs of a thread share many
/// rows.
struct ExtremeGroups {
  std::int64_t shared = 0;  ///< groups in the shared rows of a window; 0: no groups are needed
  std::int64_t count = 0;
};

[[nodiscard]] ExtremeGroups extreme_groups(std::int64_t height, std::int64_t reach);

/// Extremes down columns, from keys to stored pixels, or to keys unless `plain`.
struct ColumnExtremeArguments {
  SlidingExtremeJob job;
  std::int64_t reach = 0;  ///< needed_reach() of the job
  bool plain = true;       ///< stores_plainly() of the job
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
