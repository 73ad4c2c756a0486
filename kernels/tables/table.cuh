#pragma once
// The summed-area table (Crow 1984) of any picture, tile by tile, after Kasagi, Nakano and Ito (Parallel
// algorithms for the summed area table on the asynchronous hierarchical memory machine, 2014) and Nehab et
// al. (GPU-efficient recursive filtering and summed-area tables, 2011, algorithm SAT): read twice, written
// once.
//
//   1. Every tile, one warp wide, is reduced: the sums of its rows, of its columns, and of all of it.
//   2. These carries are scanned, exclusively: row sums over the tiles to the left, column sums and totals
//      over the tiles above.
//   3. Every tile is read again. The table row above it is the scan of its column carries onto the sum of the
//      totals to the left. Each further row is the row before plus the scan of the pixels onto the row carry.
//
// No tile waits for another within a launch, so blocks may run in any order. A tile is the work of one warp
// and needs no barrier.
//
// Bytes moved per element: 2 s + a, where an element of the picture has s bytes and one of the table a, and
// for the carries 4 a / tile width + 4 a / tile height. The second reading hits the L2 as far as the picture
// fits.

#include <cstdint>

#include "core/with_type.h"
#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pixels/lane.cuh"
#include "kernels/tables/launch.h"
#include "kernels/tables/light_table.cuh"

namespace satin::kernels {

/// The workspace. Each tile sums the totals of the tiles to its left itself, so there is only one total for
/// each tile and channel.
template <class Sum>
struct Carries {
  Sum* columns;      ///< [tile_rows][width * channels]
  Sum* rows;         ///< [tile_columns][height * channels]
  Sum* totals;       ///< [tile_rows][tile_columns * channels]
  Sum* fine_totals;  ///< [tile_rows][tile_columns * channels]: totals / upper_unit, for UpperColumn
};

template <class Sum>
Carries<Sum> carries_of(const TableTiles& tiles, void* workspace) {
  Carries<Sum> carries{};
  carries.columns = static_cast<Sum*>(workspace);
  carries.rows = carries.columns + tiles.tile_rows * tiles.width * tiles.channels;
  carries.totals = carries.rows + tiles.tile_columns * tiles.height * tiles.channels;
  carries.fine_totals = carries.totals + tiles.tile_rows * tiles.tile_columns * tiles.channels;
  return carries;
}

/// Pass 2.
template <class Sum>
void scan_carries(const TableArguments& arguments, const Carries<Sum>& carries, StreamHandle stream);

struct Tile {
  std::int64_t column = 0;
  std::int64_t row = 0;
  std::int64_t first_x = 0;  ///< first column of the calling lane
  std::int64_t first_y = 0;
  int valid = 0;  ///< pixels of the calling lane inside the picture, per row
  int height = 0;
  bool exists = false;
};

template <int PixelsPerLane>
__device__ Tile tile_of_warp(const TableTiles& tiles) {
  Tile tile;
  const auto number =
      static_cast<std::int64_t>(blockIdx.x) * tuning::table_warps_per_block + threadIdx.x / warp_size;
  tile.exists = number < tiles.tile_columns * tiles.tile_rows;
  tile.row = number / tiles.tile_columns;
  tile.column = number - tile.row * tiles.tile_columns;
  tile.first_x = tile.column * tiles.tile_width + lane_index() * PixelsPerLane;
  tile.first_y = tile.row * tiles.tile_height;
  const std::int64_t right = tiles.width - tile.first_x;
  tile.valid = right <= 0 ? 0 : right < PixelsPerLane ? static_cast<int>(right) : PixelsPerLane;
  const std::int64_t below = tiles.height - tile.first_y;
  tile.height = below < tiles.tile_height ? static_cast<int>(below) : tiles.tile_height;
  return tile;
}

__device__ inline bool aligned_rows(const std::byte* data, std::int64_t row, int alignment) {
  return ((reinterpret_cast<std::uint64_t>(data) | static_cast<std::uint64_t>(row)) & (alignment - 1)) == 0;
}

/// Returns the read rule of the picture. Copies the decode table of 8-bit pixels to shared memory
/// (`decode8`).
template <class T>
__device__ ReadRule read_rule(const TableArguments& arguments, std::uint32_t* decode8) {
  ReadRule rule{arguments.job.read.weighted, arguments.job.squared, arguments.transfer.decode,
                exponents_of(arguments.job.read, arguments.job.squared, arguments.measured)};
  if constexpr (sizeof(T) == 1) {
    if (rule.decode != nullptr) {
      for (int i = static_cast<int>(threadIdx.x); i < 256; i += blockDim.x) decode8[i] = rule.decode[i];
      __syncthreads();
      rule.decode = decode8;
    }
  }
  return rule;
}

/// Pass 1.
template <class T, int Channels, class Sum>
__global__ void __launch_bounds__(tuning::table_warps_per_block* warp_size,
                                  tuning::table_blocks_per_multiprocessor)
    reduce_tiles(const __grid_constant__ TableArguments arguments, const Carries<Sum> carries) {
  using Lane = Lane<T, Channels, Sum>;
  __shared__ std::uint32_t decode8[sizeof(T) == 1 ? 256 : 1];
  const ReadRule rule = read_rule<T>(arguments, decode8);
  const TableTiles& tiles = arguments.tiles;
  const Tile tile = tile_of_warp<Lane::pixels>(tiles);
  if (!tile.exists) return;

  const std::int64_t row = arguments.picture.row;
  const bool aligned = aligned_rows(arguments.picture.data, row, Lane::access);
  const std::byte* from = arguments.picture.data + tile.first_y * row +
                          tile.first_x * (Channels * static_cast<std::int64_t>(sizeof(T)));
  Sum* row_sums = carries.rows + (tile.column * tiles.height + tile.first_y) * Channels;
  Sum columns[Lane::pixels][Channels] = {};
  Sum totals[Channels] = {};
  for (int y = 0; y < tile.height; y += Lane::rows, from += Lane::rows * row) {
    typename Lane::Source loaded[Lane::rows];
    Lane::load(loaded, from, row, tile.height - y, tile.valid, aligned);
    Sum rows[Channels][Lane::rows];
#pragma unroll
    for (int r = 0; r < Lane::rows; ++r) {
      Sum values[Lane::pixels][Channels];
      Lane::convert(loaded[r], rule, values);
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        rows[c][r] = 0;
#pragma unroll
        for (int p = 0; p < Lane::pixels; ++p) {
          rows[c][r] += values[p][c];
          columns[p][c] += values[p][c];
        }
      }
    }
    const int lane_row = lane_index() % Lane::rows;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const Sum sum = sum_rows(rows[c]);
      totals[c] += sum;
      if (lane_index() < Lane::rows && y + lane_row < tile.height)
        row_sums[(y + lane_row) * Channels + c] = sum;
    }
  }

  Sum* column_sums = carries.columns + (tile.row * tiles.width + tile.first_x) * Channels;
