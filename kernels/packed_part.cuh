#pragma once
// What the warps of a block share that stack up a band of rows, and the part of the picture they write.

#include <cstdint>

#include "kernels/box_mean_packed.h"
#include "kernels/lane_rows.cuh"
#include "kernels/tuning.h"

namespace satin::kernels {

inline constexpr int packed_warps = tuning::packed_warps_per_block;
inline constexpr int packed_threads = packed_warps * warp_size;

/// A warp's row of column sums: two segments of 32 lanes that follow each other, `elements` sums a lane.
template <int Channels>
struct PackedShape {
  using Rows = LaneRows<std::uint8_t, Channels, std::uint32_t>;
  static constexpr int elements = Rows::elements;
  static constexpr int pixels = Rows::pixels;  ///< of a lane
  static constexpr int pairs = elements / 2;   ///< words of two 16-bit sums
  static constexpr int chunk = 8;              ///< sums of one access of 16 bytes
  static constexpr int segments = 2;
  static constexpr int columns = segments * warp_size * pixels;
  static constexpr int row_words = segments * warp_size * pairs;  ///< of a row of sums
  static constexpr int staged_words = warp_size * elements / 4 + 2;

  /// Words before a row of sums that are 0: those of windows that begin before it.
  [[nodiscard]] SATIN_HD static int margin_words(int reach) {
    return (Channels * (2 * reach + 1) + chunk - 1) / chunk * chunk / 2;
  }
  [[nodiscard]] SATIN_HD static int warp_words(int reach) {
    constexpr int rounded = (staged_words + 3) / 4 * 4;
    return margin_words(reach) + row_words + rounded + 2 * columns;
  }
  [[nodiscard]] static std::size_t bytes(int groups, int reach) {
    const int group_words = groups * row_words;
    const int warps_words = packed_warps * warp_words(reach);
    return sizeof(std::uint32_t) *
           static_cast<std::size_t>(group_words > warps_words ? group_words : warps_words);
  }
};

/// The rectangle of means that a warp writes, and where its columns begin.
struct PackedPart {
  int first_x, last_x;  ///< columns [first_x, last_x)
  int first_y, last_y;  ///< rows of the warp
  int band_y, band_end;
  int origin;  ///< position of the first column that is summed
};

__device__ inline PackedPart packed_part(const PackedMeanArguments& arguments, int pixels, int warp) {
  const PackedMeanJob& job = arguments.job;
  const PackedTiles& tiles = arguments.tiles;
  PackedPart part{};
  part.first_x = static_cast<int>(blockIdx.x) * tiles.strip_width;
  part.last_x = min(part.first_x + tiles.strip_width, job.width);
  const auto band = static_cast<std::int64_t>(blockIdx.y);
  part.band_y = static_cast<int>(band * job.height / tiles.bands);
  part.band_end = static_cast<int>((band + 1) * job.height / tiles.bands);
  part.first_y = min(part.band_y + warp * tiles.rows, part.band_end);
  part.last_y = min(part.first_y + tiles.rows, part.band_end);
  const int first = part.first_x - job.reach_x;
  part.origin = first - (first % pixels + pixels) % pixels;
  return part;
}

}  // namespace satin::kernels
