#pragma once
// Means of a map of all directions over lobes, one kind of lobe for each level.

#include <cstdint>
#include <vector>

#include "core/maths/fixed_point.h"
#include "core/operation.h"
#include "core/workspace.h"
#include "pixels/pixels.h"

namespace satin {

// Means of a map of all directions (latitude and longitude) over a lobe: the lobe of a row of pixels is a
// stack of bands, each some whole rows high and as many columns wide on both sides of the pixel. Rows,
// columns and pixels are those of the map of cells where lobes are so wide that cells are larger than pixels.

/// Rows [first_row, last_row] and the columns up to `reach` to either side, around the circle, with weight
/// `inner`; those up to reach + 1 with weight `outer`.
struct LobeBand {
  static constexpr std::int32_t whole_circle = -1;  ///< a reach: every column once; `outer` is 0 then

  std::int32_t first_row = 0;
  std::int32_t last_row = 0;
  std::int32_t reach = 0;  ///< reach + 1 has room on the circle if `outer` is not 0
  std::uint32_t inner = 0;
  std::uint32_t outer = 0;
};

/// The bands of one row of results.
struct LobeRow {
  std::uint32_t first_band = 0;
  std::uint32_t bands = 0;   ///< 0: the result is the pixel itself
  std::uint64_t weight = 0;  ///< of all map pixels of all bands, with the weights of their rows: the divisor
};

/// Working values times these weights are summed: they stand for the solid angle of a row's pixels.
inline constexpr std::uint32_t largest_row_weight = 4096;

/// One kind of lobe over the whole map.
struct LobeLevel {
  std::int64_t cell = 1;      ///< side, in pixels: a power of two up to largest_cell that divides both sizes
  std::size_t first_row = 0;  ///< of the job's rows; height / cell of them
};

struct LobeMeanOperation;

struct LobeMeanJob {
  using Operation = LobeMeanOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  PixelRead read;
  PixelWrite write;                        ///< the stored type that is read
  std::vector<std::uint32_t> row_weights;  ///< 1 to largest_row_weight, one a row
  WorkspaceVector<LobeBand> bands;         ///< in cells
  WorkspaceVector<LobeRow> rows;           ///< of all levels, one a row of cells
  std::vector<LobeLevel> levels;
};

/// The result of pixel (x, y) of level l lies in row l * height + y of the output: store_*_mean() of
/// means/maths/mean.h, with the row's weight as count, of the sums of the bands in their order, of each inner
/// before outer: band weight times the sum of working values times row weights around column x. Where a row
/// has no band: the source's bytes.
/// Of cells larger than a pixel the sums are over whole cells, every row has a band, and the result is
/// interpolated between the cells' means (lobes/maths/lobe_cells.h).
struct LobeMeanOperation : Operation {
  /// `measured` of floats is in the backend's memory; output does not alias source.
  virtual void run(const ImageView& source, const Measured* measured, const MutableImageView& output,
                   Stream stream) = 0;
};

/// Bytes of a job's bands and rows.
[[nodiscard]] std::size_t bytes_of_lobes(const LobeMeanJob& job) noexcept;

/// Stored pixels of this shape read for sums over a whole map. Throws Error(usage) where values times row
/// weights, summed over all pixels, might reach 2^63.
[[nodiscard]] PixelRead read_for_lobes(const Shape& shape, Transfer transfer);

/// Throws Error(usage) unless the weights of every row, times alpha if pixels are weighted by it, stay below
/// the 2^61 that dividing by them allows.
void check_lobe_weights(const LobeMeanJob& job);

/// What the lobes of a level are taken over.
struct LobeMap {
  Shape cells;                ///< of the table: u64
  bool averages = false;      ///< some row has a band; otherwise the level is a copy
  bool builds_table = false;  ///< no level before it has the same table in its place
};

/// The maps of all levels, in their order; their tables are built one over the other.
[[nodiscard]] std::vector<LobeMap> lobe_maps(const LobeMeanJob& job);
/// Bytes of the largest table, 0 if none is built.
[[nodiscard]] std::size_t largest_table(const std::vector<LobeMap>& maps);

/// Reads stored pixels as working values, for a table of them.
[[nodiscard]] PixelRead weighed_pixels(const PixelRead& stored);

}  // namespace satin
