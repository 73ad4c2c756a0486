#include "kernels/table_single_pass.cuh"

#include <bit>

#include "kernels/table_single_pass.h"

namespace satin::kernels {

using namespace single_pass;

namespace {

constexpr std::int64_t largest_side = 1LL << 30;                 // pixels are counted in 32 bits
constexpr std::size_t largest_workspace = std::size_t{1} << 32;  // so are its words
constexpr std::size_t part_alignment = 128;                      // bytes: no two parts share a line of the L2

bool are_large(const TableTiles& tiles) { return tiles.tile_width == LargeTile::width; }

TableTiles tiles_of(std::int64_t width, std::int64_t height, int tile_width) {
  TableTiles tiles;
  tiles.method = TableMethod::single_pass;
  tiles.width = width;
  tiles.height = height;
  tiles.tile_width = tile_width;
  tiles.tile_height = tile_height;
  tiles.tile_columns = (width + tile_width - 1) / tile_width;
  tiles.tile_rows = (height + tile_height - 1) / tile_height;
  return tiles;
}

/// Sums, and both halves of inclusive sums where a tile looks back that far.
std::int64_t planes(std::int64_t tiles, int depth) { return tiles > depth + 1 ? 3 : 1; }

/// Lays the workspace out from `memory` on, and tells its size.
struct Layout {
  Workspace workspace{};
  std::size_t bytes = 0;

  Layout(const TableTiles& tiles, void* memory) : memory_(static_cast<std::byte*>(memory)) {
    const std::int64_t count = tiles.tile_columns * tiles.tile_rows;
    const std::int64_t padded_width = tiles.tile_columns * tiles.tile_width;
    take(workspace.counter, 1);
    take(workspace.totals, 2 * count);
    take(workspace.column_sums, planes(tiles.tile_rows, upward) * tiles.tile_rows * padded_width);
    take(workspace.row_sums, planes(tiles.tile_columns, leftward) * count * tile_height);
  }

 private:
  template <class Word>
  void take(Word*& part, std::int64_t words) {
    if (memory_ != nullptr) part = reinterpret_cast<Word*>(memory_ + bytes);
    bytes += static_cast<std::size_t>(words) * sizeof(Word);
    bytes = (bytes + part_alignment - 1) / part_alignment * part_alignment;
  }

  std::byte* memory_;
};

Job job_of(const TableArguments& arguments) {
  const TableTiles& tiles = arguments.tiles;
  Job job{};
  job.picture = {arguments.picture.data, arguments.picture.row, static_cast<int>(tiles.width),
                 static_cast<int>(tiles.height)};
  job.table = arguments.table.data;
  job.table_row = arguments.table.row;
  job.tile_columns = static_cast<int>(tiles.tile_columns);
  job.tile_rows = static_cast<int>(tiles.tile_rows);
  const auto count = static_cast<std::uint64_t>(tiles.tile_columns * tiles.tile_rows);
  job.ticket_bits = std::bit_width(count - 1);
  job.workspace = Layout(tiles, arguments.workspace).workspace;
  return job;
}

bool are_aligned(const std::byte* data, std::int64_t row, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0 && row % static_cast<int>(bytes) == 0;
}

template <class Shape, Start How>
void launch(const TableArguments& arguments, StreamHandle stream) {
  const Job job = job_of(arguments);
  const auto blocks = static_cast<unsigned>(job.tile_columns) * static_cast<unsigned>(job.tile_rows);
  const bool aligned =
      are_aligned(job.picture.data, job.picture.row, 4) && are_aligned(job.table, job.table_row, 16);
  if (aligned) {
    build<Shape, true, How><<<blocks, Shape::threads, 0, stream>>>(job);
  } else {
    build<Shape, false, How><<<blocks, Shape::threads, 0, stream>>>(job);
  }
}

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
