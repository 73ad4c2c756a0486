#include "kernels/tables/launch.h"

#include <iterator>

#include "kernels/tables/table_single_pass.cuh"
#include "pixels/pixels.h"

namespace satin::kernels {

using namespace single_pass;

namespace single_pass {

extern template void launch<Pairs<std::uint8_t, 1>>(const TableArguments&, const SinglePassTrial&,
                                                    StreamHandle);
extern template void launch<Pairs<std::uint8_t, 3>>(const TableArguments&, const SinglePassTrial&,
                                                    StreamHandle);
extern template void launch<Pairs<std::uint16_t, 1>>(const TableArguments&, const SinglePassTrial&,
                                                     StreamHandle);
extern template void launch<Pairs<std::uint16_t, 3>>(const TableArguments&, const SinglePassTrial&,
                                                     StreamHandle);

}  // namespace single_pass

namespace {

/// Pictures that one tiling is for.
struct Kind {
  Type type;
  Accumulator accumulator;
  TileSizes sizes;
  int fewest;  ///< tiles a multiprocessor, below which the next one is better
  void (*launch)(const TableArguments&, const SinglePassTrial&, StreamHandle);
};

template <class Tiling>
constexpr Kind kind(int fewest = 0) {
  using Pixels = typename Tiling::Pixels;
  return {sizeof(typename Pixels::Element) == 1 ? Type::u8 : Type::u16,
          sizeof(typename Tiling::Sum) == 4 ? Accumulator::u32 : Accumulator::u64, Tiling::sizes, fewest,
          launch<Tiling>};
}

/// The first kind that serves a picture is taken, so larger tiles come first.
constexpr Kind kinds[] = {
    kind<Bytes<LargeTile>>(tuning::single_pass_fewest_large_tiles),
    kind<Bytes<MediumTile>>(tuning::single_pass_fewest_medium_tiles),
    kind<Bytes<SmallTile>>(),
    kind<Tiling<Pixels<std::uint8_t, 3, std::uint32_t>, RgbTile>>(),
    kind<Tiling<Pixels<std::uint8_t, 4, std::uint32_t>, LargeRgbaTile>>(
        tuning::single_pass_fewest_rgba_tiles),
    kind<Tiling<Pixels<std::uint8_t, 4, std::uint32_t>, SmallRgbaTile>>(),
    kind<Pairs<std::uint8_t, 1>>(),
    kind<Pairs<std::uint8_t, 3>>(),
    kind<Pairs<std::uint16_t, 1>>(),
    kind<Pairs<std::uint16_t, 3>>(),
};

bool serves(const Kind& kind, const TableJob& job) {
  const PixelRead& read = job.read;
  return kind.type == read.type && kind.sizes.channels == read.channels && !job.squared &&
         kind.accumulator == job.accumulator && !read.weighted && read.transfer == Transfer::identity;
}

}  // namespace

std::vector<TableTiles> single_pass_tiles(const TableJob& job) {
  std::vector<TableTiles> found;
  for (int i = 0; i < static_cast<int>(std::size(kinds)); ++i) {
    if (!serves(kinds[i], job)) continue;
    TableTiles tiles = tiles_of(job.width, job.height, kinds[i].sizes);
    tiles.kind = i;
    tiles.accumulator = job.accumulator;
    const int pixel_bytes = tiles.channels * (kinds[i].type == Type::u8 ? 1 : 2);
    if (fits(tiles, kinds[i].sizes, pixel_bytes)) found.push_back(tiles);
  }
  return found;
}

std::optional<TableTiles> best_single_pass_tiles(const TableJob& job, int multiprocessors) {
  for (const TableTiles& tiles : single_pass_tiles(job))
    if (tiles.tile_columns * tiles.tile_rows >= std::int64_t{kinds[tiles.kind].fewest} * multiprocessors)
      return tiles;
  return std::nullopt;
}

std::size_t single_pass_workspace_bytes(const TableTiles& tiles) {
  return Layout(tiles, kinds[tiles.kind].sizes, nullptr).bytes;
}

void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream,
                             const SinglePassTrial& trial) {
  kinds[arguments.tiles.kind].launch(arguments, trial, stream);
}

}  // namespace satin::kernels
