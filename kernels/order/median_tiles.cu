// Medians of windows of 5 x 5 to 15 x 15 pixels (median_tiles.cuh). A thread has a tile, or two of them in
// the halves of a word: those of the upper and the lower half of the block's pixels.

#include <cstdint>

#include "kernels/order/median_store.cuh"
#include "kernels/order/median_tiles.cuh"

namespace satin::kernels {
namespace {

using namespace median_tiles;

constexpr int tile_columns = 4;
constexpr int tile_rows = 2;      // 4 have less to exchange, and spill: 0.06 ms more at radius 6, H200
constexpr int tiles_across = 16;  // of a block
constexpr int tiles_down = 8;
constexpr int tile_threads = tiles_across * tiles_down;
constexpr int tile_blocks = 2;  // of a multiprocessor, at least: leaves a thread all registers it can have

/// A word of keys: its upper 16 bits hold a key of the lower half of a block's rows.
template <class Key>
struct Word {
  using Value = Pair;
  static constexpr int halves = 2;
  static __device__ Value pack(Key upper, Key lower) { return {upper | std::uint32_t{lower} << 16}; }
  static __device__ Key unpack(Value value, int half) { return static_cast<Key>(value.word >> 16 * half); }
};
template <>
struct Word<FloatKey> {
  using Value = FloatKey;
  static constexpr int halves = 1;
  static __device__ Value pack(FloatKey upper, FloatKey) { return upper; }
  static __device__ FloatKey unpack(Value value, int) { return value; }
};

/// The pixels that a block's windows see.
template <class Key, int Reach>
struct BlockPixels {
  using Value = typename Word<Key>::Value;
  static constexpr int columns = tiles_across * tile_columns;
  static constexpr int rows = tiles_down * tile_rows;  ///< of a half
  static constexpr int block_rows = rows * Word<Key>::halves;
  static constexpr int seen_columns = columns + 2 * Reach;
  static constexpr int seen_rows = rows + 2 * Reach;
  /// Columns that lie at the same place of their tiles follow one another. There are 4 i + 2 of them, so that
  /// the two rows of tiles of a warp meet different banks.
  static constexpr int stretch = (seen_columns / tile_columns + 1 + 1) / 4 * 4 + 2;
  static_assert(stretch * tile_columns >= seen_columns && tile_rows * tile_columns * stretch % 32 == 16);
  static constexpr int stride = tile_columns * stretch;

  Value values[seen_rows * stride];

  static __device__ constexpr int place(int x, int y) {
    return y * stride + x % tile_columns * stretch + x / tile_columns;
  }

  __device__ void read(const RankArguments& run, int first_x, int first_y) {
    const RankJob& job = run.job;
    const auto row_at = [&](int y) { return read_place<Reach>(first_y - Reach + y, job.height, job.border); };
    for (int column = lane_index(); column < seen_columns; column += warp_size) {
      const int x = read_place<Reach>(first_x - Reach + column, job.width, job.border);
#pragma unroll 4
      for (int row = static_cast<int>(threadIdx.x) / warp_size; row < seen_rows;
           row += tile_threads / warp_size) {
        const Key upper = key_or_outside<Key>(run, x, row_at(row));
        Key lower{};
        if constexpr (Word<Key>::halves == 2) lower = key_or_outside<Key>(run, x, row_at(row + rows));
        values[place(column, row)] = Word<Key>::pack(upper, lower);
      }
    }
  }
};

template <class Key, int Reach>
__global__ void __launch_bounds__(tile_threads, tile_blocks)
    find_medians(const __grid_constant__ RankArguments run, bool aligned) {
  using Pixels = BlockPixels<Key, Reach>;
  using Value = typename Pixels::Value;
  __shared__ Pixels pixels;
  const int first_x = static_cast<int>(blockIdx.x) * Pixels::columns;
  const int first_y = static_cast<int>(blockIdx.y) * Pixels::block_rows;
  pixels.read(run, first_x, first_y);
  __syncthreads();
  const int across = static_cast<int>(threadIdx.x) % tiles_across;
  const int down = static_cast<int>(threadIdx.x) / tiles_across;
  const Value* own = pixels.values + Pixels::place(tile_columns * across, tile_rows * down);
  const auto pixel = [&](int x, int y) { return own[Pixels::place(x, y)]; };
  Value medians[tile_rows][tile_columns];
  Tile<Value, 2 * Reach + 1, tile_columns, tile_rows>::read(pixel).find(
      pixel, [&](int x, int y, Value median) { medians[y][x] = median; });
  const Inner inner(run.job, Reach);
#pragma unroll
  for (int half = 0; half < Word<Key>::halves; ++half) {
#pragma unroll
    for (int y = 0; y < tile_rows; ++y) {
      Vector<Key, tile_columns> keys;
#pragma unroll
      for (int x = 0; x < tile_columns; ++x) keys.of[x] = Word<Key>::unpack(medians[y][x], half);
      store_inner(run, inner, aligned, first_x + tile_columns * across,
                  first_y + half * Pixels::rows + tile_rows * down + y, keys);
    }
  }
}

template <class Key, int Reach>
void launch_tiles(const RankArguments& arguments, StreamHandle stream) {
  using Pixels = BlockPixels<Key, Reach>;
  const RankJob& job = arguments.job;
  const auto parts_of = [](std::int64_t count, std::int64_t size) {
    return static_cast<unsigned>((count + size - 1) / size);
  };
  const bool aligned =
      job.channels == 1 && is_aligned<Key, tile_columns>(arguments.output.data, arguments.output.row);
  const dim3 blocks(parts_of(job.width, Pixels::columns), parts_of(job.height, Pixels::block_rows));
  find_medians<Key, Reach><<<blocks, tile_threads, 0, stream>>>(arguments, aligned);
  launch_frame<Key, Reach>(arguments, stream);
}

}  // namespace

void medians_by_tiles(const RankArguments& arguments, StreamHandle stream) {
  with_key(arguments.job.type, [&]<class Key>() {
    switch (arguments.job.reach.x) {
      case 2:
        return launch_tiles<Key, 2>(arguments, stream);
      case 3:
        return launch_tiles<Key, 3>(arguments, stream);
      case 4:
        return launch_tiles<Key, 4>(arguments, stream);
      case 5:
        return launch_tiles<Key, 5>(arguments, stream);
      case 6:
        return launch_tiles<Key, 6>(arguments, stream);
      default:
        return launch_tiles<Key, 7>(arguments, stream);
    }
  });
}

}  // namespace satin::kernels
