#pragma once
// Launches of the kernels for box means and unsharp masking, in the manner of kernels/device/launch.h.
// Functions named prepare_ are called once for a job on its device and return the code of a cudaError_t.

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

// --- Gather from a table in memory: by_map/table_gather.cuh ---

struct BoxMeanArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;  ///< how the source is read
  TransferView read_transfer;
  RadiusField radius;
  Border border = Border::shrink;
  double border_number = 0;
  Accumulator accumulator = Accumulator::u32;
  MeanRule rule;
  const Measured* measured = nullptr;
  const void* table = nullptr;            ///< table of the source, aligned to 32 bytes
  std::int64_t table_row = 0;             ///< row stride in bytes, a multiple of 32
  const std::uint32_t* counts = nullptr;  ///< table of the validity mask; null if all pixels count
  std::int64_t counts_row = 0;            ///< row stride in bytes
  Source source;
  Source original;
  Source radius_map;
  Source mask;
  Target output;
};

/// Launches the kernels for outputs of type T. Only the instances in kernels/CMakeLists.txt include its
/// definition.
template <class T>
void box_mean_to(const BoxMeanArguments& arguments, StreamHandle stream);

// --- Jobs in the tiles of means/tiling.h ---
//
// Every such job has farthest(), the distance that its windows reach beyond a pixel, and a function
// tiles_of(arguments, multiprocessors, shared_limit) that cuts the picture; shared_limit is the device's most
// shared memory per block.

struct TiledMeanJob {
  int width = 0;
  int height = 0;
  int channels = 1;
  bool clipped = false;  ///< Border::shrink: windows are clipped by the picture
};

template <class Job>
struct TiledMeanArguments {
  Job job;
  SlidingTiles tiles;
  const int* rows = nullptr;     ///< row of the picture, or -1, for every position from -margin_of(job) on
  const int* columns = nullptr;  ///< the same for columns
  Source source;
  Target output;
};

/// Number of positions on either side of the picture whose source kernels may look up: those that windows
/// reach, and the rest of a lane.
template <class Job>
[[nodiscard]] int margin_of(const Job& job) {
  constexpr int most_lane_pixels = 32;
  return job.farthest() + most_lane_pixels;
}

// --- Box filter with one radius: by_radius/box_filter.cuh ---

/// Values per lane: whole pixels of 1 to 4 channels, and three accesses of 16 bytes to 32-bit prefixes.
inline constexpr int lane_elements = 12;

/// A window along one axis: the weights of core/maths/window.h without their common factor. The pixels up to
/// `reach` weigh inner + outer, the two beyond weigh outer.
struct AxisWindow {
  int reach = 0;
  std::uint32_t inner = 1;
  std::uint32_t outer = 0;  ///< 0 for a whole radius

  [[nodiscard]] SATIN_HD int outer_reach() const { return reach + (outer != 0 ? 1 : 0); }
};

/// Widths of column sums and of the prefix sums along a row.
enum class SumWidths : std::uint8_t {
  u32,      ///< 32 bits for both
  u32_u64,  ///< 32 bits for column sums, 64 for prefixes
  u32_low,  ///< 32 bits for both, but only the low bits of window sums: whole radii, by WholeRadiusMeans
  u64       ///< 64 bits for both: 16-bit codes, and values above 16 bits
};

/// A divisor as a multiplication: factor / 2^(32 + shift) is 1 / divisor, rounded up.
struct ScaledDivisor {
  std::uint32_t divisor = 0;  ///< 0 if no factor fits
  std::uint32_t factor = 0;
  std::uint32_t shift = 0;
  bool exact = false;  ///< otherwise the quotient may be one too large
};

/// Returns the factor for dividends n + divisor / 2 with n at most `largest` times the divisor.
[[nodiscard]] ScaledDivisor scaled_divisor(std::uint64_t divisor, std::uint64_t largest);

/// Kinds of successive boxes whose values between the boxes are light of 24 bits.
enum class LightBox : std::uint8_t {
  none,             ///< all other boxes
  of_light,         ///< from light to light: WorkingPolicy, u32_low
  premultiplies,    ///< from bytes with alpha to light as in pixels/premultiplied.h: WorkingPolicy, u32_low
  unpremultiplies,  ///< from such light to bytes with alpha: StraightAlphaPolicy, any radius
};

