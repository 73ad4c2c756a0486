#pragma once
// Launches of lobe means, in the manner of kernels/device/launch.h.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "lobes/lobe_mean.h"
#include "means/maths/mean.h"
#include "pixels/pixels.h"

namespace satin::kernels {

struct LobeMeanArguments {
  std::int64_t width = 0;       ///< columns of the map, in pixels
  std::int64_t height = 0;      ///< rows of the map, in pixels
  std::int64_t cells_wide = 0;  ///< columns of cells
  std::int64_t cells_high = 0;  ///< rows of cells
  int cell_bits = 0;
  PixelRead read;
  MeanRule rule;
  const Measured* measured = nullptr;  ///< for floats
  const std::uint32_t* row_weights = nullptr;
  const LobeBox* boxes = nullptr;
  const LobeRow* rows = nullptr;  ///< cells_high rows
  Source source;
  std::uint64_t* cells = nullptr;        ///< sums over cells, then means; dense rows
  const std::uint64_t* table = nullptr;  ///< table of the sums; dense rows
  Target output;
};

/// Sums working values times row weights over cells.
void sum_cells(const LobeMeanArguments& arguments, StreamHandle stream);
/// Writes the results where cells are pixels.
void lobe_mean(const LobeMeanArguments& arguments, StreamHandle stream);
/// Finds the means of larger cells, then interpolates the results between them.
void mean_cells(const LobeMeanArguments& arguments, StreamHandle stream);
void enlarge_cells(const LobeMeanArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
