#pragma once
// These functions find an entry of a table in blocks: its strip, and its place behind the start of the
// strip. Rows and columns may be -1.

#include "kernels/tables/blocks.h"

namespace satin::kernels {

/// Strips from that of entry (0, 0) to that of row y in the first column of blocks.
__device__ inline int strip_of_row(const TableBlocks& blocks, int y) {
  static_assert(TableBlocks::rows == 2);
  return (y >> 1) * blocks.strips + (y & 1);
}

/// Entries from the strip's start to column x.
__device__ inline int place_of_column(int x) {
  constexpr int within = TableBlocks::columns - 1;
  return (x & ~within) * TableBlocks::rows + (x & within);
}

}  // namespace satin::kernels