/// Returns the size in bytes of a row of packed values of `bits` bits, 24 or 48. Its planes are aligned to
/// cache lines of the L2.
[[nodiscard]] inline std::int64_t packed_row_bytes(std::int64_t width, int channels, int bits) {
  const int pixels = lane_elements / channels;
  constexpr int lanes = 32;
  return (width + lanes * pixels - 1) / (lanes * pixels) * (lanes * lane_elements * bits / 8);
}

struct BoxFilterJob : TiledMeanJob {
  Type type = Type::u8;    ///< u8 or u16; with exceeds_16_bits also u32, u64 and f32
  Type output = Type::u8;  ///< u8 or u16; may differ from `type` with 32-bit column sums and no alpha
  /// Whether source or result has more than 16 bits: floats and their fixed point (u64) to each other, to
  /// fixed point for whole radii only; u8, u16 and u32 to u32; u32 to u16, or to u8 with alpha. Premultiplied
  /// values count as values without alpha. With alpha as a weight: f32 and u16 to their type, and both to
  /// packed values of 64 bits and back.
  bool exceeds_16_bits = false;
  int fixed_bits = 0;  ///< bits of a float's magnitude in fixed point
  SumWidths sums = SumWidths::u32;
  bool decodes = false;           ///< whether values are decoded to linear light
  bool encodes = false;           ///< whether means are encoded from linear light
  bool weights_by_alpha = false;  ///< by the last channel; 32-bit column sums, or exceeds_16_bits
  LightBox light = LightBox::none;
  bool packed = false;  ///< whether values between successive boxes are packed: by_radius/packed_values.cuh
  int more_bits = 0;    ///< fraction bits of means minus those of values
  AxisWindow x;
  AxisWindow y;
  ScaledDivisor unclipped;              ///< divisor of a window that is not clipped
  int low_bits = 0;                     ///< u32_low: bits by which window sums exceed 32 bits
  std::uint32_t quotients_of_half = 0;  ///< u32_low: floor(2^31 / unclipped.divisor)
  bool has_large_divisors = false;      ///< whether divisors times the largest alpha reach 2^28

  [[nodiscard]] int farthest() const { return std::max(x.outer_reach(), y.outer_reach()) + 1; }
  /// Whether WholeRadiusPolicy serves the job: whole radii and 32-bit prefixes.
  [[nodiscard]] bool uses_whole_radius_kernel() const {
    return (sums == SumWidths::u32 || sums == SumWidths::u32_low) && x.outer == 0 && y.outer == 0;
  }
  /// Whether pixels of RGB may have a fourth value that is neither read nor written.
  [[nodiscard]] bool may_be_padded() const {
    return type == Type::u8 && output == Type::u8 && channels == 3 && sums == SumWidths::u32 &&
           uses_whole_radius_kernel() && !starts_from_groups();
  }
  /// Whether tiles start from sums over groups of rows, as radii are too large to sum all rows.
  [[nodiscard]] SATIN_HD bool starts_from_groups() const {
    return y.reach > tuning::running_largest_direct_reach;
  }
};

/// Returns the size of the groups of rows in bytes; 0 if the job has none.
[[nodiscard]] std::size_t row_groups_bytes(const BoxFilterJob& job);

struct BoxFilterArguments : TiledMeanArguments<BoxFilterJob> {
  TransferView transfer;
  const std::uint32_t* cells8 = nullptr;            ///< words of pixels/light_tables.h, to encode 8 bits
  const std::int16_t* more_than_rough16 = nullptr;  ///< table of WideDecodeTable, to decode 16 bits
  void* groups = nullptr;                           ///< row_groups_bytes() of memory
  const Measured* measured = nullptr;               ///< for floats and their fixed point
  Source original;                                  ///< picture with alpha, whose colours pixels without keep
  int source_pixel = 0;                             ///< bytes between two pixels; see may_be_padded()
  int output_pixel = 0;
};

struct BoxFilterKernels {
  void (*average)(BoxFilterArguments);
  void (*scan_groups)(BoxFilterArguments);  ///< null if the job's kind never starts from groups
};

