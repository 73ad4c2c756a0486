// Medians of small windows. A thread has two words of pixels side by side, pair by pair of rows: what two
// rows of windows share of a column is sorted once, and what two words share of a row.

#include <cstdint>

#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/order/rank_network.cuh"
#include "kernels/order/rank_plane.cuh"

namespace satin::kernels {
namespace {

constexpr int network_warps = 4;  // of a block, each with rows of its own
constexpr int network_rows = 8;   // of a thread

/// How keys lie in words: the second one of a word is two pixels right of the first, so that words of
/// neighbouring columns hold all windows of neighbouring pixels.
template <class Key>
struct Packing {
  using Value = network::Pair;
  static constexpr int lanes = 2;
  static __device__ Value pack(Key first, Key second) { return {first | std::uint32_t{second} << 16}; }
  static __device__ Key unpack(Value value, int lane) { return static_cast<Key>(value.word >> 16 * lane); }
};
template <>
struct Packing<FloatKey> {
  using Value = FloatKey;
  static constexpr int lanes = 1;
  static __device__ Value pack(FloatKey first, FloatKey) { return first; }
  static __device__ FloatKey unpack(Value value, int) { return value; }
};

/// The pixels around a thread's columns.
template <class Key, int Reach>
class NetworkColumns {
 public:
  using Word = Packing<Key>;
  using Value = typename Word::Value;
  static constexpr int pixels = 2 * Word::lanes;  ///< of a thread
  static constexpr int words = 2 * Reach + 2;     ///< columns of words that they see
  static constexpr int keys = words + pixels - 2;
  using Pixels = Vector<Key, pixels>;

  __device__ NetworkColumns(const RankArguments& run, int x, bool aligned)
      : run_(run), x_(x), border_(run.job.border) {
    // The frame, where windows shrink, is done by other blocks.
    if (border_ == Border::shrink) border_ = Border::clamp;
    whole_ = aligned && x >= pixels && x + 2 * pixels <= run.job.width;
    if (whole_) return;
#pragma unroll
    for (int i = 0; i < keys; ++i) {
      const int from = place_of(x - Reach + i, run.job.width, border_);
      places_[i] = from < 0 ? -1 : from * run.job.channels + run.channel;
    }
  }

  __device__ void read(int y, Value (&row)[words]) const {
    const int from_y = place_of(y, run_.job.height, border_);
    const Key* from = row_of<Key>(run_.source, from_y);
    Key values[keys];
    if (whole_ && from_y >= 0) {
      read_whole(from + x_ - pixels, values);
    } else {
#pragma unroll
      for (int i = 0; i < keys; ++i)
        values[i] =
            from_y < 0 || places_[i] < 0 ? outside_key<Key>(run_) : turn_key(__ldg(from + places_[i]));
    }
#pragma unroll
    for (int i = 0; i < words; ++i) row[i] = Word::pack(values[i], values[i + pixels - 2]);
  }

 private:
  static __device__ void read_whole(const Key* from, Key (&values)[keys]) {
    Pixels three[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) three[i] = reinterpret_cast<const Pixels*>(from)[i];
#pragma unroll
    for (int i = 0; i < keys; ++i) {
      const int place = pixels - Reach + i;
      values[i] = turn_key(three[place / pixels].of[place % pixels]);
    }
  }

  const RankArguments& run_;
  int x_;
  Border border_;
  bool whole_;  ///< all pixels are there, in words
  int places_[keys] = {};
};

/// The medians of both words of a row, from their sorted columns.
template <int Reach, class Value>
__device__ void medians_of_row(const Value (&columns)[2 * Reach + 2][2 * Reach + 1], Value (&medians)[2]) {
  constexpr int size = 2 * Reach + 1;
  Value rows[size][size - 1];
  Value left[size];
  Value right[size];
#pragma unroll
  for (int i = 0; i < size; ++i) {
#pragma unroll
    for (int c = 1; c < size; ++c) rows[i][c - 1] = columns[c][i];
    network::sort(rows[i]);
    left[i] = columns[0][i];
    right[i] = columns[size][i];
  }
  medians[0] = network::median_of<size>(rows, left);
  medians[1] = network::median_of<size>(rows, right);
}

/// The pixels that the strips write: all of them, or those that the frame leaves.
struct Inner {
  int left, right, top, bottom;

