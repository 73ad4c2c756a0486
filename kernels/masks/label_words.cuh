#pragma once
// Words of 32 pixels as bits: runs in rows of words, contacts between rows, tiles of words, and reading a
// mask.

#include <cstddef>
#include <cstdint>

#include "kernels/device/warp.cuh"
#include "kernels/masks/launch.h"

namespace satin::kernels {

/// Returns the bits where runs begin. A run that continues from the word to the left does not begin here.
__device__ inline std::uint32_t starts_of(std::uint32_t word, std::uint32_t left) {
  return word & ~(word << 1 | left >> 31);
}

__device__ inline std::uint32_t up_to(int bit) { return 0xFFFFFFFFU >> (31 - bit); }

__device__ inline std::uint32_t up_to_lowest(std::uint32_t bits) { return bits ^ (bits - 1); }

/// A word and its neighbours, 0 outside the picture.
struct Around {
  std::uint32_t word = 0;
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  std::uint32_t up = 0;
  std::uint32_t up_left = 0;
  std::uint32_t up_right = 0;
};

/// The bits where runs of a word touch runs of the row above, once for each pair of runs, unless the word to
/// the left has the pair already. A diagonal counts if neither pixel beside it joins the two runs.
struct Contacts {
  std::uint32_t straight = 0;  ///< bits that touch the bit above
  std::uint32_t falling = 0;   ///< bits that touch the bit above and to the left
  std::uint32_t rising = 0;    ///< bits that touch the bit above and to the right
};

__device__ inline Contacts contacts_of(const Around& around, bool diagonals) {
  const std::uint32_t word = around.word;
  const std::uint32_t both = word & around.up;
  Contacts contacts;
  contacts.straight = both & ~(both << 1 | (around.left & around.up_left) >> 31);
  if (!diagonals) return contacts;
  const std::uint32_t alone = word & ~around.up;
  const std::uint32_t before = word << 1 | around.left >> 31;
  const std::uint32_t up_before = around.up << 1 | around.up_left >> 31;
  contacts.falling = alone & up_before & ~before;
  const std::uint32_t after = word >> 1 | around.right << 31;
  const std::uint32_t up_after = around.up >> 1 | around.up_right << 31;
  contacts.rising = alone & up_after & ~after;
  return contacts;
}

/// The runs of a word and of the word above. Turns contacts into pairs of runs.
struct Links {
  std::uint32_t starts = 0;     ///< where runs begin
  std::uint32_t up_starts = 0;  ///< where runs begin in the word above
  std::uint32_t before = 0;     ///< number of the tile's runs before the word
  std::uint32_t up_before = 0;  ///< number of the tile's runs before the word above
  __device__ std::uint32_t lower(std::uint32_t up_to) const { return before + __popc(starts & up_to) - 1; }
  __device__ std::uint32_t upper(std::uint32_t up_to) const {
    return up_before + __popc(up_starts & up_to) - 1;
  }
};

/// Bits of a word that touch a run of the row above.
struct Touching {
  std::uint32_t here = 0;   ///< bits that touch the last run that begins at the bit or before
  std::uint32_t after = 0;  ///< bits that touch the run that begins after the bit
};

/// Returns the contacts of a row with the row above.
__device__ inline Touching touching(const Around& around, bool diagonals) {
  const Contacts contacts = contacts_of(around, diagonals);
  return {contacts.straight | contacts.falling, contacts.rising};
}

/// Tiles of 4 words by 64 rows, one thread a word.
inline constexpr int tile_words = label_tile_words;
inline constexpr int tile_rows = label_tile_rows;
inline constexpr int tile_threads = tile_words * tile_rows;
inline constexpr int tile_runs = tile_threads * static_cast<int>(label_word) / 2;
inline constexpr int tile_last = tile_words * static_cast<int>(label_word) - 1;  ///< last column

struct Tile {
  std::uint32_t index = 0;
  std::uint32_t word = 0;  ///< first column, in words
  std::uint32_t row = 0;   ///< first row
};

__device__ inline Tile tile_at(const LabelTiles& tiles, std::uint32_t index) {
  return {index, index % tiles.columns * tile_words, index / tiles.columns * tile_rows};
}

/// Returns the index of a tile's first run and first part in arrays over all tiles.
__device__ inline std::uint32_t first_of(const LabelTiles& tiles, std::uint32_t tile) {
  return tile << tiles.run_bits;
}

/// A word of a tile and its runs, 0 outside of the picture.
struct TileWord {
  std::uint32_t word = 0;
  std::uint32_t starts = 0;  ///< where runs begin
  std::uint32_t before = 0;  ///< number of the tile's runs that begin in the words before
};

/// Returns one word per lane. All lanes of a warp call it, for 8 rows.
__device__ inline TileWord tile_word(const LabelArguments& arguments, const Tile& tile, std::uint32_t index) {
  const LabelTiles& tiles = arguments.tiles;
  const std::uint32_t row = tile.row + index / tile_words;
  const std::uint32_t column = tile.word + index % tile_words;
  TileWord mine;
  if (row < arguments.job.height && column < tiles.words) {
    mine.word = arguments.bits[row * tiles.words + column];
    mine.before = arguments.runs_before[row * tiles.words + column];
  }
  const std::uint32_t left = __shfl_up_sync(whole_warp, mine.word, 1);
  mine.starts = starts_of(mine.word, index % tile_words != 0 ? left : 0);
  return mine;
}

/// The first pixel of a part in its tile, and whether it touches the tile's sides.
struct PartPlace {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  bool at_side = false;
};
inline constexpr std::uint32_t column_bits = 7;
inline constexpr std::uint32_t row_bits = 6;
inline constexpr std::uint32_t side_bit = 1U << (column_bits + row_bits);
static_assert(tile_last + 1 == 1 << column_bits && tile_rows == 1 << row_bits);

/// Side, row and column, from the highest bit to the lowest.
__device__ inline PartPlace unpacked(std::uint32_t packed) {
  return {packed >> column_bits & (tile_rows - 1U), packed & std::uint32_t{tile_last},
          (packed & side_bit) != 0};
}

/// Returns the first pixel of a part as the index of a bit of the picture. These ascend in raster order.
__device__ inline std::uint32_t first_bit(const LabelArguments& arguments, std::uint32_t part) {
  const Tile tile = tile_at(arguments.tiles, part >> arguments.tiles.run_bits);
  const PartPlace place = unpacked(arguments.part_place[part]);
  const std::uint32_t word =
      (tile.row + place.row) * static_cast<std::uint32_t>(arguments.tiles.words) + tile.word;
  return word * static_cast<std::uint32_t>(label_word) + place.column;
}

/// Other threads may write parents at the same time: every value read is an ancestor.
__device__ inline std::uint32_t root_of(const volatile std::uint32_t* parents, std::uint32_t entry) {
  for (std::uint32_t parent = parents[entry]; parent != entry; parent = parents[entry]) entry = parent;
  return entry;
}

// Reading rows of a mask as words of bits.

inline constexpr int quad = 4;  ///< pixels per lane

/// Returns in bits 28 to 31 which of four bytes are not 0.
__device__ inline std::uint32_t set_bytes(std::uint32_t bytes) {
  constexpr std::uint32_t high = 0x80808080U;
  const std::uint32_t set = (((bytes & ~high) + ~high) | bytes) & high;
  return set * 0x00204081U;
}

/// Transposes groups of four bits among eight lanes: lane l gets the l-th group of each lane.
__device__ inline std::uint32_t transposed(std::uint32_t bits) {
  constexpr std::uint32_t lower[] = {0x0F0F0F0FU, 0x00FF00FFU, 0x0000FFFFU};
#pragma unroll
  for (int step = 2; step >= 0; --step) {
    const int lanes = 1 << step;
    const int shift = quad * lanes;
    const std::uint32_t other = __shfl_xor_sync(whole_warp, bits, lanes);
    bits = (lane_index() & lanes) == 0 ? (bits & lower[step]) | (other & lower[step]) << shift
                                       : (bits & ~lower[step]) | (other & ~lower[step]) >> shift;
  }
  return bits;
}

/// Reads the words of eight rows of a tile. All lanes of a warp call it.
__device__ inline void read_rows(const LabelArguments& arguments, const Tile& tile, int first_row,
                                 std::uint32_t* words) {
  constexpr int rows = 8;
  const std::int64_t width = arguments.job.width;
  const std::int64_t height = arguments.job.height;
  const std::int64_t x = std::int64_t{tile.word} * label_word + lane_index() * quad;
  const std::int64_t y = std::int64_t{tile.row} + first_row;
  const std::uint32_t outside = arguments.job.zeros ? 0x01010101U : 0;
  const std::byte* row = arguments.mask.data + y * arguments.mask.row + x;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(row) | arguments.mask.row) % quad == 0;
  std::uint32_t values[rows];
  if (aligned && x + quad <= width && y + rows <= height) {
#pragma unroll
    for (int i = 0; i < rows; ++i, row += arguments.mask.row)
      values[i] = *reinterpret_cast<const std::uint32_t*>(row);
  } else {
#pragma unroll
    for (int i = 0; i < rows; ++i, row += arguments.mask.row) {
      values[i] = outside;
      for (int k = 0; k < quad; ++k)
        if (y + i < height && x + k < width)
          values[i] = (values[i] & ~(0xFFU << 8 * k)) | static_cast<std::uint32_t>(row[k]) << 8 * k;
    }
  }
  std::uint32_t bits = 0;
#pragma unroll
  for (int i = 0; i < rows; ++i) bits = bits >> quad | (set_bytes(values[i]) & 0xF0000000U);
  if (arguments.job.zeros) bits = ~bits;
  words[(first_row + lane_index() % rows) * tile_words + lane_index() / rows] = transposed(bits);
}

}  // namespace satin::kernels
