// Medians of small windows. A thread has two words of pixels side by side, pair by pair of rows: what two
// rows of windows share of a column is sorted once, and what two words share of a row.

#include <cstdint>

namespace satin::kernels::network {

/// Two values of 16 bits.
struct Pair {
  std::uint32_t word;
};
__device__ inline Pair least(Pair a, Pair b) { return {__vminu2(a.word, b.word)}; }
__device__ inline Pair most(Pair a, Pair b) { return {__vmaxu2(a.word, b.word)}; }
__device__ inline std::int32_t least(std::int32_t a, std::int32_t b) { return min(a, b); }
__device__ inline std::int32_t most(std::int32_t a, std::int32_t b) { return max(a, b); }

}  // namespace satin::kernels::network

#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/order/rank_network.cuh"
#include "kernels/order/rank_plane.cuh"

namespace satin::kernels {
namespace {

constexpr int network_warps = 4;  // of a block, each with rows of its own
constexpr int network_rows = 8;   // of a thread
constexpr int frame_threads = 128;

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

  __device__ NetworkColumns(const RankArguments& run, int x) : run_(run), border_(run.job.border) {
    // The frame, where windows shrink, is done by another kernel.
    if (border_ == Border::shrink) border_ = Border::clamp;
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
#pragma unroll
    for (int i = 0; i < keys; ++i)
      values[i] = from_y < 0 || places_[i] < 0 ? outside_key<Key>(run_) : turn_key(__ldg(from + places_[i]));
#pragma unroll
    for (int i = 0; i < words; ++i) row[i] = Word::pack(values[i], values[i + pixels - 2]);
  }

 private:
  const RankArguments& run_;
  Border border_;
  int places_[keys];
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

template <class Key, class Value>
__device__ void store_medians(const RankArguments& run, bool whole, int x, int y, const Value (&medians)[2]) {
  using Word = Packing<Key>;
  constexpr int pixels = 2 * Word::lanes;
  Vector<Key, pixels> keys;
#pragma unroll
  for (int i = 0; i < pixels; ++i) keys.of[i] = Word::unpack(medians[i % 2], i / 2);
  if (whole) {
#pragma unroll
    for (int i = 0; i < pixels; ++i) keys.of[i] = run.plain ? turn_key(keys.of[i]) : keys.of[i];
    *reinterpret_cast<Vector<Key, pixels>*>(row_of<Key>(run.output, y) + x) = keys;
    return;
  }
#pragma unroll
  for (int i = 0; i < pixels; ++i)
    if (x + i < run.job.width) store_key(run, x + i, y, keys.of[i]);
}

template <class Key, int Reach>
__global__ void __launch_bounds__(network_warps* warp_size)
    find_medians(const __grid_constant__ RankArguments run, bool aligned) {
  using Columns = NetworkColumns<Key, Reach>;
  using Value = typename Columns::Value;
  constexpr int size = 2 * Reach + 1;
  const int x = (static_cast<int>(blockIdx.x) * warp_size + lane_index()) * Columns::pixels;
  if (x >= run.job.width) return;
  const bool whole = aligned && x + Columns::pixels <= run.job.width;
  const int strip = static_cast<int>(blockIdx.y) * network_warps + static_cast<int>(threadIdx.x) / warp_size;
  const int first_y = strip * network_rows;
  const int height = static_cast<int>(run.job.height);
  const Columns columns(run, x);
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
    store_medians<Key>(run, whole, x, y, medians);
    if (y + 1 < height) {
      medians_of_row<Reach>(lower, medians);
      store_medians<Key>(run, whole, x, y + 1, medians);
    }
#pragma unroll
    for (int i = 0; i < size - 1; ++i)
#pragma unroll
      for (int c = 0; c < Columns::words; ++c) rows[i][c] = rows[i + 2][c];
  }
}

/// The rank of a window that shrinks, by counting what is below each of its keys.
template <class Key>
__device__ Key shrunk_rank(const RankArguments& run, int x, int y) {
  const int left = max(x - run.job.reach.x, 0);
  const int right = min(x + run.job.reach.x, static_cast<int>(run.job.width) - 1);
  const int top = max(y - run.job.reach.y, 0);
  const int bottom = min(y + run.job.reach.y, static_cast<int>(run.job.height) - 1);
  const auto each = [&](const auto& action) {
    for (int j = top; j <= bottom; ++j)
      for (int i = left; i <= right; ++i) action(key_at<Key>(run, i, j));
  };
  const auto count = static_cast<std::uint32_t>((right - left + 1) * (bottom - top + 1));
  const std::uint32_t rank = rank_of(run.job.percent, count);
  Key wanted = key_at<Key>(run, x, y);
  each([&](Key candidate) {
    std::uint32_t smaller = 0;
    std::uint32_t equal = 0;
    each([&](Key key) {
      smaller += key < candidate ? 1 : 0;
      equal += key == candidate ? 1 : 0;
    });
    if (smaller < rank && rank <= smaller + equal) wanted = candidate;
  });
  return wanted;
}

/// Pixels whose windows leave the picture: rows above and below, then what is left and right of the others.
template <class Key>
__global__ void __launch_bounds__(frame_threads) find_frame(const __grid_constant__ RankArguments run) {
  const auto width = static_cast<int>(run.job.width);
  const auto height = static_cast<int>(run.job.height);
  const int rows = min(height, 2 * run.job.reach.y);
  const int columns = min(width, 2 * run.job.reach.x);
  const auto behind = [](int i, int reach, int count, int size) { return i < reach ? i : size - count + i; };
  int i = static_cast<int>(blockIdx.x) * frame_threads + static_cast<int>(threadIdx.x);
  int x = 0;
  int y = 0;
  if (i < rows * width) {
    x = i % width;
    y = behind(i / width, run.job.reach.y, rows, height);
  } else {
    i -= rows * width;
    if (i >= columns * (height - rows)) return;
    x = behind(i % columns, run.job.reach.x, columns, width);
    y = run.job.reach.y + i / columns;
  }
  store_key(run, x, y, shrunk_rank<Key>(run, x, y));
}

template <class Key, int Reach>
void launch_network(const RankArguments& arguments, StreamHandle stream) {
  const RankJob& job = arguments.job;
  constexpr int columns = NetworkColumns<Key, Reach>::pixels * warp_size;
  constexpr int rows = network_warps * network_rows;
  const auto alignment = reinterpret_cast<std::uintptr_t>(arguments.output.data) |
                         static_cast<std::uintptr_t>(arguments.output.row);
  const bool aligned =
      job.channels == 1 && alignment % (NetworkColumns<Key, Reach>::pixels * sizeof(Key)) == 0;
  find_medians<Key, Reach><<<dim3(static_cast<unsigned>((job.width + columns - 1) / columns),
                                  static_cast<unsigned>((job.height + rows - 1) / rows)),
                             network_warps * warp_size, 0, stream>>>(arguments, aligned);
  if (job.border != Border::shrink) return;
  const std::int64_t frame = 2 * Reach * (job.width + job.height);
  find_frame<Key>
      <<<static_cast<unsigned>((frame + frame_threads - 1) / frame_threads), frame_threads, 0, stream>>>(
          arguments);
}

}  // namespace

void ranks_by_network(const RankArguments& arguments, StreamHandle stream) {
  with_key(arguments.job.type, [&]<class Key>() {
    if (arguments.job.reach.x == 1) return launch_network<Key, 1>(arguments, stream);
    launch_network<Key, 2>(arguments, stream);
  });
}

}  // namespace satin::kernels