#pragma unroll
  for (int p = 0; p < Lane::pixels; ++p)
#pragma unroll
    for (int c = 0; c < Channels; ++c)
      if (p < tile.valid) column_sums[p * Channels + c] = columns[p][c];
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    const Sum total = sum_over<Lane::rows>(totals[c]);
    if (lane_index() == 0) {
      const std::int64_t index = (tile.row * tiles.tile_columns + tile.column) * Channels + c;
      carries.totals[index] = total;
      carries.fine_totals[index] = total / upper_unit;
    }
  }
}

/// Adds the inclusive scan of a row of values over the warp, and the carry of lane 0, to the sums.
template <int Pixels, int Channels, class Sum>
__device__ void add_scanned_row(const Sum (&values)[Pixels][Channels], const Sum (&carry)[Channels],
                                Sum (&sums)[Pixels][Channels]) {
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    Sum own = 0;
#pragma unroll
    for (int p = 0; p < Pixels; ++p) own += values[p][c];
    Sum running = inclusive_scan(lane_index() == 0 ? carry[c] + own : own) - own;
#pragma unroll
    for (int p = 0; p < Pixels; ++p) {
      running += values[p][c];
      sums[p][c] += running;
    }
  }
}

/// Writes one row of a tile, in words of 16 bytes where rows are aligned; otherwise each instruction writes
/// neighbouring elements. `stage` is shared memory of this warp.
template <int Elements, class Sum>
__device__ void store_row(const Sum* sums, Sum* to, int elements, bool aligned, uint4* stage) {
  constexpr int vectors = Elements * static_cast<int>(sizeof(Sum)) / 16;
  constexpr int per_vector = 16 / static_cast<int>(sizeof(Sum));
  static_assert(vectors * 16 == Elements * static_cast<int>(sizeof(Sum)));
  uint4 packed[vectors];
  std::memcpy(packed, sums, sizeof packed);
  if (vectors == 1 && aligned && elements == warp_size * Elements) {
    __stcs(reinterpret_cast<uint4*>(to) + lane_index(), packed[0]);
    return;
  }
  __syncwarp();
#pragma unroll
  for (int v = 0; v < vectors; ++v) stage[lane_index() * vectors + v] = packed[v];
  __syncwarp();
  const int whole = aligned ? elements / per_vector : 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const int i = v * warp_size + lane_index();
    if (i < whole) __stcs(reinterpret_cast<uint4*>(to) + i, stage[i]);
  }
  const Sum* staged = reinterpret_cast<const Sum*>(stage);
  for (int i = whole * per_vector + lane_index(); i < elements; i += warp_size) __stcs(to + i, staged[i]);
}

