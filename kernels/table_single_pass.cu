#include "kernels/table_single_pass.h"

#include "kernels/single_pass_launch.cuh"

namespace satin::kernels {

using namespace single_pass;

namespace {

constexpr std::int64_t largest_width = 1LL << 30;                // pixels are counted in 32 bits
constexpr std::int64_t largest_height = 65535LL * tile_height;   // rows of tiles are rows of the grid
constexpr std::size_t largest_workspace = std::size_t{1} << 32;  // so are its words

bool are_large(const TableTiles& tiles) { return tiles.tile_width == LargeTile::width; }

}  // namespace

bool single_pass_applies(std::int64_t width, std::int64_t height, const PixelRead& read, bool squared,
                         Accumulator accumulator) {
  if (read.type != Type::u8 || read.channels != 1 || squared || read.weighted ||
      read.transfer != Transfer::identity || accumulator != Accumulator::u32)
    return false;
  if (width > largest_width || height > largest_height) return false;
  return Layout(tiles_of(width, height, SmallTile::width), nullptr).bytes <= largest_workspace;
}

TableTiles tiles_of_single_pass(std::int64_t width, std::int64_t height, bool large) {
  return tiles_of(width, height, large ? LargeTile::width : SmallTile::width);
}

TableTiles single_pass_tiles(std::int64_t width, std::int64_t height, int multiprocessors) {
  const TableTiles large = tiles_of_single_pass(width, height, true);
  const bool enough = large.tile_columns * large.tile_rows >=
                      multiprocessors / tuning::single_pass_multiprocessors_per_large_tile;
  return tiles_of_single_pass(width, height, enough && width > SmallTile::width);
}

std::size_t single_pass_workspace_bytes(const TableTiles& tiles) { return Layout(tiles, nullptr).bytes; }

void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream,
                             const SinglePassTrial& trial) {
  if (are_large(arguments.tiles)) return launch<LargeTile>(arguments, trial, stream);
  launch<SmallTile>(arguments, trial, stream);
}

}  // namespace satin::kernels
