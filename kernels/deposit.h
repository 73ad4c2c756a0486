#pragma once
// Launchers of deposit_direct.cu, deposit_gather.cu and deposit_composite.cu, in the manner of launch.h.

#include "core/maths/lens_kernel.h"
#include "core/operations/deposit.h"
#include "kernels/launch.h"

namespace satin::kernels {

/// A block sums one tile of one group.
inline constexpr int deposit_tile_width = 64;
inline constexpr int deposit_tile_height = 32;
inline constexpr int deposit_tile_pixels = deposit_tile_width * deposit_tile_height;
/// What lies in a cell is known when tiles look for samples.
inline constexpr int deposit_cell = 32;
/// The farthest that tiles look, two cells; samples whose shapes reach farther are added to them one by one.
inline constexpr int deposit_reach = 62;

/// What a deposit knows of the visible samples of 2 x 2 pixels.
struct alignas(8) DepositQuad {
  std::uint32_t merged = 0;  ///< radius of the block that they make; 0: they make none
  std::int16_t reach = 0;    ///< at most this far
  std::uint8_t groups = 0;   ///< bits of those with samples that are out of focus
};

/// Sums of all groups of samples in planes: colours, then weights. A tile lies in one piece.
struct DepositSums {
  /// [group][tile][plane][row][column]: inclusive sums within the tile; before that, of tiles that are
  /// `direct`, second differences, of one pixel side by side: see direct_place().
  std::uint64_t* tiles = nullptr;
  /// [group][plane][tile row][column]: the last rows of the tiles, then the sums of those above.
  std::uint64_t* columns = nullptr;
  /// [group][plane][row][tile column]: the last columns of the tiles, then the sums of all tiles before and
  /// of those above these.
  std::uint64_t* rows = nullptr;
  std::uint8_t* direct = nullptr;   ///< [group][tile]: something is added one by one
  std::uint8_t* spread = nullptr;   ///< [group][tile]: the tile holds something
  DepositQuad* quads = nullptr;     ///< [cell][of the cell]
  std::int16_t* reaches = nullptr;  ///< [group][cell]: of the samples in the cell; -1: it has none
  std::uint8_t* focused = nullptr;  ///< [cell]: bits of the groups with samples that stay on their pixel
};

struct DepositArguments {
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
  bool single = true;                           ///< composites are made in float
  bool short_sums = false;                      ///< all sums are below 2^deposit_short_bits
  bool all_planes = true;                       ///< fit shared memory together
  std::uint32_t last_group = 0;
  LensKernelView kernels;
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
  DepositSums sums;
  Target output;
};

/// Sums below 2^51 are made of two words that need no carry between them, see deposit_gather.cu.
inline constexpr int deposit_short_bits = 51;

/// Bytes of shared memory of a block that sums so many planes together.
[[nodiscard]] std::size_t deposit_shared_bytes(int planes);
/// Lets deposit_gather() have as much shared memory as the current device has; returns a cudaError_t.
[[nodiscard]] int allow_deposit(int channels);

/// What lies in the cells and their quads.
void deposit_survey(const DepositArguments& arguments, StreamHandle stream);
/// Samples of the list, and visible ones that reach too far, as second differences.
void deposit_direct(const DepositArguments& arguments, StreamHandle stream);
/// The tiles' sums, and of their last rows and columns.
void deposit_gather(const DepositArguments& arguments, StreamHandle stream);
/// Sums across tiles.
void deposit_carries(const DepositArguments& arguments, StreamHandle stream);
/// Lays the groups behind each other and stores the colours.
void deposit_composite(const DepositArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
