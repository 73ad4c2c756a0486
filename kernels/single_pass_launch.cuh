#pragma once
// The host side of the single-pass table: its workspace and its launch.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/launch.h"
#include "kernels/table_single_pass.cuh"

namespace satin::kernels::single_pass {

inline constexpr std::size_t part_alignment = 128;  // bytes: no two parts share a line of the L2

inline TableTiles tiles_of(std::int64_t width, std::int64_t height, int tile_width) {
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
inline std::int64_t planes(std::int64_t tiles, int depth) { return tiles > depth + 1 ? 3 : 1; }

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

inline Job job_of(const TableArguments& arguments) {
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

inline bool are_aligned(const std::byte* data, std::int64_t row, unsigned bytes) {
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

}  // namespace satin::kernels::single_pass
