#pragma once
// The host side of the single-pass table: its workspace and its launch.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/device/launch.h"
#include "kernels/tables/launch.h"
#include "kernels/tables/table_single_pass.cuh"

namespace satin::kernels::single_pass {

inline constexpr std::size_t part_alignment = 128;  // bytes: no two parts share a line of the L2

inline TableTiles tiles_of(std::int64_t width, std::int64_t height, const TileSizes& sizes) {
  TableTiles tiles;
  tiles.width = width;
  tiles.height = height;
  tiles.channels = sizes.channels;
  tiles.tile_width = sizes.width / sizes.channels;
  tiles.tile_height = tile_height;
  tiles.tile_columns = (width + tiles.tile_width - 1) / tiles.tile_width;
  tiles.tile_rows = (height + tile_height - 1) / tile_height;
  return tiles;
}

/// Sums, and the pieces of inclusive sums where a tile looks back that far.
inline std::int64_t planes(std::int64_t tiles, int depth, int pieces) {
  return tiles > depth + 1 ? 1 + pieces : 1;
}

/// Lays the workspace out from `memory` on, and tells its size.
struct Layout {
  Workspace workspace{};
  std::size_t bytes = 0;

  Layout(const TableTiles& tiles, const TileSizes& sizes, void* memory)
      : memory_(static_cast<std::byte*>(memory)) {
    const std::int64_t count = tiles.tile_columns * tiles.tile_rows;
    take(workspace.counter, 1);
    take(workspace.totals, (1 + sizes.corner_words) * sizes.channels * count);
    take(workspace.column_sums, planes(tiles.tile_rows, sizes.upward, sizes.pieces) * count * sizes.width);
    take(workspace.row_sums,
         planes(tiles.tile_columns, sizes.leftward, sizes.pieces) * count * sizes.channels * tile_height);
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

// Limits of a picture: bytes of a row are counted in 32 bits, rows of tiles are rows of the grid, words of
// the workspace are counted in 32 bits, too.
inline constexpr std::int64_t largest_row = 1LL << 30;
inline constexpr std::int64_t largest_height = 65535LL * tile_height;
inline constexpr std::size_t largest_workspace = std::size_t{1} << 32;

inline bool fits(const TableTiles& tiles, const TileSizes& sizes, int pixel_bytes) {
  return tiles.width <= largest_row / pixel_bytes && tiles.height <= largest_height &&
         Layout(tiles, sizes, nullptr).bytes <= largest_workspace;
}

template <class Tiling>
Job job_of(const TableArguments& arguments, const SinglePassTrial& trial) {
  const TableTiles& tiles = arguments.tiles;
  Job job{};
  job.width = static_cast<int>(tiles.width * Tiling::channels);
  job.picture = {arguments.picture.data, arguments.picture.row,
                 job.width * static_cast<int>(sizeof(typename Tiling::Pixels::Element)),
                 static_cast<int>(tiles.height)};
  job.table = arguments.table.data;
  job.table_row = arguments.table.row;
  job.tile_columns = static_cast<int>(tiles.tile_columns);
  job.tile_rows = static_cast<int>(tiles.tile_rows);
  const auto count = static_cast<std::uint64_t>(tiles.tile_columns * tiles.tile_rows);
  job.run_bits = std::bit_width(count - 1);
  job.looks = trial.looks;
  job.reversed = trial.reversed;
  job.workspace = Layout(tiles, Tiling::sizes, arguments.workspace).workspace;
  return job;
}

inline bool are_aligned(const std::byte* data, std::int64_t row, int bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(bytes) == 0 && row % bytes == 0;
}

template <class Tiling>
int step_of(const Job& job) {
  constexpr int sum = sizeof(typename Tiling::Sum);
  if (!are_aligned(job.table, 0, sum * Tiling::elements)) return any_step;
  return static_cast<int>(static_cast<std::uint64_t>(job.table_row) / sum % Tiling::elements);
}

template <class Tiling>
auto kernel_for(const Job& job) {
  const int step = step_of<Tiling>(job);
  if (step == 0)
    return are_aligned(job.picture.data, job.picture.row, Tiling::Pixels::lane_bytes)
               ? build<Tiling, true, 0>
               : build<Tiling, false, 0>;
  if (step == 1) return build<Tiling, false, 1>;
  if constexpr (Tiling::elements == 4) {
    if (step == 2) return build<Tiling, false, 2>;
    if (step == 3) return build<Tiling, false, 3>;
  }
  return build<Tiling, false, any_step>;
}

template <class Tiling>
void launch(const TableArguments& arguments, const SinglePassTrial& trial, StreamHandle stream) {
  const Job job = job_of<Tiling>(arguments, trial);
  const dim3 blocks(static_cast<unsigned>(job.tile_columns), static_cast<unsigned>(job.tile_rows));
  kernel_for<Tiling>(job)<<<blocks, Tiling::threads, 0, stream>>>(job);
}

// --- Tilings that are used ---

// Shares of the copy of the same bytes, H200, 2026-11-20. All tiles are 128 rows high. Depths are such that
// the warps that look back have as many slots each. A spilled register costs 2 %.

template <class Shape>
using Bytes = Tiling<Pixels<std::uint8_t, 1, std::uint32_t>, Shape>;
/// 256 columns: .87 at 16384 x 16384, .83 at 8192, .82 at 4096; with 16 warps of 16 rows .77 at 8192.
using LargeTile = TileShape<2, 4, 32, 3, 7, 14>;
/// 256 columns, deeper upward: .76 instead of .71 at 2560 x 2560, .78 instead of .73 at 3840 x 2160.
using MediumTile = TileShape<2, 4, 32, 2, 15, 14>;
/// 128 columns: .72 instead of .63 at 2048 x 2048, .62 instead of .53 at 1024 x 1024.
using SmallTile = TileShape<1, 8, 16, 3, 15, 15>;

/// 128 RGB pixels: .74 at 2048 x 2048, .69 at 4096, .73 at 8192; with depths of 6 and 10 .67, .69 and .71.
using RgbTile = TileShape<3, 4, 32, 2, 10, 14>;
/// 96 and 64 RGBA pixels: .62 and .67 at 2048 x 2048, .67 and .65 at 4096, .65 and .61 at 8192; 128 pixels
/// .64, .64 and .69.
using LargeRgbaTile = TileShape<3, 4, 32, 2, 6, 7>;
using SmallRgbaTile = TileShape<2, 4, 32, 2, 10, 14>;

/// 128 columns of pairs: u16 to u64 .76 at 2048 x 2048, .79 at 4096, .83 at 8192; 192 columns .60, .76, .83.
using PairTile = TileShape<2, 4, 32, 3, 9, 13>;
using RgbPairTile = TileShape<3, 4, 32, 2, 9, 9>;

/// The tiling of sums of 64 bits.
template <class T, int Channels>
using Pairs =
    Tiling<Pixels<T, Channels, std::uint64_t>, std::conditional_t<Channels == 1, PairTile, RgbPairTile>>;

}  // namespace satin::kernels::single_pass