  __device__ Inner(const RankJob& job, int reach) {
    const int frame = job.border == Border::shrink ? reach : 0;
    left = top = frame;
    right = static_cast<int>(job.width) - frame;
    bottom = static_cast<int>(job.height) - frame;
  }
};

template <class Key, class Value>
__device__ void store_medians(const RankArguments& run, const Inner& inner, bool aligned, int x, int y,
                              const Value (&medians)[2]) {
  using Word = Packing<Key>;
  constexpr int pixels = 2 * Word::lanes;
  if (y < inner.top || y >= inner.bottom) return;
  Vector<Key, pixels> keys;
#pragma unroll
  for (int i = 0; i < pixels; ++i) keys.of[i] = Word::unpack(medians[i % 2], i / 2);
  if (aligned && x >= inner.left && x + pixels <= inner.right) {
#pragma unroll
    for (int i = 0; i < pixels; ++i) keys.of[i] = run.plain ? turn_key(keys.of[i]) : keys.of[i];
    *reinterpret_cast<Vector<Key, pixels>*>(row_of<Key>(run.output, y) + x) = keys;
    return;
  }
#pragma unroll
  for (int i = 0; i < pixels; ++i)
    if (x + i >= inner.left && x + i < inner.right) store_key(run, x + i, y, keys.of[i]);
}

/// The median of the values of a window that shrinks: of a whole one in which small and large values stand in
/// for what is missing, so many of them that the rank is in the middle.
template <class Key, int Reach>
__device__ Key shrunk_median(const RankArguments& run, int x, int y) {
  constexpr int size = 2 * Reach + 1;
  const auto columns = static_cast<int>(existing(window_around(x, Reach), run.job.width));
  const auto rows = static_cast<int>(existing(window_around(y, Reach), run.job.height));
  int small = (size * size + 1) / 2 - static_cast<int>(rank_of(run.job.percent, columns * rows));
  std::int32_t sorted[size][size];
  for (int c = 0; c < size; ++c) {
    const int from_x = x - Reach + c;
    std::int32_t values[size];
    for (int i = 0; i < size; ++i) {
      const int from_y = y - Reach + i;
      const bool inside = from_x >= 0 && from_x < run.job.width && from_y >= 0 && from_y < run.job.height;
      values[i] = inside        ? static_cast<std::int32_t>(key_at<Key>(run, from_x, from_y))
                  : small-- > 0 ? neutral_key<FloatKey>(Extreme::maximum)
                                : neutral_key<FloatKey>(Extreme::minimum);
    }
    network::sort_column(values, sorted[c]);
  }
  std::int32_t of_rows[size][size - 1];
  std::int32_t last[size];
  for (int i = 0; i < size; ++i) {
    for (int c = 1; c < size; ++c) of_rows[i][c - 1] = sorted[c][i];
    network::sort(of_rows[i]);
    last[i] = sorted[0][i];
  }
  return static_cast<Key>(network::median_of<size>(of_rows, last));
}

/// Pixels whose windows leave the picture: rows above and below, then what is left and right of the others.
template <class Key, int Reach>
__device__ void find_frame(const RankArguments& run, int i) {
  const auto width = static_cast<int>(run.job.width);
  const auto height = static_cast<int>(run.job.height);
  const int rows = min(height, 2 * Reach);
  const int columns = min(width, 2 * Reach);
  const auto behind = [](int place, int count, int size) {
    return place < Reach ? place : size - count + place;
  };
  int x = 0;
  int y = 0;
  if (i < rows * width) {
    x = i % width;
    y = behind(i / width, rows, height);
  } else {
    i -= rows * width;
    if (i >= columns * (height - rows)) return;
    x = behind(i % columns, columns, width);
    y = Reach + i / columns;
  }
  store_key(run, x, y, shrunk_median<Key, Reach>(run, x, y));
}

/// The medians of a thread's columns, from one row on.
template <class Key, int Reach>
__device__ void find_strip(const RankArguments& run, bool aligned, int x, int first_y) {
  using Columns = NetworkColumns<Key, Reach>;
  using Value = typename Columns::Value;
  constexpr int size = 2 * Reach + 1;
  const auto height = static_cast<int>(run.job.height);
  const Inner inner(run.job, Reach);
  const Columns columns(run, x, aligned);
  Value rows[size + 1][Columns::words];
#pragma unroll
  for (int i = 0; i < size - 1; ++i) columns.read(first_y - Reach + i, rows[i]);
#pragma unroll 2
  for (int y = first_y; y < min(first_y + network_rows, height); y += 2) {
    columns.read(y + Reach, rows[size - 1]);
    columns.read(y + Reach + 1, rows[size]);
    Value upper[Columns::words][size];
    Value lower[Columns::words][size];
#pragma unroll
    for (int c = 0; c < Columns::words; ++c) {
      Value shared[size - 1];
#pragma unroll
      for (int i = 1; i < size; ++i) shared[i - 1] = rows[i][c];
      network::sort(shared);
#pragma unroll
      for (int i = 0; i < size; ++i) {
        upper[c][i] = network::rank_with(shared, rows[0][c], i);
        lower[c][i] = network::rank_with(shared, rows[size][c], i);
      }
    }
    Value medians[2];
    medians_of_row<Reach>(upper, medians);
    store_medians<Key>(run, inner, aligned, x, y, medians);
    medians_of_row<Reach>(lower, medians);
    store_medians<Key>(run, inner, aligned, x, y + 1, medians);
#pragma unroll
    for (int i = 0; i < size - 1; ++i)
#pragma unroll
      for (int c = 0; c < Columns::words; ++c) rows[i][c] = rows[i + 2][c];
  }
}

/// The first rows of blocks are the frame's, whose threads have a pixel each.
template <class Key, int Reach>
__global__ void __launch_bounds__(network_warps* warp_size)
    find_medians(const __grid_constant__ RankArguments run, bool aligned, int frame_rows) {
  const auto row = static_cast<int>(blockIdx.y);
  const auto thread = static_cast<int>(threadIdx.x);
  if (row < frame_rows) {
    const auto block = row * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
    return find_frame<Key, Reach>(run, block * network_warps * warp_size + thread);
  }
  const int x =
      (static_cast<int>(blockIdx.x) * warp_size + lane_index()) * NetworkColumns<Key, Reach>::pixels;
  const int strip = (row - frame_rows) * network_warps + thread / warp_size;
  if (x < run.job.width) find_strip<Key, Reach>(run, aligned, x, strip * network_rows);
}

template <class Key, int Reach>
void launch_network(const RankArguments& arguments, StreamHandle stream) {
  const RankJob& job = arguments.job;
  constexpr int threads = network_warps * warp_size;
  constexpr int pixels = NetworkColumns<Key, Reach>::pixels;
  constexpr int rows = network_warps * network_rows;
  const auto address = [](const void* data, std::int64_t row) {
    return reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(row);
  };
  const auto alignment = address(arguments.source.data, arguments.source.row) |
                         address(arguments.output.data, arguments.output.row);
  const bool aligned = job.channels == 1 && alignment % (pixels * sizeof(Key)) == 0;
  const std::int64_t across = (job.width + pixels * warp_size - 1) / (pixels * warp_size);
  const std::int64_t frame = job.border == Border::shrink ? 2 * Reach * (job.width + job.height) : 0;
  const std::int64_t frame_rows = (frame + threads * across - 1) / (threads * across);
  const dim3 blocks(static_cast<unsigned>(across),
                    static_cast<unsigned>(frame_rows + (job.height + rows - 1) / rows));
  find_medians<Key, Reach><<<blocks, threads, 0, stream>>>(arguments, aligned, static_cast<int>(frame_rows));
}

}  // namespace

void ranks_by_network(const RankArguments& arguments, StreamHandle stream) {
  with_key(arguments.job.type, [&]<class Key>() {
    if (arguments.job.reach.x == 1) return launch_network<Key, 1>(arguments, stream);
    launch_network<Key, 2>(arguments, stream);
  });
}

}  // namespace satin::kernels
