#pragma once
// Reading and storing medians of square windows, and the medians of pixels whose windows leave a picture that
// shrinks them.

#include <algorithm>
#include <cstdint>

#include "kernels/device/vector.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/order/rank_plane.cuh"

namespace satin::kernels {

inline constexpr int frame_threads = 256;

/// True if `Pixels` keys at the beginning of a row, or a multiple of them further on, are an aligned vector.
template <class Key, int Pixels>
bool is_aligned(const void* data, std::int64_t row) {
  return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(row)) %
             (Pixels * sizeof(Key)) ==
         0;
}

/// The pixels whose windows do not shrink: all of them, or those that the frame leaves.
struct Inner {
  int left, right, top, bottom;

  __device__ Inner(const RankJob& job, int reach) {
    const int frame = job.border == Border::shrink ? reach : 0;
    left = top = frame;
    right = static_cast<int>(job.width) - frame;
    bottom = static_cast<int>(job.height) - frame;
  }
};

/// Stores those of the keys that are inner ones, from pixel x of row y on.
template <class Key, int Pixels>
__device__ void store_inner(const RankArguments& run, const Inner& inner, bool aligned, int x, int y,
                            Vector<Key, Pixels> keys) {
  if (y < inner.top || y >= inner.bottom) return;
  if (aligned && x >= inner.left && x + Pixels <= inner.right) {
#pragma unroll
    for (Key& key : keys.of) key = run.plain ? turn_key(key) : key;
    *reinterpret_cast<Vector<Key, Pixels>*>(row_of<Key>(run.output, y) + x) = keys;
    return;
  }
#pragma unroll
  for (int i = 0; i < Pixels; ++i)
    if (x + i >= inner.left && x + i < inner.right) store_key(run, x + i, y, keys.of[i]);
}

/// The key of a place of the picture that read_place() has found: -1 is outside.
template <class Key>
__device__ Key key_or_outside(const RankArguments& run, int x, int y) {
  return x < 0 || y < 0 ? outside_key<Key>(run) : key_at<Key>(run, x, y);
}

/// The position that inner pixels read for this one, or -1. The window of the last pixel ends with the
/// picture and its reach.
template <int Reach>
__device__ int read_place(int position, std::int64_t size, Border border) {
  return place_of(min(position, static_cast<int>(size) + Reach - 1), size,
                  border == Border::shrink ? Border::clamp : border);
}

namespace frame {

/// Keys as unsigned numbers, in their order.
template <class Key>
inline constexpr std::uint32_t sign_of = std::is_same_v<Key, FloatKey> ? 0x80000000U : 0;

/// The median of a window that shrinks, bit by bit: a warp counts the values that are not above a bound.
template <class Key, int Reach>
__device__ Key shrunk_median(const RankArguments& run, int x, int y) {
  constexpr int side = 2 * Reach + 1;
  constexpr int of_lane = (side * side + warp_size - 1) / warp_size;
  std::uint32_t values[of_lane];
  std::uint32_t count = 0;
#pragma unroll
  for (int i = 0; i < of_lane; ++i) {
    const int place = i * warp_size + lane_index();
    const int from_x = x - Reach + place % side;
    const int from_y = y - Reach + place / side;
    const bool exists = place < side * side && from_x >= 0 && from_x < run.job.width && from_y >= 0 &&
                        from_y < run.job.height;
    values[i] =
        exists ? static_cast<std::uint32_t>(key_at<Key>(run, from_x, from_y)) ^ sign_of<Key> : 0xFFFFFFFFU;
    count += exists ? 1 : 0;
  }
  const std::uint32_t rank = rank_of(run.job.percent, sum_of_lanes(count));
  std::uint32_t median = 0;
  for (int bit = 8 * static_cast<int>(sizeof(Key)) - 1; bit >= 0; --bit) {
    const std::uint32_t bound = median + (1U << bit) - 1;
    std::uint32_t met = 0;
#pragma unroll
    for (const std::uint32_t value : values) met += value <= bound ? 1 : 0;
    if (sum_of_lanes(met) < rank) median += 1U << bit;
  }
  return static_cast<Key>(median ^ sign_of<Key>);
}

/// A pixel a warp: rows above and below, then what is left and right of the others.
template <class Key, int Reach>
__global__ void __launch_bounds__(frame_threads) find_frame(const __grid_constant__ RankArguments run) {
  const auto width = static_cast<int>(run.job.width);
  const auto height = static_cast<int>(run.job.height);
  const int rows = min(height, 2 * Reach);
  const int columns = min(width, 2 * Reach);
  const auto behind = [](int place, int count, int size) {
    return place < Reach ? place : size - count + place;
  };
  auto i = static_cast<std::int64_t>(blockIdx.x) * (frame_threads / warp_size) + threadIdx.x / warp_size;
  int x = 0;
  int y = 0;
  if (i < std::int64_t{rows} * width) {
    x = static_cast<int>(i % width);
    y = behind(static_cast<int>(i / width), rows, height);
  } else {
    i -= std::int64_t{rows} * width;
    if (i >= std::int64_t{columns} * (height - rows)) return;
    x = behind(static_cast<int>(i % columns), columns, width);
    y = Reach + static_cast<int>(i / columns);
  }
  const Key median = shrunk_median<Key, Reach>(run, x, y);
  if (lane_index() == 0) store_key(run, x, y, median);
}

}  // namespace frame

/// The medians of the pixels that are not inner ones.
template <class Key, int Reach>
void launch_frame(const RankArguments& arguments, StreamHandle stream) {
  const RankJob& job = arguments.job;
  if (job.border != Border::shrink) return;
  constexpr int warps = frame_threads / warp_size;
  const std::int64_t pixels = std::min<std::int64_t>(job.height, 2 * Reach) * job.width +
                              std::min<std::int64_t>(job.width, 2 * Reach) * job.height;
  frame::find_frame<Key, Reach>
      <<<static_cast<unsigned>((pixels + warps - 1) / warps), frame_threads, 0, stream>>>(arguments);
}

}  // namespace satin::kernels
