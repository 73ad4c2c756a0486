#pragma once
// Rows of cells from rows of pixels, and back (lobes/maths/lobe_cells.h).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pixels/cpu/rows.h"

namespace satin::cpu {

/// What one thread reads pixels into.
struct PixelRows {
  explicit PixelRows(std::size_t entries) : narrow(entries), wide(entries), sums(entries) {}

  std::vector<std::uint32_t> narrow;
  std::vector<std::uint64_t> wide;
  std::vector<std::uint64_t> sums;
};

/// Sums over each cell of one row of cells: working values times their rows' weights, channels interleaved.
/// `row_weights` are of the pixels' rows from `first_row` on, as many as a cell is high.
void sum_cells(const RowReader& reader, const ImageView& source, std::int64_t first_row,
               std::span<const std::uint32_t> row_weights, PixelRows& rows, std::uint64_t* cells);

/// Values of a row of pixels between those of a row of cells of 2^bits pixels, times 2^(bits + 1); the row
/// goes around, and begins half the circle away if it is continued behind a pole. Integers, or the bits of
/// doubles.
void expand_cells(std::span<const std::uint64_t> cells, int channels, int bits, bool behind_pole,
                  std::span<std::uint64_t> pixels);
void expand_cells(std::span<const std::uint64_t> cells, int channels, int bits, bool behind_pole,
                  std::span<double> pixels);

}  // namespace satin::cpu
