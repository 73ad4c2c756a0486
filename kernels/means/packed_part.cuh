#pragma once
// What the warps of a block share that stand above each other in a tile, and the part of the picture they
// write.

#include <cstdint>

#include "kernels/device/exact_division.cuh"
#include "kernels/means/tile_part.cuh"
#include "kernels/pixels/lane_rows.cuh"

namespace satin::kernels {

// H200, UHD RGB, radius 16 and 64, ms by warps a block x blocks a multiprocessor, with 4 rows in flight: 20 x
// 1 0.0394 and 0.0450, 10 x 2 0.0368 and 0.0459, 16 x 1 0.0400 and 0.0469, 24 x 1 (which spills registers)
// 0.0407 and 0.0478. 20 x 1 with 8 rows, 4 where few are left: 0.0372 and 0.0441 where 4 took 0.0390 and
// 0.0458; with 8 everywhere the same, but 1920 x 1080 0.0164 instead of 0.0153.
namespace packed_tuning {

inline constexpr int warps_per_block = 20;
inline constexpr int blocks_per_multiprocessor = 1;  ///< at least: bounds the registers
inline constexpr int most_blocks = 9;                ///< of a multiprocessor, one after another
/// More leave the L1 too little: 8192 x 8192, radius 16, 0.268 ms with 6, 0.244 with 3.
inline constexpr int most_spans = 4;
inline constexpr int rows_in_flight =
    8;  ///< of a warp at the start of a tile, half as many where few are left
// Counted instructions, where a row that is only summed costs 4.
inline constexpr int cost_of_row = 40;
inline constexpr int cost_of_start = 96;  ///< beside rows that are summed

}  // namespace packed_tuning

inline constexpr int packed_warps = packed_tuning::warps_per_block;
inline constexpr int packed_threads = packed_warps * warp_size;

/// A row of column sums: spans of 32 lanes that follow each other, `elements` sums a lane.
template <int Channels>
struct PackedShape {
  using Rows = LaneRows<std::uint8_t, Channels, std::uint32_t>;
  static constexpr int elements = Rows::elements;
  static constexpr int pixels = Rows::pixels;  ///< of a lane
  static constexpr int pairs = elements / 2;   ///< words of two 16-bit sums
  static constexpr int chunk = 8;              ///< sums of one access of 16 bytes
  static constexpr int span_pixels = warp_size * pixels;
  static constexpr int span_words = warp_size * pairs;
  static constexpr int staged_words =
      warp_size * elements / 4 + 4;  ///< means of a span, and what funnels read

  /// Words before a row of sums that are 0: windows that begin before it.
  [[nodiscard]] SATIN_HD static int margin_words(int reach) {
    return (Channels * (2 * reach + 1) + chunk - 1) / chunk * chunk / 2;
  }
  /// Words of a row of sums with its margin.
  [[nodiscard]] SATIN_HD static int slot_words(const PackedMeanJob& job, const SlidingTiles& tiles) {
    return margin_words(job.reach_x) + tiles.spans * span_words;
  }
  /// Rows that a tile's windows see.
  [[nodiscard]] SATIN_HD static int seen_rows(const PackedMeanJob& job, const SlidingTiles& tiles) {
    return ((job.height + tiles.rows - 1) / tiles.rows + 2 * job.reach_y + 2 + 3) / 4 * 4;
  }
  [[nodiscard]] static std::size_t bytes(const PackedMeanJob& job, const SlidingTiles& tiles) {
    const int words = seen_rows(job, tiles) + packed_warps * (slot_words(job, tiles) + staged_words) +
                      2 * tiles.spans * span_pixels;
    return sizeof(std::uint32_t) * static_cast<std::size_t>(words);
  }
};

/// Shared memory of a block.
template <int Channels>
struct PackedShared {
  using Shape = PackedShape<Channels>;
  int* rows;                ///< of the picture, from one above the tile's first window on; -1: none
  std::uint32_t* sums;      ///< [warps][slot_words]
  std::uint32_t* staging;   ///< [warps][staged_words]
  ByteDivision* divisions;  ///< of every column of the tile, for windows of all rows

  __device__ PackedShared(void* memory, const PackedMeanArguments& arguments)
      : rows(static_cast<int*>(memory)),
        sums(reinterpret_cast<std::uint32_t*>(rows + Shape::seen_rows(arguments.job, arguments.tiles))),
        staging(sums + packed_warps * Shape::slot_words(arguments.job, arguments.tiles)),
        divisions(reinterpret_cast<ByteDivision*>(staging + packed_warps * Shape::staged_words)) {}
};

/// The means that a warp writes, a share of the rows of its tile, and where its columns begin.
struct PackedPart : TilePart {
  TilePart tile;
  int origin;       ///< position of the first column that is summed
  int spans;        ///< of a row of the tile
  int last_needed;  ///< position of the last column that counts

  /// The first row of a warp, or the end of the last one's.
  [[nodiscard]] __device__ int first_of(int warp) const {
    return tile.first_y + (tile.last_y - tile.first_y) * warp / packed_warps;
  }
};

__device__ inline PackedPart packed_part(const PackedMeanArguments& arguments, int pixels, int warp) {
  const PackedMeanJob& job = arguments.job;
  PackedPart part{};
  part.tile = tile_part(job, arguments.tiles, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y));
  part.first_x = part.tile.first_x;
  part.last_x = part.tile.last_x;
  part.first_y = part.first_of(warp);
  part.last_y = part.first_of(warp + 1);
  const int first = part.first_x - job.reach_x;
  part.origin = first - (first % pixels + pixels) % pixels;
  part.last_needed = part.last_x - 1 + job.reach_x;
  part.spans = (part.last_needed - part.origin) / (warp_size * pixels) + 1;
  return part;
}

}  // namespace satin::kernels
