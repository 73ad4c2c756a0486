#pragma once
// The host side of the single-pass table, for kernels/tables/table.cu, which chooses between the two methods,
// and for tests.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "kernels/tables/launch.h"
#include "pixels/pixels.h"

namespace satin::kernels {

/// Tiles for a single pass over the picture, the largest first; none where there is no such kernel, or the
/// picture is too large.
[[nodiscard]] std::vector<TableTiles> single_pass_tiles(std::int64_t width, std::int64_t height,
                                                        const PixelRead& read, bool squared,
                                                        Accumulator accumulator);
[[nodiscard]] std::optional<TableTiles> best_single_pass_tiles(std::int64_t width, std::int64_t height,
                                                               const PixelRead& read, bool squared,
                                                               Accumulator accumulator, int multiprocessors);
[[nodiscard]] std::size_t single_pass_workspace_bytes(const TableTiles& tiles);

/// How blocks start and how long they wait for each other: for tests, which run what hardware hardly does.
struct SinglePassTrial {
  int looks = tuning::single_pass_looks;  ///< for what other blocks say; with 0 every block works alone
  bool reversed = false;                  ///< the first blocks do the last tiles
};

void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream,
                             const SinglePassTrial& trial = {});

}  // namespace satin::kernels
