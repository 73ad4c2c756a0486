#pragma once
// Launches of the lens, in the manner of kernels/device/launch.h: from signed radii to samples, and the
// splat. Those of steps on each pixel alone are in kernels/pixels/launch.h.

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "lens/layers.h"
#include "lens/maths/disocclusion_fill.h"
#include "lens/maths/splat.h"
#include "lens/maths/visible_samples.h"
#include "lens/splat.h"
#include "pixels/maths/pixel.h"

namespace satin::kernels {

struct LensLayersArguments {
  LensLayersJob job;
  TransferView transfer;
  void* fill_workspace = nullptr;
  void* nonlocal_workspace = nullptr;
  int multiprocessors = 1;
};

/// Radii -> visible samples, and those of silhouettes in the list.
void make_visible_samples(const LensLayersArguments& arguments, const ImageView& picture,
                          const Measured* measured, const LensScene& scene, StreamHandle stream);

/// Lets fill_disocclusions() have its shared memory; the code of a cudaError_t.
[[nodiscard]] int prepare_fill_disocclusions(int channels);
[[nodiscard]] std::size_t fill_workspace_bytes(const LensLayersJob& job);

/// Adds the disocclusion fill of all groups to the list, which it completes after each of them.
void fill_disocclusions(const LensLayersArguments& arguments, const LensScene& scene, StreamHandle stream);

[[nodiscard]] std::size_t nonlocal_workspace_bytes(const LensLayersJob& job);
/// The non-local fill of what is in the list.
void fill_nonlocally(const LensLayersArguments& arguments, const LensScene& scene, StreamHandle stream);

/// A picture of what was seen.
void show_lens(const LensLayersJob& job, const LensScene& scene, const LensShow& shown, StreamHandle stream);

/// Number of blocks of `block` threads (or other units) for `count` of them.
inline unsigned blocks_for(std::int64_t count, int block) {
  return static_cast<unsigned>((count + block - 1) / block);
}

/// A block sums one tile of one group.
inline constexpr int splat_tile_width = 64;
inline constexpr int splat_tile_height = 32;
inline constexpr int splat_tile_pixels = splat_tile_width * splat_tile_height;
/// What lies in a cell is known when tiles look for samples.
inline constexpr int splat_cell = 32;
/// The farthest that tiles look, two cells; samples whose shapes reach farther are added to them one by one.
inline constexpr int splat_reach = 62;

struct alignas(16) RecordColours {
  std::uint32_t colour[4];  ///< lowest words; of merged samples the sums
};
struct alignas(16) RecordShape {
  std::uint32_t share[2];      ///< what either staircase's pixels get; 0: it gets nothing
  std::uint16_t staircase[2];  ///< in the table of staircases
  std::uint32_t place;         ///< see RecordPlace
};
/// A sample, or a block of merged ones, and the staircases that it is spread over.
struct SplatRecord : RecordColours, RecordShape {};

/// The two parts lie apart: the lanes of a warp read and write them side by side.
struct SplatRecords {
  RecordColours* colours = nullptr;
  RecordShape* shapes = nullptr;
};

/// A staircase that tiles look for, in one load; of others `boxes` is 0.
struct alignas(16) NearStaircase {
  static constexpr int most_boxes = Staircase::most_boxes;
  std::uint8_t wide[most_boxes] = {};
  std::uint8_t high[most_boxes] = {};
  std::uint8_t boxes = 0;
  std::uint8_t reach = 0;
};

/// The visible samples of a group that lie in a cell and are spread.
struct alignas(16) SplatCell {
  std::int32_t reach = -1;       ///< of these and of those of the list; -1: there are none
  std::uint32_t first = 0;       ///< record
  std::uint32_t count = 0;       ///< of records
  std::uint32_t highlights = 0;  ///< 1: some are highlights
};

/// The samples of the list that lie in a cell: the last of so many records.
struct ListedCell {
  std::uint32_t count = 0;
  std::uint32_t end = 0;
};

/// Sums of all groups of samples in planes: colours, then weights. A tile lies in one piece.
struct SplatSums {
  /// [group][tile][plane][row][column]: inclusive sums within the tile; before that, of tiles that are
  /// `direct`, second differences, of one pixel side by side: see direct_place().
  std::uint64_t* tiles = nullptr;
  /// [group][tile row][column][plane]: the last rows of the tiles, then the sums of those above.
  std::uint64_t* columns = nullptr;
  /// [group][row][tile column][plane]: the last columns of the tiles, then the sums of all tiles before and
  /// of those above these.
  std::uint64_t* rows = nullptr;
  std::uint8_t* direct = nullptr;   ///< [group][tile]: something is added one by one
  std::uint8_t* spread = nullptr;   ///< [group][tile]: the tile holds something
  SplatCell* cells = nullptr;       ///< [group][cell]
  SplatRecords records;             ///< [cell][of the cell], group by group
  std::uint8_t* focused = nullptr;  ///< [cell]: bits of the groups with samples that stay on their pixel
  ListedCell* listed = nullptr;     ///< [group][cell]
  std::uint32_t* placed = nullptr;  ///< number of records that these have
  SplatRecords listed_records;      ///< those of a cell one after the other
};

struct SplatArguments {
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t tile_columns = 0;
  std::int32_t tile_rows = 0;
  int channels = 3;
  int highlight_channels = 3;    ///< colours without alpha
  std::uint32_t merge_from = 0;  ///< radius
  bool highlights = true;        ///< there may be some
  std::uint32_t white = 0;
  const std::uint32_t* white_of_run = nullptr;  ///< instead of it, if it is not null
  bool stores_codes = false;                    ///< the output is of u8
  TransferView transfer;                        ///< of these codes
  bool single = true;                           ///< composites are made in float
  bool short_sums = false;                      ///< all sums are below 2^splat_short_bits
  bool all_planes = true;                       ///< fit shared memory together
  std::uint32_t last_group = 0;
  LensKernelView kernels;
  const NearStaircase* near = nullptr;
  const std::uint16_t* reaches = nullptr;  ///< by whole pixels of the radius: of all kernels up to there
  std::int32_t largest_reach = 0;
  Source source;
  Source colours;
  Source radii;
  Source groups;
  Source weights;
  const LensSample* listed = nullptr;
  const std::uint32_t* count = nullptr;
  std::uint32_t most_listed = 0;
  const Lamp* lamps = nullptr;
  const std::uint32_t* lamp_count = nullptr;
  std::uint32_t most_lamps = 0;
  Aperture aperture;
  SplatSums sums;
  Target output;
};

/// Sums below 2^51 are made of two words that need no carry between them, see splat_gather.cu.
inline constexpr int splat_short_bits = 51;

/// Bytes of shared memory of a block that sums so many planes together.
[[nodiscard]] std::size_t splat_shared_bytes(int planes);
/// Lets splat_gather() have as much shared memory as the current device has; returns a cudaError_t.
[[nodiscard]] int allow_splat(int channels);

/// Makes records of the samples that are spread, by cells.
void splat_survey(const SplatArguments& arguments, StreamHandle stream);
/// Samples that reach too far for tiles to look for them, and lamps, as second differences.
void splat_direct(const SplatArguments& arguments, StreamHandle stream);
/// The tiles' sums, and of their last rows and columns.
void splat_gather(const SplatArguments& arguments, StreamHandle stream);
/// Sums across tiles.
void splat_carries(const SplatArguments& arguments, StreamHandle stream);
/// Lays the groups behind each other and stores the colours.
void splat_composite(const SplatArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