/// Returns the kernels for pictures of type T. Only the instances in kernels/CMakeLists.txt include its
/// definition.
template <class T, int Channels>
BoxFilterKernels box_filter_kernels(const BoxFilterArguments& arguments);

[[nodiscard]] SlidingTiles tiles_of(const BoxFilterArguments& arguments, int multiprocessors,
                                    std::size_t shared_limit);
[[nodiscard]] int prepare_mean(const BoxFilterArguments& arguments);
void launch_mean(const BoxFilterArguments& arguments, StreamHandle stream);

// --- Box filter of the pixels that a mask includes: by_radius/masked_box_filter.cu ---

/// Only pixels whose mask of u8 is not 0 count, and the mask blends their means. Pictures of u8 with 1 or 3
/// channels, whole radii up to 96, sums of 32 bits.
struct MaskedFilterArguments : BoxFilterArguments {
  Source mask;
};

[[nodiscard]] SlidingTiles tiles_of(const MaskedFilterArguments& arguments, int multiprocessors,
                                    std::size_t shared_limit);
[[nodiscard]] int prepare_mean(const MaskedFilterArguments& arguments);
void launch_mean(const MaskedFilterArguments& arguments, StreamHandle stream);

// --- Radius map, with a table in shared memory: by_map/tiled_table.cu ---

/// Means in linear light: of u8 with 1 to 3 channels, of u8 with 2 or 4 channels whose last one is alpha, and
/// of u16 with 1 or 3 channels.
struct TiledTableJob : TiledMeanJob {
  Type type = Type::u8;
  bool weights_by_alpha = false;
  int reach = 0;  ///< largest radius, rounded up
  RadiusField radius;

  [[nodiscard]] int farthest() const { return reach + most_batch_rows; }
  static constexpr int most_batch_rows = 8;  ///< most rows that the warps of a block hand over at once
};

struct TiledTableArguments : TiledMeanArguments<TiledTableJob> {
  Source radius_map;
  TransferView transfer;
  // Set by launch_mean():
  std::int64_t map_step = 0;     ///< bytes of the map between the rows of a warp
  std::int64_t output_step = 0;  ///< bytes of the output between the rows of a warp
  int ring_rows = 0;             ///< rows of the table in shared memory
  unsigned ring_bytes = 0;
};

/// A tile is the work of one block and has one span.
[[nodiscard]] SlidingTiles tiles_of(const TiledTableArguments& arguments, int multiprocessors,
                                    std::size_t shared_limit);
[[nodiscard]] int prepare_mean(const TiledTableArguments& arguments);
void launch_mean(const TiledTableArguments& arguments, StreamHandle stream);

// --- Gather from a table of linear light: by_map/light_gather.cu ---

/// Means of u8 pictures in linear light with Border::shrink, by one radius or a map.
struct LightGatherArguments {
  static constexpr int largest_reach = 511;  ///< sums of 1023 x 1023 pixels of 16 bits fit 36 bits

  int width = 0;
  int height = 0;
  int channels = 1;
  RadiusField radius;  ///< the same radius along both axes
  TransferView transfer;
  ScaledDivisor largest_weight;  ///< as in BlendMeansArguments
  Source table;                  ///< table of light behind a row and a column of zeros
  Source counts;  ///< the same of the validity mask, with 32-bit sums; no data if all pixels count
  Source radius_map;
  Source original;
  Source mask;  ///< no data: means are not blended
  Target output;
  int blocks = 1;  ///< largest number of blocks of threads
};

void gather_light(const LightGatherArguments& arguments, StreamHandle stream);

// --- A picture combined with its means: picture_with_means.cu ---

/// A blend by a mask, of integer pictures without alpha.
struct BlendMeansArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;          ///< type of the picture and the output, u8 or u16
  TransferView transfer;         ///< in linear light the type of the means is the next larger one
  ScaledDivisor largest_weight;  ///< 255 or 65535: exact for values of 16 bits
  Source picture;
  Source means;
  Source mask;
  Target output;
};

void blend_means(const BlendMeansArguments& arguments, StreamHandle stream);

/// Unsharp masking: the picture plus an amount of its difference from the means.
struct UnsharpResidualArguments {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;  ///< type of the picture and the output
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
