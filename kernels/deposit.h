#pragma once
// Launchers of deposit_visible.cu, deposit_listed.cu and deposit_composite.cu, in the manner of launch.h.

#include "core/maths/lens_kernel.h"
#include "kernels/launch.h"

namespace satin::kernels {

inline constexpr int deposit_tile = 32;  ///< pixels along either side: a lane a column

/// Visible samples whose corners meet in shared memory: two tiles beside each other.
inline constexpr int deposit_block_columns = 2 * deposit_tile;
inline constexpr int deposit_block_rows = deposit_tile;
/// Pixels around them that corners may lie in, at most; larger shapes go to the picture one by one.
inline constexpr int deposit_most_margin = 32;

/// Cells of a row of what is around a block of samples: a margin, and behind it one column more that ends the
/// boxes; an even number.
SATIN_HD constexpr int deposit_pitch(int margin) { return deposit_block_columns + 2 * margin + 2; }
/// Cells of a block of samples and what is around it, in whole groups of 64.
SATIN_HD constexpr int deposit_cells(int margin) {
  return (deposit_pitch(margin) * (deposit_block_rows + 2 * margin + 1) + 63) / 64 * 64;
}
/// Bytes of shared memory of a block.
SATIN_HD constexpr std::size_t deposit_shared_bytes(int margin) {
  return static_cast<std::size_t>(deposit_cells(margin)) * sizeof(std::uint64_t);
}

/// Sums of one group of samples in planes: colours, then weights. Tiles lie row by row. All but the carries
/// is 0 before the first group, and again after each one.
struct DepositSums {
  std::uint64_t* deltas = nullptr;  ///< planes * height * width
  std::uint64_t* columns =
      nullptr;                    ///< planes * tile_rows * width: of a tile's columns, then of all above it
  std::uint64_t* rows = nullptr;  ///< planes * height * tile_columns: of a tile's rows, then of all before it
  std::uint8_t* spread = nullptr;   ///< tiles with deltas
  std::uint8_t* focused = nullptr;  ///< tiles with samples that stay on their pixel
};

struct DepositArguments {
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t tile_columns = 0;
  std::int32_t tile_rows = 0;
  int channels = 3;
  int highlight_channels = 3;    ///< colours without alpha
  std::uint32_t merge_from = 0;  ///< radius
  std::uint32_t white = 0;
  const std::uint32_t* white_of_run = nullptr;  ///< instead of it, if it is not null
  bool single = true;                           ///< composites are made in float
  std::uint32_t group = 0;
  std::uint32_t last_group = 0;
  LensKernelView kernels;
  std::int32_t margin = 0;  ///< of a block of visible samples
  Source source;
  Source colours;
  Source radii;
  Source groups;
  Source weights;
  const LensSample* listed = nullptr;
  const std::uint32_t* count = nullptr;
  std::uint32_t most_listed = 0;
  DepositSums sums;
  void* state = nullptr;  ///< height * width * (channels + 1) reals; 0 before the first group
  Target output;
};

/// Lets deposit_visible_samples() have as much shared memory as the current device has; returns a
/// cudaError_t.
[[nodiscard]] int allow_deposit(int channels);
/// Adds the second differences of the group's samples.
void deposit_visible_samples(const DepositArguments& arguments, StreamHandle stream);
void deposit_listed_samples(const DepositArguments& arguments, StreamHandle stream);
/// Sums of tiles, and their scans: the carries.
void deposit_carries(const DepositArguments& arguments, StreamHandle stream);
/// Integrates and composites; deltas = 0. The last group's composite stores the colours; state = 0.
void deposit_composite(const DepositArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
