// The single-pass summed-area table: which tiling serves which picture. The kernel is in
// table_single_pass.cuh.

#include <iterator>

#include "kernels/tables/launch.h"
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

/// A tiling, and the pictures that it serves.
struct Variant {
  Type type;
  Accumulator accumulator;
  TileSizes sizes;
  int fewest;  ///< tiles per multiprocessor below which the next variant is faster
  void (*launch)(const TableArguments&, const SinglePassTrial&, StreamHandle);
};

template <class Tiling>
constexpr Variant variant(int fewest = 0) {
  using Pixels = typename Tiling::Pixels;
  return {sizeof(typename Pixels::Element) == 1 ? Type::u8 : Type::u16,
          sizeof(typename Tiling::Sum) == 4 ? Accumulator::u32 : Accumulator::u64, Tiling::sizes, fewest,
          launch<Tiling>};
}

/// The first variant that serves a picture and has enough tiles is used, so larger tiles come first.
constexpr Variant variants[] = {
    variant<Bytes<LargeTile>>(tuning::single_pass_fewest_large_tiles),
    variant<Bytes<MediumTile>>(tuning::single_pass_fewest_medium_tiles),
    variant<Bytes<SmallTile>>(),
    variant<Tiling<Pixels<std::uint8_t, 3, std::uint32_t>, RgbTile>>(),
    variant<Tiling<Pixels<std::uint8_t, 4, std::uint32_t>, LargeRgbaTile>>(
        tuning::single_pass_fewest_rgba_tiles),
    variant<Tiling<Pixels<std::uint8_t, 4, std::uint32_t>, SmallRgbaTile>>(),
    variant<Pairs<std::uint8_t, 1>>(),
    variant<Pairs<std::uint8_t, 3>>(),
    variant<Pairs<std::uint16_t, 1>>(),
    variant<Pairs<std::uint16_t, 3>>(),
};

bool serves(const Variant& variant, const TableJob& job) {
  const PixelRead& read = job.read;
  return variant.type == read.type && variant.sizes.channels == read.channels && !job.squared &&
         variant.accumulator == job.accumulator && !read.weighted && read.transfer == Transfer::identity;
}

}  // namespace

std::vector<TableTiles> single_pass_tiles(const TableJob& job) {
  std::vector<TableTiles> found;
  for (int i = 0; i < static_cast<int>(std::size(variants)); ++i) {
    if (!serves(variants[i], job)) continue;
    TableTiles tiles = tiles_of(job.width, job.height, variants[i].sizes);
    tiles.single_pass_variant = i;
    tiles.accumulator = job.accumulator;
    const int pixel_bytes = tiles.channels * (variants[i].type == Type::u8 ? 1 : 2);
    if (fits(tiles, variants[i].sizes, pixel_bytes)) found.push_back(tiles);
  }
  return found;
}

std::optional<TableTiles> best_single_pass_tiles(const TableJob& job, int multiprocessors) {
  for (const TableTiles& tiles : single_pass_tiles(job))
    if (tiles.tile_columns * tiles.tile_rows >=
        std::int64_t{variants[tiles.single_pass_variant].fewest} * multiprocessors)
      return tiles;
  return std::nullopt;
}

std::size_t single_pass_workspace_bytes(const TableTiles& tiles) {
  return Layout(tiles, variants[tiles.single_pass_variant].sizes, nullptr).bytes;
}

void build_table_in_one_pass(const TableArguments& arguments, StreamHandle stream,
                             const SinglePassTrial& trial) {
  variants[arguments.tiles.single_pass_variant].launch(arguments, trial, stream);
}

}  // namespace satin::kernels
