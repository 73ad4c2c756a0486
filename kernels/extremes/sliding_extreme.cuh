#pragma once
// sliding minima and maxima of keys, four bytes a thread.
//
// Rows: a tile in shared memory; windows are joined from up to four windows of a quarter of the size.
//
// Columns: a thread has `Chunk` outputs below each other. What all their windows share is looked at once, and
// the rest of a window is the end of the rows above that part and the beginning of those below it: a suffix
// and a prefix, as van Herk (1992) and Gil and Werman (1993) have them, but with segments of the outputs, so
// that the suffixes stay in registers. If the shared part is long, its rows come in groups of 32 whose
// extremes have been joined before.

#include "kernels/device/launch.h"
#include "kernels/device/tuning.h"
#include "kernels/extremes/launch.h"
#include "kernels/extremes/packed_keys.cuh"

namespace satin::kernels {

inline constexpr int group_rows = 32;

/// What is uniform in the pass along rows.
struct RowPass {
  const std::byte* source;
  std::int64_t source_row;
  KeyRows keys;
  std::int64_t row_bytes;
  std::int64_t height;
  std::int64_t tile;  ///< bytes of a row that a block is for, a multiple of 4
  int pixel_bytes;
  int window;  ///< pixels
  int margin;  ///< bytes that a window reaches to either side of its pixel
  int buffer_words;
  bool wraps;
  bool stored;
  bool aligned;  ///< rows of the source begin at multiples of 4 bytes
};

/// Four bytes of a row that is extended beyond its ends.
template <class Key, Extreme Wanted>
__device__ std::uint32_t extended_word(const RowPass& pass, const std::byte* row, std::int64_t from) {
  using Keys = PackedKeys<Key, Wanted>;
  if (pass.aligned && from >= 0 && from + word_bytes <= pass.row_bytes) {
    const std::uint32_t word = __ldg(reinterpret_cast<const std::uint32_t*>(row + from));
    if constexpr (sizeof(Key) == word_bytes) {
      return pass.stored ? static_cast<std::uint32_t>(turn_key(static_cast<Key>(word))) : word;
    } else {
      return word;
    }
  }
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < Keys::per_word; ++i) {
    std::int64_t at = from + i * static_cast<int>(sizeof(Key));
    Key key = neutral_key<Key>(Wanted);
    if (pass.wraps && (at < 0 || at >= pass.row_bytes)) {
      at %= pass.row_bytes;
      if (at < 0) at += pass.row_bytes;
    }
    if (at >= 0 && at < pass.row_bytes) {
      key = __ldg(reinterpret_cast<const Key*>(row + at));
      if (pass.stored) key = turn_key(key);
    }
    if constexpr (sizeof(Key) == word_bytes) {
      word = static_cast<std::uint32_t>(key);
    } else {
      word |= Keys::placed(key, i);
    }
  }
  return word;
}

/// Joins windows at byte `from` of a larger one: pieces of `size` pixels that overlap where they must.
template <class Key, Extreme Wanted>
__device__ std::uint32_t joined_windows(const std::uint32_t* words, int from, int size, int joined,
                                        int pixel_bytes) {
  std::uint32_t value = word_at<Key>(words, from);
  for (int next = size; next < joined; next += size)
    value = PackedKeys<Key, Wanted>::join(value,
                                          word_at<Key>(words, from + min(next, joined - size) * pixel_bytes));
  return value;
}

template <class Key, Extreme Wanted>
__global__ void __launch_bounds__(tuning::extreme_row_threads)
    extremes_of_rows(const __grid_constant__ RowPass pass) {
  extern __shared__ std::uint32_t buffers[];
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * pass.tile;
  const auto tile = static_cast<int>(min(pass.tile, pass.row_bytes - begin));
  const int before = (pass.margin + word_bytes - 1) / word_bytes * word_bytes;
  const int first_window = before - pass.margin;  // byte of the buffer where the first output's begins
  const auto thread = static_cast<int>(threadIdx.x);
  for (std::int64_t y = blockIdx.y; y < pass.height; y += gridDim.y) {
    std::uint32_t* windows = buffers;
    std::uint32_t* larger = buffers + pass.buffer_words;
    for (int i = thread; i < pass.buffer_words; i += static_cast<int>(blockDim.x))
      windows[i] = extended_word<Key, Wanted>(pass, pass.source + y * pass.source_row,
                                              begin - before + static_cast<std::int64_t>(i) * word_bytes);
    __syncthreads();
    int size = 1;
    while (true) {
      const auto joined = static_cast<int>(joined_size(size, pass.window));
      if (joined == pass.window) break;
      const int end = first_window + tile + (pass.window - joined) * pass.pixel_bytes;
      for (int i = thread; i * word_bytes < end; i += static_cast<int>(blockDim.x))
        larger[i] = joined_windows<Key, Wanted>(windows, i * word_bytes, size, joined, pass.pixel_bytes);
      __syncthreads();
      std::uint32_t* const smaller = windows;
      windows = larger;
      larger = smaller;
      size = joined;
    }
    auto* out = reinterpret_cast<std::uint32_t*>(pass.keys.data + y * pass.keys.row + begin);
    for (int i = thread; i * word_bytes < tile; i += static_cast<int>(blockDim.x))
      out[i] = joined_windows<Key, Wanted>(windows, first_window + i * word_bytes, size, pass.window,
                                           pass.pixel_bytes);
    __syncthreads();  // the next row may overwrite the windows
  }
}

