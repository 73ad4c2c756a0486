#pragma once
// The host side of the single-pass table, for kernels/table.cu, which chooses between the two methods, and
// for tests.

#include <cstddef>
#include <cstdint>

#include "kernels/launch.h"
#include "kernels/tuning.h"

namespace satin::kernels {

/// One channel of u8, as stored, summed modulo 2^32.
[[nodiscard]] bool single_pass_applies(std::int64_t width, std::int64_t height, const PixelRead& read,
                                       bool squared, Accumulator accumulator);
[[nodiscard]] TableTiles single_pass_tiles(std::int64_t width, std::int64_t height, int multiprocessors);
/// `large`: 256 columns, otherwise 128.
[[nodiscard]] TableTiles tiles_of_single_pass(std::int64_t width, std::int64_t height, bool large);
[[nodiscard]] std::size_t single_pass_workspace_bytes(const TableTiles& tiles);

/// How blocks start and how long they wait for each other: for tests, which run what hardware hardly does.
struct SinglePassTrial {
  int looks = tuning::single_pass_looks;  ///< for what other blocks say; with 0 every block works alone
  bool reversed = false;                  ///< the first blocks do the last tiles
};

void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream,
                             const SinglePassTrial& trial = {});

}  // namespace satin::kernels
