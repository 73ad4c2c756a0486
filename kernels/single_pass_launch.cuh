#pragma once
// The host side of the single-pass table: its workspace and its launch.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/launch.h"
#include "kernels/table_single_pass.cuh"
#include "kernels/table_single_pass.h"

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

inline Job job_of(const TableArguments& arguments, const SinglePassTrial& trial) {
  const TableTiles& tiles = arguments.tiles;
  Job job{};
  job.picture = {arguments.picture.data, arguments.picture.row, static_cast<int>(tiles.width),
                 static_cast<int>(tiles.height)};
  job.table = arguments.table.data;
  job.table_row = arguments.table.row;
  job.tile_columns = static_cast<int>(tiles.tile_columns);
  job.tile_rows = static_cast<int>(tiles.tile_rows);
  const auto count = static_cast<std::uint64_t>(tiles.tile_columns * tiles.tile_rows);
  job.run_bits = std::bit_width(count - 1);
  job.looks = trial.looks;
  job.reversed = trial.reversed;
  job.workspace = Layout(tiles, arguments.workspace).workspace;
  return job;
}

inline bool are_aligned(const std::byte* data, std::int64_t row, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0 && row % static_cast<int>(bytes) == 0;
}

inline int step_of(const Job& job) {
  if (!are_aligned(job.table, 0, 16)) return any_step;
  return static_cast<int>(static_cast<std::uint64_t>(job.table_row) / sizeof(std::uint32_t) % 4);
}

template <class Shape>
auto kernel_for(const Job& job) {
  switch (step_of(job)) {
    case 0:
      return are_aligned(job.picture.data, job.picture.row, 4) ? build<Shape, true, 0>
                                                               : build<Shape, false, 0>;
    case 1:
      return build<Shape, false, 1>;
    case 2:
      return build<Shape, false, 2>;
    case 3:
      return build<Shape, false, 3>;
    default:
      return build<Shape, false, any_step>;
  }
}

template <class Shape>
void launch(const TableArguments& arguments, const SinglePassTrial& trial, StreamHandle stream) {
  const Job job = job_of(arguments, trial);
  const dim3 blocks(static_cast<unsigned>(job.tile_columns), static_cast<unsigned>(job.tile_rows));
  kernel_for<Shape>(job)<<<blocks, Shape::threads, 0, stream>>>(job);
}

}  // namespace satin::kernels::single_pass
