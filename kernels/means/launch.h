#pragma once
// Launches of box means, one section a way to them, and of what unsharp adds, in the manner of
// kernels/device/launch.h. Calls named prepare_ are made once for a job on its device and return the code of
// a cudaError_t.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "kernels/tables/launch.h"
#include "means/box_mean.h"
#include "means/maths/mean.h"
#include "means/tiling.h"
#include "means/unsharp_residual.h"
#include "pixels/maths/pixel.h"
#include "pixels/pixels.h"

namespace satin::kernels {

// --- By a table in memory: box_mean.cuh ---

struct BoxMeanArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;  ///< of the source
  TransferView read_transfer;
  RadiusField radius;
  Border border = Border::shrink;
  double border_number = 0;
  Accumulator accumulator = Accumulator::u32;
  MeanRule rule;
  bool narrow =
      false;  ///< every weighted sum, all its weights included, is below 2^63, and the picture is no float
  const Measured* measured = nullptr;
  const void* table = nullptr;            ///< of the source; 32-byte aligned
  std::int64_t table_row = 0;             ///< bytes, a multiple of 32
  const std::uint32_t* counts = nullptr;  ///< table of the pixels that count; null if all do
  std::int64_t counts_row = 0;            ///< bytes
  Source source;
  Source original;
  Source radius_map;
  Source mask;
  Target output;
};

/// For outputs of type T; defined in box_mean.cuh, which the instances alone include.
template <class T>
void box_mean_to(const BoxMeanArguments& arguments, StreamHandle stream);

// --- Without a table in memory, in the tiles of means/tiling.h ---
//
// For each of the jobs that follow there are, beside prepare_mean() and launch_mean() of its arguments:
// farthest(), how far beyond a position its windows see, and tiles_of(job, multiprocessors, shared_limit),
// where shared_limit is the most shared memory of a block of the device.

struct TiledMeanJob {
  int width = 0;
  int height = 0;
  int channels = 1;
  bool clipped = false;  ///< only pixels of the picture count: Border::shrink
};

template <class Job>
struct TiledMeanArguments {
  Job job;
  SlidingTiles tiles;
  const int* rows = nullptr;     ///< [y] = row of the picture at position y, or -1; from -margin on
  const int* columns = nullptr;  ///< the same along x
  Source source;
  Target output;
};

/// Positions outside of the picture that kernels may ask for the source of, on either side: those that
/// windows see, and what lanes have beside them.
template <class Job>
[[nodiscard]] int margin_of(const Job& job) {
  constexpr int most_lane_pixels = 32;
  return job.farthest() + most_lane_pixels;
}

// --- One radius, without a table: box_mean_running.cuh ---

/// Values of a lane: whole pixels of 1 to 4 channels, and three accesses of 16 bytes to 32-bit prefixes.
inline constexpr int running_elements = 12;

/// A window along one axis: the sum over `reach` pixels to either side, times inner + outer, and outer times
/// the two pixels beyond. The weights of core/maths/window.h without their common factor.
struct RunningWindow {
  int reach = 0;
  std::uint32_t inner = 1;
  std::uint32_t outer = 0;  ///< 0: a whole radius

  [[nodiscard]] SATIN_HD int outer_reach() const { return reach + (outer != 0 ? 1 : 0); }
};

/// Widths of the sums down a column, and of those along a row.
enum class RunningSums : std::uint8_t {
  u32,      ///< both
  u32_u64,  ///< 32 bits down the columns
  u32_low,  ///< both, but only the low bits of sums along a row: of whole windows, by WholeMeans
  u64       ///< both; of 16-bit codes and of what is `wide`
};

/// (n + divisor / 2) / divisor by a multiplication: factor / 2^(32 + shift) is 1 / divisor, rounded up.
struct ScaledDivisor {
  std::uint32_t divisor = 0;  ///< 0: cannot be used
  std::uint32_t factor = 0;
  std::uint32_t shift = 0;
  bool exact = false;  ///< otherwise the quotient may be one too large
};

/// The divisor for dividends up to `largest` times itself.
[[nodiscard]] ScaledDivisor scaled_divisor(std::uint64_t divisor, std::uint64_t largest);

struct RunningMeanJob : TiledMeanJob {
  Type type = Type::u8;    ///< u8 or u16; what `wide` takes
  Type output = Type::u8;  ///< u8 or u16; another one than `type` with 32 bits down columns, without weights
  /// Source or result has more than 16 bits: floats and their fixed point (u64) to each other, to fixed point
  /// with whole radii alone; u8, u16 and u32 to u32, u32 to u16, without weights.
  bool wide = false;
  int fixed_bits = 0;  ///< of a float's magnitude in fixed point
  RunningSums sums = RunningSums::u32;
  bool decoded = false;   ///< to linear light
  bool encoded = false;   ///< from linear light
  bool weighted = false;  ///< the last channel is alpha: colours count times alpha. u8 and 32-bit columns
  int more_bits = 0;      ///< below the point that means have more than values; negative: fewer
  RunningWindow x;
  RunningWindow y;
  ScaledDivisor whole;                  ///< of a window that is not clipped
  int low_bits = 0;                     ///< without which sums of windows fit 32 bits: u32_low
  std::uint32_t quotients_of_half = 0;  ///< 2^31 by whole.divisor, rounded down: u32_low
  bool large_divisors = false;          ///< of 2^28 and more, times the largest alpha