/// Rows of keys, extended beyond the picture, of which a thread reads one word.
template <class Key, Extreme Wanted>
struct KeyColumn {
  const std::byte* data;
  std::int64_t row;
  std::int64_t height;
  bool wraps;

  /// The word at a position from -height to 2 height - 1.
  __device__ std::uint32_t at(std::int64_t y) const {
    if (wraps) {
      y += y < 0 ? height : y >= height ? -height : 0;
    } else if (y < 0 || y >= height) {
      return PackedKeys<Key, Wanted>::neutral();
    }
    return __ldg(reinterpret_cast<const std::uint32_t*>(data + y * row));
  }
};

/// What is uniform in the pass down columns.
struct ColumnPass {
  KeyRows keys;
  std::int64_t row_bytes;
  std::int64_t height;
  std::int64_t reach;
  std::int64_t groups;  ///< whole groups in the rows that the windows of a chunk share
  KeyRows group_keys;   ///< row q: the extremes of the groups that chunk q shares
  bool wraps;
  bool plain;
  bool aligned;   ///< rows of the output begin at multiples of 4 bytes
  bool constant;  ///< windows that leave the picture see one value outside
  int channels;
  std::int64_t width;
  std::int64_t reach_x;  ///< of the job, as those beyond the picture count here
  std::int64_t reach_y;
  std::int32_t outside[4];
  Target output;
};

/// What a thread's four bytes see outside the picture: in rows whose windows leave it, and in the others.
template <class Key, Extreme Wanted>
struct Outside {
  std::uint32_t above;
  std::uint32_t beside;

  __device__ Outside(const ColumnPass& pass, std::int64_t column) {
    using Keys = PackedKeys<Key, Wanted>;
    above = beside = Keys::neutral();
    if (!pass.constant) return;
    above = beside = 0;
#pragma unroll
    for (int i = 0; i < Keys::per_word; ++i) {
      const std::int64_t element = column * Keys::per_word + i;
      const auto key = static_cast<Key>(pass.outside[element % pass.channels]);
      const bool seen = leaves(element / pass.channels, pass.reach_x, pass.width);
      above |= Keys::placed(key, i);
      beside |= Keys::placed(seen ? key : neutral_key<Key>(Wanted), i);
    }
  }
};

template <class Key, Extreme Wanted>
__device__ void store_word(const ColumnPass& pass, std::int64_t column, std::int64_t y, std::uint32_t word) {
  using Keys = PackedKeys<Key, Wanted>;
  if constexpr (sizeof(Key) == word_bytes) {
    if (pass.plain) word = static_cast<std::uint32_t>(turn_key(static_cast<Key>(word)));
  }
  std::byte* to = pass.output.data + y * pass.output.row + column * word_bytes;
  const std::int64_t left = pass.row_bytes - column * word_bytes;
  if (pass.aligned && left >= word_bytes) {
    *reinterpret_cast<std::uint32_t*>(to) = word;
    return;
  }
#pragma unroll
  for (int i = 0; i < Keys::per_word; ++i)
    if (i * static_cast<int>(sizeof(Key)) < left)
      reinterpret_cast<Key*>(to)[i] = static_cast<Key>(word >> (8 * static_cast<int>(sizeof(Key)) * i));
}

