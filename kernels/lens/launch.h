#pragma once
// Kernels of the lens for its CUDA operations, declared as kernels/device/launch.h describes: samples from
// signed radii, and the splat. Pixelwise operations are declared in kernels/pixels/launch.h.

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "lens/layers.h"
#include "lens/maths/disocclusion_fill.h"
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

void make_visible_samples(const LensLayersArguments& arguments, const ImageView& picture,
                          const Measured* measured, const LensScene& scene, StreamHandle stream);

/// Allows the shared memory of fill_disocclusions(). Returns a cudaError_t.
[[nodiscard]] int prepare_fill_disocclusions(int channels);
[[nodiscard]] std::size_t fill_workspace_bytes(const LensLayersJob& job);

void fill_disocclusions(const LensLayersArguments& arguments, const LensScene& scene, StreamHandle stream);

[[nodiscard]] std::size_t nonlocal_workspace_bytes(const LensLayersJob& job);
void fill_nonlocally(const LensLayersArguments& arguments, const LensScene& scene, StreamHandle stream);

void show_lens(const LensLayersJob& job, const LensScene& scene, const LensShow& shown, StreamHandle stream);

inline unsigned blocks_for(std::int64_t count, int block) {
  return static_cast<unsigned>((count + block - 1) / block);
}

/// Tile of one group that one block sums.
inline constexpr int splat_tile_width = 64;
inline constexpr int splat_tile_height = 32;
inline constexpr int splat_tile_pixels = splat_tile_width * splat_tile_height;
/// Side of the cells by which samples are sorted.
inline constexpr int splat_cell = 32;
/// Largest reach that tiles gather, two cells; farther ones are added one by one (splat_direct.cu).
inline constexpr int splat_reach = 62;

struct alignas(16) RecordColours {
  std::uint32_t colour[4];
};
struct alignas(16) RecordShape {
  std::uint32_t share[2];      ///< weight per pixel of each staircase; 0 if there is none
  std::uint16_t staircase[2];  ///< index in the table of staircases
  std::uint32_t place;         ///< RecordPlace
};
/// A sample and its staircases.
struct SplatRecord : RecordColours, RecordShape {};

/// Two arrays, so that the lanes of a warp access neighbouring entries of each.
struct SplatRecords {
  RecordColours* colours = nullptr;
  RecordShape* shapes = nullptr;
};

/// A staircase in one load. If it reaches farther than splat_reach, `boxes` is 0.
struct alignas(16) NearStaircase {
  static constexpr int most_boxes = Staircase::most_boxes;
  std::uint8_t wide[most_boxes] = {};
  std::uint8_t high[most_boxes] = {};
  std::uint8_t boxes = 0;
  std::uint8_t reach = 0;
  OutlineBoxes outline = {};
};

/// The visible samples of one group in a cell, out of focus.
struct alignas(16) SplatCell {
  std::int32_t reach = -1;  ///< largest reach, including listed samples; -1 if there are none
  std::uint32_t first = 0;  ///< first record
  std::uint32_t count = 0;  ///< number of records
};

/// Subcells of 16 x 8 pixels in a cell: those of its left half from top to bottom, then those of its right
/// half.
inline constexpr int splat_subcells = 8;

/// Samples of one group in a subcell: `count` records that end before `end`.
struct Subcell {
  std::uint32_t count = 0;
  std::uint32_t end = 0;
};

/// Sums of all groups in planes: the colours, then the weight.
struct SplatSums {
  /// [group][tile][plane][row][column]: inclusive sums within the tile. Before that, tiles that are `direct`
  /// hold second differences, see direct_place().
  std::uint64_t* tiles = nullptr;
  /// [group][tile row][column][plane]: last rows of the tiles, then the sums of those above.
  std::uint64_t* columns = nullptr;
  /// [group][row][tile column][plane]: last columns of the tiles, then the sums of all tiles to the left
  /// and of those above them.
  std::uint64_t* rows = nullptr;
  std::uint8_t* direct = nullptr;         ///< [group][tile]: 1 if something is added one by one
  std::uint8_t* spread = nullptr;         ///< [group][tile]: 1 if the tile has sums
  SplatCell* cells = nullptr;             ///< [group][cell]
  Subcell* visible = nullptr;             ///< [group][cell][subcell]
  SplatRecords records;                   ///< [cell][record], group by group, subcell by subcell
  std::uint8_t* focused = nullptr;        ///< [cell]: a bit per group with samples in focus
  Subcell* listed = nullptr;              ///< [group][cell][subcell]
  std::uint32_t* placed = nullptr;        ///< number of listed records
  SplatRecords listed_records;            ///< records of a cell side by side, subcell by subcell
  std::uint32_t* order_counts = nullptr;  ///< [bin]: tiles by the number of records that may reach them
  std::uint32_t* order = nullptr;         ///< [bin][group and tile]: group * tiles + tile
};

/// Bins of tiles by their work, the most first.
inline constexpr int order_bins = 32;

struct SplatArguments {
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t tile_columns = 0;
  std::int32_t tile_rows = 0;
  int channels = 3;
  bool stores_codes = false;  ///< whether the output is u8
  TransferView transfer;      ///< tables of these codes
  bool single = true;         ///< whether composites are float
  bool short_sums = false;    ///< whether all sums are below 2^splat_short_bits
  bool all_planes = true;     ///< whether shared memory holds all planes of a tile
  std::uint32_t last_group = 0;
  LensKernelView kernels;
  const NearStaircase* near = nullptr;
  const std::uint16_t* reaches = nullptr;  ///< [radius in pixels]: largest reach up to there
  std::int32_t largest_reach = 0;
  Source source;
  Source colours;
  Source radii;
  Source groups;
  Source weights;
  Source exposed;
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

/// Shared memory in bytes of a block that sums this many planes.
[[nodiscard]] std::size_t splat_shared_bytes(int planes);
/// Allows splat_gather() all shared memory of the current device. Returns a cudaError_t.
[[nodiscard]] int allow_splat(int channels);

/// Sorts samples by cells and makes their records.
void splat_survey(const SplatArguments& arguments, StreamHandle stream);
/// Adds samples that reach too far for tiles, and lamps, as second differences.
void splat_direct(const SplatArguments& arguments, StreamHandle stream);
/// Sums each tile, and stores its last row and column.
void splat_gather(const SplatArguments& arguments, StreamHandle stream);
/// Sums across tiles, composites the groups and stores the colours.
void splat_composite(const SplatArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