  [[nodiscard]] int farthest() const { return std::max(x.outer_reach(), y.outer_reach()) + 1; }
  /// Sums along rows have 32 bits, and windows no parts of pixels.
  [[nodiscard]] bool whole_windows() const {
    return (sums == RunningSums::u32 || sums == RunningSums::u32_low) && x.outer == 0 && y.outer == 0;
  }
  /// Tiles start from sums over groups of rows.
  [[nodiscard]] SATIN_HD bool grouped() const { return y.reach > tuning::running_largest_direct_reach; }
};

/// Bytes of the sums over groups of rows; 0 without them.
[[nodiscard]] std::size_t running_groups_bytes(const RunningMeanJob& job);

struct RunningMeanArguments : TiledMeanArguments<RunningMeanJob> {
  TransferView transfer;
  const std::uint32_t* cells8 = nullptr;  ///< pixels/light_tables.h, where means become codes of 8 bits
  const std::int16_t* more_than_rough16 = nullptr;  ///< light of 16-bit codes: pixels/light_tables.h
  void* groups = nullptr;
  const Measured* measured = nullptr;  ///< floats and their fixed point
};

struct RunningKernels {
  void (*average)(RunningMeanArguments);
  void (*scan_groups)(RunningMeanArguments);  ///< null where jobs are not grouped()
};

/// For pictures of type T; defined in box_mean_running.cuh, which the instances alone include.
template <class T, int Channels>
RunningKernels running_kernels_of(const RunningMeanArguments& arguments);

/// A warp each span; a block does so many tiles together.
[[nodiscard]] SlidingTiles tiles_of(const RunningMeanJob& job, int multiprocessors, std::size_t shared_limit);
[[nodiscard]] int prepare_mean(const RunningMeanArguments& arguments);
void launch_mean(const RunningMeanArguments& arguments, StreamHandle stream);

// --- One radius, of the pixels that a mask leaves: box_mean_counted.cu ---

/// Only pixels count whose mask of u8 is not 0, and their means are blended by it. Pictures of u8 with 1 or 3
/// channels, whole radii of 96 pixels at most, sums of 32 bits.
struct CountedMeanArguments : RunningMeanArguments {
  Source mask;
};

[[nodiscard]] SlidingTiles counted_tiles_of(const RunningMeanJob& job, int multiprocessors,
                                            std::size_t shared_limit);
[[nodiscard]] int prepare_mean(const CountedMeanArguments& arguments);
void launch_mean(const CountedMeanArguments& arguments, StreamHandle stream);

// --- By a map, with the table in shared memory: tiled_table.cu ---

/// Means of u8 pictures of 1 to 3 channels.
struct TiledTableJob : TiledMeanJob {
  int reach = 0;        ///< of the largest window, rounded up
  bool linear = false;  ///< to linear light and back
  RadiusField radius;

  [[nodiscard]] int farthest() const { return reach + most_batch_rows; }
  static constexpr int most_batch_rows = 8;  ///< rows that the warps of a block hand to each other

  /// Whole boxes have less than 2^14 pixels: kernels/means/tiled_table_values.cuh.
  static constexpr int largest_reach = 63;
  /// Bits of one channel's sum in a packed entry.
  [[nodiscard]] static constexpr int sum_bits(int channel_count) { return channel_count == 3 ? 21 : 32; }
};

struct TiledTableArguments : TiledMeanArguments<TiledTableJob> {
  Source radius_map;
  TransferView transfer;
  // Set by launch_mean().
  std::int64_t map_step = 0;     ///< bytes between the rows of a warp
  std::int64_t output_step = 0;  ///< the same
  int ring_rows = 0;             ///< of the table that are in shared memory
  unsigned ring_bytes = 0;
};

/// A block each, of one span.
[[nodiscard]] SlidingTiles tiles_of(const TiledTableJob& job, int multiprocessors, std::size_t shared_limit);
[[nodiscard]] int prepare_mean(const TiledTableArguments& arguments);
void launch_mean(const TiledTableArguments& arguments, StreamHandle stream);

// --- Means under a mask: blend_means.cu ---

/// A blend of integer pictures without alpha.
struct BlendMeansArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;   ///< u8 or u16, of the picture and the output
  TransferView transfer;  ///< of the type; means are of it, or of the next larger one in linear light
  ScaledDivisor whole;    ///< the mask's largest weight, 255 or 65535: exact for values of 16 bits
  Source picture;
  Source means;
  Source mask;
  Target output;
};

void blend_means(const BlendMeansArguments& arguments, StreamHandle stream);

// --- From a table of linear light: light_gather.cu ---

/// Means of u8 pictures with borders that shrink, by one radius or a map.
struct LightGatherArguments {
  static constexpr int largest_reach = 255;  ///< upper bits say no more

  int width = 0;
  int height = 0;
  int channels = 1;
  RadiusField radius;  ///< without a map that of x along both axes
  TransferView transfer;
  ScaledDivisor whole;  ///< with a mask, as BlendMeansArguments has it
  TableBlocks table;
  Source counts;  ///< a table of the pixels that count, of 32-bit sums in rows; none if all do
  Source radius_map;
  Source original;
  Source mask;  ///< none: nothing is blended
  Target output;
  int block_rows = 0;  ///< set by gather_light()
};

void gather_light(const LightGatherArguments& arguments, StreamHandle stream);

// --- What unsharp adds: unsharp_residual.cu ---

struct UnsharpResidualArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;  ///< of the picture and the output
  Type means_type = Type::u32;
  UnsharpResidualRule rule;
  const Measured* measured = nullptr;
  Source picture;
  Source means;
  Source mask;
  Target output;
};

void add_residual(const UnsharpResidualArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
