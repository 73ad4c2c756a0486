#include "kernels/table_single_pass.h"

#include <algorithm>
#include <iterator>

#include "kernels/single_pass_launch.cuh"

namespace satin::kernels {

using namespace single_pass;

namespace single_pass {

extern template void launch<Wide<std::uint8_t, 1, std::uint64_t>>(const TableArguments&,
                                                                  const SinglePassTrial&, StreamHandle);
extern template void launch<Wide<std::uint8_t, 3, std::uint64_t>>(const TableArguments&,
                                                                  const SinglePassTrial&, StreamHandle);
extern template void launch<Wide<std::uint8_t, 1, std::uint64_t, true>>(const TableArguments&,
                                                                        const SinglePassTrial&, StreamHandle);
extern template void launch<Wide<std::uint8_t, 3, std::uint64_t, true>>(const TableArguments&,
                                                                        const SinglePassTrial&, StreamHandle);
extern template void launch<Wide<std::uint16_t, 1, std::uint32_t>>(const TableArguments&,
                                                                   const SinglePassTrial&, StreamHandle);
extern template void launch<Wide<std::uint16_t, 3, std::uint32_t>>(const TableArguments&,
                                                                   const SinglePassTrial&, StreamHandle);
extern template void launch<Wide<std::uint16_t, 1, std::uint64_t>>(const TableArguments&,
                                                                   const SinglePassTrial&, StreamHandle);
extern template void launch<Wide<std::uint16_t, 3, std::uint64_t>>(const TableArguments&,
                                                                   const SinglePassTrial&, StreamHandle);

}  // namespace single_pass

namespace {

constexpr std::int64_t largest_row = 1LL << 30;                  // bytes of a row are counted in 32 bits
constexpr std::int64_t largest_height = 65535LL * tile_height;   // rows of tiles are rows of the grid
constexpr std::size_t largest_workspace = std::size_t{1} << 32;  // so are its words

/// Pictures that one tiling is for.
struct Kind {
  Type type;
  bool squared;
  Accumulator accumulator;
  TileSizes sizes;
  void (*launch)(const TableArguments&, const SinglePassTrial&, StreamHandle);
};

template <class Tiling>
constexpr Kind kind() {
  using Pixels = typename Tiling::Pixels;
  return {sizeof(typename Pixels::Element) == 1 ? Type::u8 : Type::u16, Pixels::squared,
          sizeof(typename Tiling::Sum) == 4 ? Accumulator::u32 : Accumulator::u64, Tiling::sizes,
          launch<Tiling>};
}

/// Of several that serve a picture, the first has the largest tiles and the last the smallest.
constexpr Kind kinds[] = {
    kind<Bytes<LargeTile>>(),
    kind<Bytes<SmallTile>>(),
    kind<Wide<std::uint8_t, 3, std::uint32_t>>(),
    kind<Wide<std::uint8_t, 4, std::uint32_t>>(),
    kind<Wide<std::uint8_t, 1, std::uint64_t>>(),
    kind<Wide<std::uint8_t, 3, std::uint64_t>>(),
    kind<Wide<std::uint8_t, 1, std::uint64_t, true>>(),
    kind<Wide<std::uint8_t, 3, std::uint64_t, true>>(),
    kind<Wide<std::uint16_t, 1, std::uint32_t>>(),
    kind<Wide<std::uint16_t, 3, std::uint32_t>>(),
    kind<Wide<std::uint16_t, 1, std::uint64_t>>(),
    kind<Wide<std::uint16_t, 3, std::uint64_t>>(),
};

bool serves(const Kind& kind, const PixelRead& read, bool squared, Accumulator accumulator) {
  return kind.type == read.type && kind.sizes.channels == read.channels && kind.squared == squared &&
         kind.accumulator == accumulator && !read.weighted && read.transfer == Transfer::identity;
}

bool fits(const TableTiles& tiles, const Kind& kind) {
  const int pixel = kind.sizes.channels * (kind.type == Type::u8 ? 1 : 2);
  return tiles.width <= largest_row / pixel && tiles.height <= largest_height &&
         Layout(tiles, kind.sizes, nullptr).bytes <= largest_workspace;
}

}  // namespace

std::optional<TableTiles> single_pass_tiles_of(std::int64_t width, std::int64_t height, const PixelRead& read,
                                               bool squared, Accumulator accumulator, bool smallest) {
  std::optional<TableTiles> found;
  for (int i = 0; i < static_cast<int>(std::size(kinds)); ++i) {
    if (!serves(kinds[i], read, squared, accumulator) || (found && !smallest)) continue;
    found = tiles_of(width, height, kinds[i].sizes);
    found->kind = i;
    found->accumulator = accumulator;
    if (!fits(*found, kinds[i])) return std::nullopt;
  }
  return found;
}

std::optional<TableTiles> single_pass_tiles(std::int64_t width, std::int64_t height, const PixelRead& read,
                                            bool squared, Accumulator accumulator, int multiprocessors) {
  const auto large = single_pass_tiles_of(width, height, read, squared, accumulator, false);
  if (large && large->tile_columns * large->tile_rows * tuning::single_pass_multiprocessors_per_large_tile >=
                   multiprocessors)
    return large;
  return single_pass_tiles_of(width, height, read, squared, accumulator, true);
}

std::size_t single_pass_workspace_bytes(const TableTiles& tiles) {
  return Layout(tiles, kinds[tiles.kind].sizes, nullptr).bytes;
}

void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream,
                             const SinglePassTrial& trial) {
  kinds[arguments.tiles.kind].launch(arguments, trial, stream);
}

}  // namespace satin::kernels
