#pragma once
// Launches of lobe means, in the manner of kernels/device/launch.h.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "lobes/lobe_mean.h"
#include "means/maths/mean.h"
#include "pixels/pixels.h"

namespace satin::kernels {

/// One level.
struct LobeMeanArguments {
  std::int64_t width = 0;  ///< of the map, in pixels
  std::int64_t height = 0;
  std::int64_t cells_wide = 0;  ///< of the map that lobes are taken over: its own where cells are pixels
  std::int64_t cells_high = 0;
  int cell_bits = 0;
  PixelRead read;
  MeanRule rule;
  const Measured* measured = nullptr;  ///< floats
  const std::uint32_t* row_weights = nullptr;
  const LobeBand* bands = nullptr;
  const LobeRow* rows = nullptr;  ///< cells_high
  Source source;
  std::uint64_t* cells = nullptr;        ///< sums to be tabled, then means; dense rows
  const std::uint64_t* table = nullptr;  ///< of the sums; dense rows
  Target output;
};

/// Sums over cells of working values times the weights of their rows.
void sum_cells(const LobeMeanArguments& arguments, StreamHandle stream);
/// Results where cells are pixels.
void lobe_mean(const LobeMeanArguments& arguments, StreamHandle stream);
/// Means of larger cells, and results between them.
void mean_cells(const LobeMeanArguments& arguments, StreamHandle stream);
void enlarge_cells(const LobeMeanArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
