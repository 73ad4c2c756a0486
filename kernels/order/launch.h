#pragma once
// Launches of order statistics, in the manner of kernels/device/launch.h. A method finds the keys of one
// channel's ranks (extremes/maths/extreme.h) and writes them to the output: as stored pixels if the job is
// plain, otherwise as keys, which finish_ranks() turns into stored pixels in place.

#include <cstddef>
#include <cstdint>

#include "kernels/device/launch.h"
#include "order/rank.h"

namespace satin::kernels {

struct RankArguments {
  RankJob job;
  int channel = 0;
  bool plain = true;             ///< whether the output gets stored pixels, not keys
  std::int32_t outside[4] = {};  ///< RankJob::border_keys
  Source source;
  Source radius_map;
  Source mask;
  Target output;
};

/// Medians of 3 x 3 to 15 x 15 pixels; with alpha as if each of these counted (median_tiles.cu).
inline constexpr int largest_tiled_reach = 7;
void medians_by_networks(const RankArguments& arguments, StreamHandle stream);
/// Replaces the medians in windows with pixels that do not count, for all channels of a picture with alpha.
void partial_medians(const RankArguments& arguments, StreamHandle stream);

/// Ranks of bytes with one radius, by thresholds (rank_thresholds.cu).
struct ThresholdSpace {
  std::uint32_t* words = nullptr;  ///< workspace of threshold_words() words
  int multiprocessors = 1;
};

[[nodiscard]] std::int64_t threshold_words(const RankJob& job);
void ranks_by_thresholds(const RankArguments& arguments, const ThresholdSpace& space, StreamHandle stream);

/// Outputs of a chunk, and the pixels that their windows see (wavelet_matrix.cu).
struct WaveletChunk {
  int x = 0, y = 0, width = 0, height = 0;  ///< the outputs
  int from_x = 0, from_y = 0;               ///< first pixel seen, maybe outside the picture
  int columns = 0, rows = 0;                ///< pixels seen; columns are a multiple of 64
};

/// Largest size of the chunks of a picture.
struct WaveletChunkSize {
  int width = 0;              ///< columns of outputs
  int height = 0;             ///< rows of outputs
  std::int64_t elements = 0;  ///< pixels that the windows of a chunk see
};

[[nodiscard]] WaveletChunkSize wavelet_chunk_size(const RankJob& job);
[[nodiscard]] WaveletChunk wavelet_chunk(const RankJob& job, const WaveletChunkSize& tiling, int x, int y);
[[nodiscard]] std::size_t wavelet_bytes(const RankJob& job, std::int64_t elements);

struct WaveletArguments : RankArguments {
  WaveletChunk chunk;
  std::byte* workspace = nullptr;  ///< wavelet_bytes() bytes
};

void ranks_by_wavelet_matrix(const WaveletArguments& arguments, StreamHandle stream);

/// Turns the keys in the output into stored pixels, with threshold, alpha and mask (pixelwise.cu).
void finish_ranks(const RankJob& job, const Source& source, const Source& mask, const Target& output,
                  StreamHandle stream);

}  // namespace satin::kernels
