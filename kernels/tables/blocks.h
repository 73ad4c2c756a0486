#pragma once
// A table of 16-bit light modulo 2^32 that is gathered from, and the bits above these.

#include <cstddef>
#include <cstdint>

namespace satin::kernels {

/// The bits above 32 of a table: kernels/tables/upper_bits.cuh.
struct UpperBits {
  static constexpr int step = 16;             ///< rows and columns of the table from an entry to the next
  static constexpr int largest_side = 65537;  ///< of a picture: sums of rows and columns fit 32 bits

  std::uint32_t* data = nullptr;  ///< [height / step + 1][row]: of what is before; the first of both are 0
  int row = 0;                    ///< entries
};

/// A plane of 32-bit entries a channel, in blocks of a line of the L1: 128 bytes. A row of a block is a
/// strip. What lies before the first row and column is 0.
struct TableBlocks {
  static constexpr int columns = 16;
  static constexpr int rows = 2;
  static constexpr int strip_bytes = columns * static_cast<int>(sizeof(std::uint32_t));

  std::byte* data = nullptr;  ///< the block of entry (0, 0), 128-byte aligned
  int strips = 0;             ///< from a row of blocks to the next
  std::int64_t plane = 0;     ///< bytes, from a channel to the next
  UpperBits upper;
};

}  // namespace satin::kernels
