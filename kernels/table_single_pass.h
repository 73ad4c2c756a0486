#pragma once
// The host side of the single-pass table, for kernels/table.cu, which chooses between the two methods.

#include <cstddef>
#include <cstdint>

#include "kernels/launch.h"

namespace satin::kernels {

/// One channel of u8, as stored, summed modulo 2^32.
[[nodiscard]] bool single_pass_applies(std::int64_t width, std::int64_t height, const PixelRead& read,
                                       bool squared, Accumulator accumulator);
[[nodiscard]] TableTiles single_pass_tiles(std::int64_t width, std::int64_t height, int multiprocessors);
[[nodiscard]] std::size_t single_pass_workspace_bytes(const TableTiles& tiles);
void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream);

}  // namespace satin::kernels