/// Writes the words of all lanes to neighbouring memory. `count` is the number of words of 16 bytes that are
/// stored, `stage` shared memory of this warp. Neither its writes nor its reads conflict in a bank.
template <int Words>
__device__ void store_together(const Vector<std::uint32_t, Words>& words, uint4* to, int count,
                               uint4* stage) {
  constexpr int vectors = Words / 4;
  const auto place = [](int i) { return i ^ i / 8 % vectors; };
  __syncwarp();
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    stage[place(lane_index() * vectors + v)] =
        make_uint4(words.of[4 * v], words.of[4 * v + 1], words.of[4 * v + 2], words.of[4 * v + 3]);
  __syncwarp();
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const int i = v * warp_size + lane_index();
    if (i < count) to[i] = stage[place(i)];
  }
}

/// Whether tables of these types may be tables of light.
template <class T, class Sum>
inline constexpr bool may_be_light = sizeof(T) == 1 && sizeof(Sum) == 4;

/// Sums the scanned totals of all tiles to the left; every lane gets the sums.
template <int Channels, class Sum>
__device__ void sum_before(const Sum* totals, const TableTiles& tiles, const Tile& tile,
                           Sum (&sums)[Channels]) {
  const Sum* of_row = totals + tile.row * tiles.tile_columns * Channels;
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    Sum sum = 0;
    for (std::int64_t i = lane_index(); i < tile.column; i += warp_size)
      sum += __ldg(of_row + i * Channels + c);
    sums[c] = sum_over<warp_size>(sum);
  }
}

