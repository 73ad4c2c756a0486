// Medians of 3 x 3 pixels (median_tiles.cuh), without shared memory. A thread has tiles of 2 x 2 pixels, one
// below the other, in the two halves of its words; floats have one tile across.

#include <cstdint>

#include "kernels/order/median_store.cuh"
#include "kernels/order/median_tiles.cuh"

namespace satin::kernels {
namespace {

using namespace median_tiles;

constexpr int reach = 1;
constexpr int tile_side = 2;
constexpr int seen = tile_side + 2 * reach;
constexpr int strip_warps = 4;  // of a block, each with rows of its own
constexpr int strip_rows = 8;   // of a thread

/// A word of keys: the second key of a word is two pixels right of the first.
template <class Key>
struct Word {
  using Value = Pair;
  static constexpr int tiles = 2;
  static __device__ Value pack(Key left, Key right) { return {left | std::uint32_t{right} << 16}; }
  static __device__ Key unpack(Value value, int tile) { return static_cast<Key>(value.word >> 16 * tile); }
};
template <>
struct Word<FloatKey> {
  using Value = FloatKey;
  static constexpr int tiles = 1;
  static __device__ Value pack(FloatKey left, FloatKey) { return left; }
  static __device__ FloatKey unpack(Value value, int) { return value; }
};

/// The pixels around a thread's columns.
template <class Key>
class StripColumns {
 public:
  using Value = typename Word<Key>::Value;
  static constexpr int pixels = tile_side * Word<Key>::tiles;  ///< of a thread
  static constexpr int keys = pixels + 2 * reach;

  __device__ StripColumns(const RankArguments& run, int x, bool aligned) : run_(run), x_(x) {
    whole_ = aligned && x >= pixels && x + 2 * pixels <= run.job.width;
    if (whole_) return;
#pragma unroll
    for (int i = 0; i < keys; ++i)
      places_[i] = read_place<reach>(x - reach + i, run.job.width, run.job.border);
  }

  __device__ void read(int y, Value (&row)[seen]) const {
    const int from_y = read_place<reach>(y, run_.job.height, run_.job.border);
    Key values[keys];
    if (whole_ && from_y >= 0) {
      read_whole(row_of<Key>(run_.source, from_y) + x_ - pixels, values);
    } else {
#pragma unroll
      for (int i = 0; i < keys; ++i) values[i] = key_or_outside<Key>(run_, places_[i], from_y);
    }
#pragma unroll
    for (int i = 0; i < seen; ++i) row[i] = Word<Key>::pack(values[i], values[i + pixels - tile_side]);
  }

 private:
  static __device__ void read_whole(const Key* from, Key (&values)[keys]) {
    using Pixels = Vector<Key, pixels>;
    Pixels three[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) three[i] = reinterpret_cast<const Pixels*>(from)[i];
#pragma unroll
    for (int i = 0; i < keys; ++i) {
      const int place = pixels - reach + i;
      values[i] = turn_key(three[place / pixels].of[place % pixels]);
    }
  }

  const RankArguments& run_;
  int x_;
  bool whole_;  ///< all pixels are there, in vectors
  int places_[keys] = {};
};

template <class Key>
__global__ void __launch_bounds__(strip_warps* warp_size)
    find_medians(const __grid_constant__ RankArguments run, bool aligned) {
  using Columns = StripColumns<Key>;
  using Value = typename Columns::Value;
  const int x = (static_cast<int>(blockIdx.x) * warp_size + lane_index()) * Columns::pixels;
  const int strip = static_cast<int>(blockIdx.y) * strip_warps + static_cast<int>(threadIdx.x) / warp_size;
  if (x >= run.job.width) return;
  const Inner inner(run.job, reach);
  const Columns columns(run, x, aligned);
  const int first_y = strip * strip_rows;
  Value rows[seen][seen];
#pragma unroll
  for (int i = 0; i < 2 * reach; ++i) columns.read(first_y - reach + i, rows[tile_side + i]);
#pragma unroll 2
  for (int y = first_y; y < min(first_y + strip_rows, static_cast<int>(run.job.height)); y += tile_side) {
#pragma unroll
    for (int i = 0; i < seen; ++i)
#pragma unroll
      for (int c = 0; c < seen; ++c)
        if (i < 2 * reach) rows[i][c] = rows[i + tile_side][c];
    columns.read(y + reach, rows[2]);
    columns.read(y + reach + 1, rows[3]);
    Value medians[tile_side][tile_side];
    const auto pixel = [&](int column, int row) { return rows[row][column]; };
    Tile<Value, 2 * reach + 1, tile_side, tile_side>::read(pixel).find(
        pixel, [&](int column, int row, Value median) { medians[row][column] = median; });
#pragma unroll
    for (int row = 0; row < tile_side; ++row) {
      Vector<Key, Columns::pixels> keys;
#pragma unroll
      for (int i = 0; i < Columns::pixels; ++i)
        keys.of[i] = Word<Key>::unpack(medians[row][i % tile_side], i / tile_side);
      store_inner(run, inner, aligned, x, y + row, keys);
    }
  }
}

template <class Key>
void launch_strips(const RankArguments& arguments, StreamHandle stream) {
  const RankJob& job = arguments.job;
  constexpr int pixels = StripColumns<Key>::pixels;
  const auto parts_of = [](std::int64_t count, std::int64_t size) {
    return static_cast<unsigned>((count + size - 1) / size);
  };
  const bool aligned = job.channels == 1 &&
                       is_aligned<Key, pixels>(arguments.source.data, arguments.source.row) &&
                       is_aligned<Key, pixels>(arguments.output.data, arguments.output.row);
  const dim3 blocks(parts_of(job.width, pixels * warp_size), parts_of(job.height, strip_warps * strip_rows));
  find_medians<Key><<<blocks, strip_warps * warp_size, 0, stream>>>(arguments, aligned);
  launch_frame<Key, reach>(arguments, stream);
}

}  // namespace

void medians_of_nine(const RankArguments& arguments, StreamHandle stream) {
  with_key(arguments.job.type, [&]<class Key>() { launch_strips<Key>(arguments, stream); });
}

}  // namespace satin::kernels
