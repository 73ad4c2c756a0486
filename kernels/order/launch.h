#pragma once
// Launches of order statistics, in the manner of kernels/device/launch.h. A method finds the keys of one
// channel's ranks (extremes/maths/extreme.h) and leaves them where the output goes, as stored bits if nothing
// is left to be done but to store them; finish_ranks() does what is left, in place.

#include <cstddef>
#include <cstdint>

#include "kernels/device/launch.h"
#include "order/rank.h"

namespace satin::kernels {

/// The arguments that every method takes.
struct RankArguments {
  RankJob job;
  int channel = 0;
  bool plain = true;         ///< the output gets stored bits, not keys
  std::int32_t outside = 0;  ///< of Border::constant: the channel's key
  std::int32_t outside_alpha = 0;
  Source source;
  Source radius_map;
  Source mask;
  Target output;
};

/// Medians of 3 x 3 pixels (median_3x3.cu), and of 5 x 5 to 15 x 15 (median_tiles.cu).
inline constexpr int largest_tiled_reach = 7;
void medians_of_nine(const RankArguments& arguments, StreamHandle stream);
void medians_by_tiles(const RankArguments& arguments, StreamHandle stream);

/// Bytes with one radius, by thresholds (rank_thresholds.cu).
struct ThresholdSpace {
  std::uint32_t* words = nullptr;  ///< workspace: threshold_words() of them
  int multiprocessors = 1;
};

[[nodiscard]] std::int64_t threshold_words(const RankJob& job);
void ranks_by_thresholds(const RankArguments& arguments, const ThresholdSpace& space, StreamHandle stream);

/// Everything else: a wavelet matrix in two orders (wavelet_matrix.cu), a part of the picture at a time.
struct WaveletPart {
  int x = 0, y = 0, width = 0, height = 0;  ///< the outputs
  int from_x = 0, from_y = 0;  ///< what their windows see begins here, maybe outside the picture,
  int columns = 0, rows = 0;   ///< and has this size: columns a multiple of 64
};

/// The parts of a picture have at most this size.
struct WaveletTiling {
  int width = 0;  ///< of the outputs of a part
  int height = 0;
  std::int64_t elements = 0;  ///< that the windows of a part see, at most
};

[[nodiscard]] WaveletTiling wavelet_tiling(const RankJob& job);
[[nodiscard]] WaveletPart wavelet_part(const RankJob& job, const WaveletTiling& tiling, int x, int y);
[[nodiscard]] std::size_t wavelet_bytes(const RankJob& job, std::int64_t elements);

struct WaveletArguments : RankArguments {
  WaveletPart part;
  std::byte* workspace = nullptr;  ///< wavelet_bytes() of the tiling
};

void ranks_by_wavelet_matrix(const WaveletArguments& arguments, StreamHandle stream);

/// Turns the keys in the output into stored pixels, with threshold, alpha and mask.
void finish_ranks(const RankJob& job, const Source& source, const Source& mask, const Target& output,
                  StreamHandle stream);

}  // namespace satin::kernels