/// Pass 3.
template <class T, int Channels, class Sum>
__global__ void __launch_bounds__(tuning::table_warps_per_block* warp_size,
                                  tuning::table_blocks_per_multiprocessor)
    finish_tiles(const __grid_constant__ TableArguments arguments, const Carries<Sum> carries) {
  using Lane = Lane<T, Channels, Sum>;
  constexpr int light_words = Lane::pixels * LightEntry<Channels>::count;
  constexpr int stage_words = may_be_light<T, Sum> ? light_words : Lane::sum_bytes / 4;
  static_assert(4 * stage_words >= Lane::sum_bytes);
  __shared__ uint4 stages[tuning::table_warps_per_block][warp_size * stage_words / 4];
  __shared__ std::uint32_t decode8[sizeof(T) == 1 ? 256 : 1];
  const ReadRule rule = read_rule<T>(arguments, decode8);
  const TableTiles& tiles = arguments.tiles;
  const Tile tile = tile_of_warp<Lane::pixels>(tiles);
  if (!tile.exists) return;

  Sum sums[Lane::pixels][Channels] = {};
  UpperColumn<Lane::pixels, Channels> upper;
  const bool in_light = may_be_light<T, Sum> && arguments.light.data != nullptr;
  {  // the table row above the tile
    Sum above[Lane::pixels][Channels];
    const Sum* column_sums = carries.columns + (tile.row * tiles.width + tile.first_x) * Channels;
#pragma unroll
    for (int p = 0; p < Lane::pixels; ++p)
#pragma unroll
      for (int c = 0; c < Channels; ++c)
        above[p][c] = p < tile.valid ? __ldg(column_sums + p * Channels + c) : 0;
    Sum corner[Channels];
    sum_before<Channels>(carries.totals, tiles, tile, corner);
    add_scanned_row(above, corner, sums);
    if constexpr (may_be_light<T, Sum>) {
      if (in_light) {
        sum_before<Channels>(carries.fine_totals, tiles, tile, corner);
        upper.start(above, corner, sums);
      }
    }
  }

  const std::int64_t row = arguments.picture.row;
  const bool aligned = aligned_rows(arguments.picture.data, row, Lane::access);
  const std::byte* from = arguments.picture.data + tile.first_y * row +
                          tile.first_x * (Channels * static_cast<std::int64_t>(sizeof(T)));
  const Sum* row_sums = carries.rows + (tile.column * tiles.height + tile.first_y) * Channels;
  const bool table_aligned = aligned_rows(arguments.table.data, arguments.table.row, 16);
  std::byte* to = arguments.table.data + tile.first_y * arguments.table.row +
                  tile.column * tiles.tile_width * (Channels * static_cast<std::int64_t>(sizeof(Sum)));
  const std::int64_t right = tiles.width - tile.column * tiles.tile_width;
  const int elements = Channels * static_cast<int>(right < tiles.tile_width ? right : tiles.tile_width);
  uint4* stage = stages[threadIdx.x / warp_size];

  for (int y = 0; y < tile.height; y += Lane::rows, from += Lane::rows * row) {
    typename Lane::Source loaded[Lane::rows];
    Lane::load(loaded, from, row, tile.height - y, tile.valid, aligned);
    Sum carry[Lane::rows][Channels];
#pragma unroll
    for (int r = 0; r < Lane::rows; ++r)
#pragma unroll
      for (int c = 0; c < Channels; ++c)
        carry[r][c] = lane_index() == 0 && y + r < tile.height ? __ldg(row_sums + (y + r) * Channels + c) : 0;
#pragma unroll
    for (int r = 0; r < Lane::rows; ++r) {
      if (y + r >= tile.height) break;  // uniform over the warp
      Sum values[Lane::pixels][Channels];
      Lane::convert(loaded[r], rule, values);
      add_scanned_row(values, carry[r], sums);
      if constexpr (may_be_light<T, Sum>) {
        if (in_light) {
          constexpr int entry_words = LightEntry<Channels>::count;
          upper.add(sums);
          std::byte* light = arguments.light.data + (tile.first_y + y + r) * arguments.light.row +
                             tile.column * tiles.tile_width * (4 * entry_words);
          store_together(upper.entries(sums), reinterpret_cast<uint4*>(light),
                         (elements / Channels * entry_words + 3) / 4, stage);
          continue;
        }
      }
      store_row<Lane::elements>(&sums[0][0], reinterpret_cast<Sum*>(to), elements, table_aligned, stage);
      to += arguments.table.row;
    }
  }
}

template <class T, int Channels, class Sum>
void build_table_by(const TableArguments& arguments, StreamHandle stream) {
  const Carries<Sum> carries = carries_of<Sum>(arguments.tiles, arguments.workspace);
  const std::int64_t tiles = arguments.tiles.tile_columns * arguments.tiles.tile_rows;
  constexpr int warps = tuning::table_warps_per_block;
  const auto blocks = static_cast<unsigned>((tiles + warps - 1) / warps);
  reduce_tiles<T, Channels, Sum><<<blocks, warps * warp_size, 0, stream>>>(arguments, carries);
  scan_carries(arguments, carries, stream);
  finish_tiles<T, Channels, Sum><<<blocks, warps * warp_size, 0, stream>>>(arguments, carries);
}

template <class T, class Sum>
void build_table_with(const TableArguments& arguments, StreamHandle stream) {
  with_channels(arguments.tiles.channels,
                [&]<int Channels>() { build_table_by<T, Channels, Sum>(arguments, stream); });
}

/// Builds the table of a picture of type T. The build instantiates it in a source for each type.
template <class T>
void build_table_of(const TableArguments& arguments, StreamHandle stream) {
  if constexpr (sizeof(T) < 8 && !std::is_same_v<T, float>) {
    if (arguments.tiles.accumulator == Accumulator::u32)
      return build_table_with<T, std::uint32_t>(arguments, stream);
  }
  build_table_with<T, std::uint64_t>(arguments, stream);
}

}  // namespace satin::kernels
