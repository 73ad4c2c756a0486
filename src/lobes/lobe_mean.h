#pragma once
// Means of a map of all directions (latitude and longitude) over lobes, one kind of lobe per level: glossy
// reflections of an environment.
//
// The lobe of a row of pixels is a stack of boxes, each some whole rows high and as many columns wide on both
// sides of the pixel. Where lobes are wide, rows, columns and pixels of boxes are those of a map of cells,
// which are larger than pixels.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/backend.h"
#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "core/workspace.h"
#include "pixels/pixels.h"
#include "tables/table.h"

namespace satin {

/// Rows [first_row, last_row]. Columns up to `reach` to either side, around the circle, have weight `inner`,
/// and those up to reach + 1 have weight `outer` in addition.
struct LobeBox {
  static constexpr std::int32_t whole_circle = -1;  ///< reach of a box with every column once; `outer` is 0

  std::int32_t first_row = 0;
  std::int32_t last_row = 0;
  std::int32_t reach = 0;  ///< reach + 1 fits the circle if `outer` is not 0
  std::uint32_t inner = 0;
  std::uint32_t outer = 0;
};

struct LobeRow {
  std::uint32_t first_box = 0;
  std::uint32_t boxes = 0;   ///< 0: the result is the pixel itself
  std::uint64_t weight = 0;  ///< the divisor: sum over all map pixels of all boxes, with their rows' weights
};

/// Largest weight of the pixels of a row, which is proportional to their solid angle. Working values times
/// these weights are summed.
inline constexpr std::uint32_t largest_row_weight = 4096;

struct LobeLevel {
  std::int64_t cell = 1;      ///< side, in pixels: a power of two up to largest_cell that divides both sizes
  std::size_t first_row = 0;  ///< index in the job's rows; the level has height / cell rows
};

struct LobeMeanOperation;

struct LobeMeanJob {
  using Operation = LobeMeanOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;
  PixelWrite write;                        ///< the stored type that is read
  std::vector<std::uint32_t> row_weights;  ///< 1 to largest_row_weight, one per row
  WorkspaceVector<LobeBox> boxes;          ///< in cells
  WorkspaceVector<LobeRow> rows;           ///< rows of all levels, one per row of cells
  std::vector<LobeLevel> levels;
};

/// The result of pixel (x, y) of level l is in row l * height + y of the output. It is store_*_mean() of
/// means/maths/mean.h, with the row's weight as count, of the sum over boxes in their order, inner before
/// outer, of box weight times the sum of working values times row weights around column x. Pixels of rows
/// without boxes keep their bytes.
///
/// If cells are larger than a pixel, sums are over whole cells, every row has a box, and results are
/// interpolated between the means of cells (lobes/maths/lobe_cells.h).
struct LobeMeanOperation : Operation {
  /// For floats `measured` is in the backend's memory. The output does not alias the source.
  virtual void run(const ImageView& source, const Measured* measured, const MutableImageView& output,
                   Stream stream) = 0;
};

[[nodiscard]] std::size_t bytes_of_lobes(const LobeMeanJob& job) noexcept;

/// Returns how to read stored pixels for sums over a whole map. Throws Error(usage) if values times row
/// weights, summed over all pixels, might reach 2^63.
[[nodiscard]] PixelRead read_for_lobes(const Shape& shape, Transfer transfer);

/// Throws Error(usage) unless the weights of every row, times alpha if pixels are weighted by it, stay below
/// 2^61, the bound of divisors.
void check_lobe_weights(const LobeMeanJob& job);

/// The map of cells of a level.
struct LobeMap {
  LobeLevel level;
  Shape cells;                            ///< shape of the table: u64
  std::unique_ptr<TableOperation> build;  ///< null if the level before has the same table
};

/// The maps of all levels in their order, and the memory that holds one after the other.
struct LobeMaps {
  LobeMaps(Backend& backend, const LobeMeanJob& job);

  [[nodiscard]] std::size_t bytes() const noexcept;

  std::vector<LobeMap> maps;
  Buffer weighed;  ///< sums of cells, working values times row weights; then their means
  Buffer table;
};

/// Returns weights proportional to the solid angle of a pixel of each row, largest at the equator.
[[nodiscard]] std::vector<std::uint32_t> row_weights(std::int64_t height);

/// Appends a level that is a copy of the map. The job must have its sizes and row weights.
void add_copy(LobeMeanJob& job);

/// Appends a level with the lobe of a GGX surface of roughness alpha = roughness^2, above 0, seen along its
/// normal (Walter et al. 2007; Karis 2013), as the boxes of caps around every row. The lower half of the map
/// mirrors the upper one.
///
/// Where the lobe is wide, it is averaged over cells of up to 16 x 16 pixels: the largest for which the
/// radius of the first of twelve caps is four rows of cells and the map has 64 columns of cells. Relative RMS
/// difference from the convolution (512 x 256, the map of Gloss.IsNearTheConvolution) in percent:
///
///     roughness                0.35  0.5   0.7   1
///     12 caps without cells    1.36  1.48  1.45  1.02
///     16 caps over cells       1.38  1.25  1.29  0.94
///     12 caps over cells       1.44  1.59  1.57  1.19
///
/// With cells of two and a half rows the difference is 2.0 at 0.35. Smaller caps, which make up for the
/// variance that cells and interpolation add, changed less than 0.1.
void add_ggx_level(LobeMeanJob& job, double roughness);

}  // namespace satin
