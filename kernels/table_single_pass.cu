#include "kernels/table_single_pass.h"

#include "kernels/single_pass_launch.cuh"

namespace satin::kernels {

using namespace single_pass;

namespace {

constexpr std::int64_t largest_side = 1LL << 30;                 // pixels are counted in 32 bits
constexpr std::size_t largest_workspace = std::size_t{1} << 32;  // so are its words

bool are_large(const TableTiles& tiles) { return tiles.tile_width == LargeTile::width; }

}  // namespace

bool single_pass_applies(std::int64_t width, std::int64_t height, const PixelRead& read, bool squared,
                         Accumulator accumulator) {
  if (read.type != Type::u8 || read.channels != 1 || squared || read.weighted ||
      read.transfer != Transfer::identity || accumulator != Accumulator::u32)
    return false;
  if (width > largest_side || height > largest_side) return false;
  return Layout(tiles_of(width, height, SmallTile::width), nullptr).bytes <= largest_workspace;
}

TableTiles single_pass_tiles(std::int64_t width, std::int64_t height, int multiprocessors) {
  const TableTiles large = tiles_of(width, height, LargeTile::width);
  const std::int64_t enough =
      std::int64_t{multiprocessors} * tuning::single_pass_large_tiles_per_multiprocessor;
  if (large.tile_columns * large.tile_rows >= enough && width > SmallTile::width) return large;
  return tiles_of(width, height, SmallTile::width);
}

std::size_t single_pass_workspace_bytes(const TableTiles& tiles) { return Layout(tiles, nullptr).bytes; }

void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream) {
  constexpr Start how = tuning::single_pass_prefetch ? Start::ticket_and_prefetch : Start::ticket;
  if (are_large(arguments.tiles)) return launch<LargeTile, how>(arguments, stream);
  launch<SmallTile, how>(arguments, stream);
}

}  // namespace satin::kernels
