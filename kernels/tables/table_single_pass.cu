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
  void (*launch)(const TableArguments&, const SinglePassTrial&, StreamHandle);
};

template <class Tiling>
constexpr Variant variant() {
  using Pixels = typename Tiling::Pixels;
  return {sizeof(typename Pixels::Element) == 1 ? Type::u8 : Type::u16,
          sizeof(typename Tiling::Sum) == 4 ? Accumulator::u32 : Accumulator::u64, Tiling::sizes,
          launch<Tiling>};
}

constexpr Variant variants[] = {
    variant<Tiling<Pixels<std::uint8_t, 1, std::uint32_t>, ByteTile>>(),
    variant<Tiling<Pixels<std::uint8_t, 3, std::uint32_t>, RgbTile>>(),
    variant<Tiling<Pixels<std::uint8_t, 4, std::uint32_t>, RgbaTile>>(),
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

std::optional<TableTiles> single_pass_tiles(const TableJob& job) {
  for (int i = 0; i < static_cast<int>(std::size(variants)); ++i) {
    if (!serves(variants[i], job)) continue;
    TableTiles tiles = tiles_of(job.width, job.height, variants[i].sizes);
    tiles.single_pass_variant = i;
    tiles.accumulator = job.accumulator;
    const int pixel_bytes = tiles.channels * (variants[i].type == Type::u8 ? 1 : 2);
    if (fits(tiles, variants[i].sizes, pixel_bytes)) return tiles;
  }
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