/// The rows that the windows of all outputs of a chunk share, from `chunk rows` above reach to below it.
template <int Chunk, class Key, Extreme Wanted>
__device__ std::uint32_t shared_rows(const ColumnPass& pass, const KeyColumn<Key, Wanted>& rows,
                                     std::int64_t column, std::int64_t chunk) {
  using Keys = PackedKeys<Key, Wanted>;
  std::uint32_t shared = Keys::neutral();
  const std::int64_t first = chunk * Chunk;
  std::int64_t y = first - pass.reach + Chunk;
  if (pass.groups != 0) {
    const std::byte* of_groups = pass.group_keys.data + chunk * pass.group_keys.row + column * word_bytes;
    shared = __ldg(reinterpret_cast<const std::uint32_t*>(of_groups));
    y += pass.groups * group_rows;
  }
#pragma unroll 8
  for (; y < first + pass.reach; ++y) shared = Keys::join(shared, rows.at(y));
  return shared;
}

template <int Chunk, class Key, Extreme Wanted>
__global__ void __launch_bounds__(tuning::extreme_column_threads)
    extremes_of_columns(const __grid_constant__ ColumnPass pass) {
  using Keys = PackedKeys<Key, Wanted>;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column * word_bytes >= pass.row_bytes) return;
  const KeyColumn<Key, Wanted> rows{pass.keys.data + column * word_bytes, pass.keys.row, pass.height,
                                    pass.wraps};
  const Outside<Key, Wanted> outside(pass, column);
  const std::int64_t chunks = (pass.height + Chunk - 1) / Chunk;
  for (std::int64_t chunk = blockIdx.y; chunk < chunks; chunk += gridDim.y) {
    const std::int64_t first = chunk * Chunk;
    std::uint32_t suffix[Chunk];
#pragma unroll
    for (int i = 0; i < Chunk; ++i) suffix[i] = rows.at(first - pass.reach + i);
    const std::uint32_t shared = shared_rows<Chunk>(pass, rows, column, chunk);
#pragma unroll
    for (int i = Chunk - 1; i-- > 0;) suffix[i] = Keys::join(suffix[i], suffix[i + 1]);
    std::uint32_t prefix = shared;
#pragma unroll
    for (int i = 0; i < Chunk; ++i) {
      const std::int64_t y = first + i;
      if (y >= pass.height) break;
      prefix = Keys::join(prefix, rows.at(y + pass.reach));
      std::uint32_t value = Keys::join(suffix[i], prefix);
      if (pass.constant)
        value = Keys::join(value, leaves(y, pass.reach_y, pass.height) ? outside.above : outside.beside);
      store_word<Key, Wanted>(pass, column, y, value);
    }
  }
}

/// Row j of the groups: the extremes of 32 rows from 32 (j + 1) - reach on.
template <class Key, Extreme Wanted>
__global__ void __launch_bounds__(tuning::extreme_column_threads)
    extremes_of_groups(const __grid_constant__ ColumnPass pass, const KeyRows groups, std::int64_t count) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column * word_bytes >= pass.row_bytes) return;
  const KeyColumn<Key, Wanted> rows{pass.keys.data + column * word_bytes, pass.keys.row, pass.height,
                                    pass.wraps};
  for (std::int64_t j = blockIdx.y; j < count; j += gridDim.y) {
    const std::int64_t first = group_rows * (j + 1) - pass.reach;
    std::uint32_t value = PackedKeys<Key, Wanted>::neutral();
#pragma unroll 8
    for (int i = 0; i < group_rows; ++i) value = PackedKeys<Key, Wanted>::join(value, rows.at(first + i));
    *reinterpret_cast<std::uint32_t*>(groups.data + j * groups.row + column * word_bytes) = value;
  }
}

/// Row j becomes the extreme of `joined` rows from j on, from rows that are extremes of `size` of them.
template <class Key, Extreme Wanted>
__global__ void __launch_bounds__(tuning::extreme_column_threads)
    join_groups(const KeyRows from, const KeyRows to, std::int64_t row_bytes, std::int64_t count,
                std::int64_t size, std::int64_t joined) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column * word_bytes >= row_bytes) return;
  for (std::int64_t j = blockIdx.y; j < count; j += gridDim.y) {
    const auto row = [&](std::int64_t index) {
      return __ldg(
          reinterpret_cast<const std::uint32_t*>(from.data + index * from.row + column * word_bytes));
    };
    std::uint32_t value = row(j);
    for (std::int64_t next = size; next < joined; next += size)
      value = PackedKeys<Key, Wanted>::join(value, row(j + min(next, joined - size)));
    *reinterpret_cast<std::uint32_t*>(to.data + j * to.row + column * word_bytes) = value;
  }
}

}  // namespace satin::kernels
