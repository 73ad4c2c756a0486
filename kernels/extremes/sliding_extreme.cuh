#pragma once
// Sliding minima and maxima of keys, four bytes per thread, and their launches. Each type of keys is compiled
// in a source of its own (kernels/CMakeLists.txt).
//
// Rows: a block has a tile in shared memory. Windows are joined from up to four windows of a quarter of the
// size.
//
// Columns: a thread has `Chunk` outputs below each other. The rows that all their windows share are read
// once. The rest of a window is the end of the rows above the shared ones and the beginning of those below: a
// suffix and a prefix, as in van Herk (1992) and Gil and Werman (1993), but with segments of `Chunk` rows, so
// that the suffixes stay in registers. If there are many shared rows, they come in groups of 32, whose
// extremes have been joined before.

#include <algorithm>
#include <utility>

#include "kernels/device/launch.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/device/tuning.h"
#include "kernels/extremes/launch.h"

namespace satin::kernels {

inline constexpr int word_bytes = 4;

/// Joins four bytes. Hardware with comparisons of 16-bit pairs compares the odd bytes as the high halves of
/// pairs, where the even bytes do not matter, and then the even bytes alone.
template <Extreme Wanted>
__device__ inline std::uint32_t join_bytes(std::uint32_t a, std::uint32_t b) {
  constexpr bool least = Wanted == Extreme::minimum;
#if __CUDA_ARCH__ >= 900
  constexpr std::uint32_t even = 0x00FF00FFU;
  const std::uint32_t odd_bytes = least ? __vminu2(a, b) : __vmaxu2(a, b);
  const std::uint32_t even_bytes = least ? __vminu2(a & even, b & even) : __vmaxu2(a & even, b & even);
  return (odd_bytes & ~even) | even_bytes;
#else
  return least ? __vminu4(a, b) : __vmaxu4(a, b);
#endif
}

template <class Key, Extreme Wanted>
struct PackedKeys {
  static constexpr int per_word = word_bytes / static_cast<int>(sizeof(Key));

  __device__ static std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    if constexpr (sizeof(Key) == 1) {
      return join_bytes<Wanted>(a, b);
    } else if constexpr (sizeof(Key) == 2) {
      return Wanted == Extreme::minimum ? __vminu2(a, b) : __vmaxu2(a, b);
    } else {
      const auto x = static_cast<std::int32_t>(a);
      const auto y = static_cast<std::int32_t>(b);
      return static_cast<std::uint32_t>(Wanted == Extreme::minimum ? min(x, y) : max(x, y));
    }
  }

  __device__ static std::uint32_t neutral() {
    std::uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < per_word; ++i) word |= placed(neutral_key<Key>(Wanted), i);
    return word;
  }

  /// The key as element i of a word that is 0 elsewhere.
  __device__ static std::uint32_t placed(Key key, int i) {
    return static_cast<std::uint32_t>(key) << (8 * static_cast<int>(sizeof(Key)) * i);
  }
};

/// Returns four bytes from any byte of aligned words; `from` is a multiple of the key's size.
template <class Key>
__device__ std::uint32_t word_at(const std::uint32_t* words, int from) {
  const std::uint32_t low = words[from / word_bytes];
  if constexpr (sizeof(Key) == word_bytes) {
    return low;
  } else {
    const int behind = from % word_bytes;
    if (behind == 0) return low;
    return __funnelshift_r(low, words[from / word_bytes + 1], static_cast<unsigned>(8 * behind));
  }
}

struct RowPass : RowExtremeArguments {
  std::int64_t row_bytes = 0;
  int pixel_bytes = 1;
  int window = 1;  ///< pixels
  int margin = 0;  ///< bytes that a window reaches to either side of its pixel
  int buffer_words = 0;
  bool wraps = false;
  bool aligned = false;  ///< whether rows of the source begin at multiples of 4 bytes
};

/// Returns four bytes of a row that is extended beyond its ends.
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

/// Joins windows of `size` pixels, which may overlap, into the window of `joined` pixels at byte `from`.
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
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * pass.tile.bytes;
  const auto tile = static_cast<int>(min(pass.tile.bytes, pass.row_bytes - begin));
  const int before = (pass.margin + word_bytes - 1) / word_bytes * word_bytes;
  const int first_window = before - pass.margin;  // byte of the buffer where the first output's window begins
  const auto thread = static_cast<int>(threadIdx.x);
  for (std::int64_t y = blockIdx.y; y < pass.job.height; y += gridDim.y) {
    std::uint32_t* windows = buffers;
    std::uint32_t* larger = buffers + pass.buffer_words;
    for (int i = thread; i < pass.buffer_words; i += static_cast<int>(blockDim.x))
      windows[i] = extended_word<Key, Wanted>(pass, pass.source.data + y * pass.source.row,
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

/// One column of words of the keys, extended beyond the picture.
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

struct ColumnPass : ColumnExtremeArguments {
  std::int64_t row_bytes = 0;
  KeyRows shared_keys = {};  ///< row q: the extremes of the groups that chunk q shares
  bool wraps = false;
  bool aligned = false;   ///< whether rows of the output begin at multiples of 4 bytes
  bool constant = false;  ///< whether windows that leave the picture see the value `outside`
  std::int32_t outside[4] = {};
};

/// Values outside the picture that a thread's windows see.
template <class Key, Extreme Wanted>
struct Outside {
  std::uint32_t above;   ///< in rows whose windows leave the picture
  std::uint32_t beside;  ///< in the other rows

  __device__ Outside(const ColumnPass& pass, std::int64_t column) {
    using Keys = PackedKeys<Key, Wanted>;
    above = beside = Keys::neutral();
    if (!pass.constant) return;
    above = beside = 0;
#pragma unroll
    for (int i = 0; i < Keys::per_word; ++i) {
      const std::int64_t element = column * Keys::per_word + i;
      const auto key = static_cast<Key>(pass.outside[element % pass.job.channels]);
      const bool seen = leaves(element / pass.job.channels, pass.job.reach_x, pass.job.width);
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

template <int Chunk, class Key, Extreme Wanted>
__device__ std::uint32_t shared_rows(const ColumnPass& pass, const KeyColumn<Key, Wanted>& rows,
                                     std::int64_t column, std::int64_t chunk) {
  using Keys = PackedKeys<Key, Wanted>;
  std::uint32_t shared = Keys::neutral();
  const std::int64_t first = chunk * Chunk;
  std::int64_t y = first - pass.reach + Chunk;
  if (pass.groups.shared != 0) {
    const std::byte* of_groups = pass.shared_keys.data + chunk * pass.shared_keys.row + column * word_bytes;
    shared = __ldg(reinterpret_cast<const std::uint32_t*>(of_groups));
    y += pass.groups.shared * extreme_group_rows;
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
  const KeyColumn<Key, Wanted> rows{pass.keys.data + column * word_bytes, pass.keys.row, pass.job.height,
                                    pass.wraps};
  const Outside<Key, Wanted> outside(pass, column);
  const std::int64_t chunks = (pass.job.height + Chunk - 1) / Chunk;
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
      if (y >= pass.job.height) break;
      prefix = Keys::join(prefix, rows.at(y + pass.reach));
      std::uint32_t value = Keys::join(suffix[i], prefix);
      if (pass.constant)
        value =
            Keys::join(value, leaves(y, pass.job.reach_y, pass.job.height) ? outside.above : outside.beside);
      store_word<Key, Wanted>(pass, column, y, value);
    }
  }
}

/// Row j of the groups becomes the extremes of 32 rows from 32 (j + 1) - reach on.
template <class Key, Extreme Wanted>
__global__ void __launch_bounds__(tuning::extreme_column_threads)
    extremes_of_groups(const __grid_constant__ ColumnPass pass, const KeyRows groups, std::int64_t count) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column * word_bytes >= pass.row_bytes) return;
  const KeyColumn<Key, Wanted> rows{pass.keys.data + column * word_bytes, pass.keys.row, pass.job.height,
                                    pass.wraps};
  for (std::int64_t j = blockIdx.y; j < count; j += gridDim.y) {
    const std::int64_t first = extreme_group_rows * (j + 1) - pass.reach;
    std::uint32_t value = PackedKeys<Key, Wanted>::neutral();
#pragma unroll 8
    for (int i = 0; i < extreme_group_rows; ++i)
      value = PackedKeys<Key, Wanted>::join(value, rows.at(first + i));
    *reinterpret_cast<std::uint32_t*>(groups.data + j * groups.row + column * word_bytes) = value;
  }
}

/// Row j becomes the extreme of `joined` groups from j on, joined from rows that are extremes of `size`
/// groups.
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

template <class Action>
auto with_extreme(Extreme extreme, const Action& action) {
  return extreme == Extreme::minimum ? action.template operator()<Extreme::minimum>()
                                     : action.template operator()<Extreme::maximum>();
}

inline bool word_aligned(const std::byte* data, std::int64_t row) {
  return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(row)) % word_bytes == 0;
}

inline std::int64_t pixel_bytes_of(const SlidingExtremeJob& job) {
  return job.channels * static_cast<std::int64_t>(job.type == Type::u8 ? 1 : job.type == Type::u16 ? 2 : 4);
}

template <class Key>
int prepare_rows(Extreme extreme) {
  return with_extreme(
      extreme, [&]<Extreme Wanted>() { return allow_all_shared_memory(extremes_of_rows<Key, Wanted>); });
}

template <class Key>
void launch_rows(const RowExtremeArguments& arguments, StreamHandle stream) {
  const SlidingExtremeJob& job = arguments.job;
  const std::int64_t pixel_bytes = pixel_bytes_of(job);
  RowPass pass{arguments};
  pass.row_bytes = job.width * pixel_bytes;
  pass.pixel_bytes = static_cast<int>(pixel_bytes);
  pass.window = static_cast<int>(2 * arguments.reach + 1);
  pass.margin = static_cast<int>(arguments.reach * pixel_bytes);
  pass.buffer_words = static_cast<int>(arguments.tile.shared_bytes / 2 / word_bytes);
  pass.wraps = wraps(job);
  pass.aligned = word_aligned(pass.source.data, pass.source.row);
  const auto tiles = static_cast<unsigned>((pass.row_bytes + pass.tile.bytes - 1) / pass.tile.bytes);
  with_extreme(job.extreme, [&]<Extreme Wanted>() {
    extremes_of_rows<Key, Wanted><<<dim3(tiles, blocks_down(job.height)), tuning::extreme_row_threads,
                                    arguments.tile.shared_bytes, stream>>>(pass);
  });
}

inline ColumnPass column_pass(const ColumnExtremeArguments& arguments) {
  ColumnPass pass{arguments};
  pass.row_bytes = pass.job.width * pixel_bytes_of(pass.job);
  pass.wraps = wraps(pass.job);
  pass.aligned = word_aligned(pass.output.data, pass.output.row);
  pass.constant = pass.job.border == Border::constant;
  std::copy(pass.job.border_keys.begin(), pass.job.border_keys.end(), pass.outside);
  return pass;
}

inline dim3 column_blocks(std::int64_t row_bytes, std::int64_t down) {
  const std::int64_t words = (row_bytes + word_bytes - 1) / word_bytes;
  const std::int64_t across = (words + tuning::extreme_column_threads - 1) / tuning::extreme_column_threads;
  return {static_cast<unsigned>(across), blocks_down(down)};
}

/// Finds the extremes of groups, and joins them until row q holds all groups that chunk q shares. Returns
/// these rows.
template <class Key, Extreme Wanted>
KeyRows launch_groups(const ColumnPass& pass, StreamHandle stream) {
  KeyRows from = pass.group_keys[0];
  KeyRows to = pass.group_keys[1];
  const std::int64_t count = pass.groups.count;
  constexpr int threads = tuning::extreme_column_threads;
  extremes_of_groups<Key, Wanted>
      <<<column_blocks(pass.row_bytes, count), threads, 0, stream>>>(pass, from, count);
  for (std::int64_t size = 1; size < pass.groups.shared;) {
    const std::int64_t joined = std::min(size * tuning::extreme_joined_groups, pass.groups.shared);
    const std::int64_t rows = count - joined + 1;
    join_groups<Key, Wanted><<<column_blocks(pass.row_bytes, rows), threads, 0, stream>>>(
        from, to, pass.row_bytes, rows, size, joined);
    std::swap(from, to);
    size = joined;
  }
  return from;
}

template <class Key>
void launch_columns(const ColumnExtremeArguments& arguments, StreamHandle stream) {
  with_extreme(arguments.job.extreme, [&]<Extreme Wanted>() {
    ColumnPass pass = column_pass(arguments);
    if (pass.groups.shared != 0) pass.shared_keys = launch_groups<Key, Wanted>(pass, stream);
    const auto launch = [&]<int Chunk>() {
      const dim3 blocks = column_blocks(pass.row_bytes, (pass.job.height + Chunk - 1) / Chunk);
      extremes_of_columns<Chunk, Key, Wanted><<<blocks, tuning::extreme_column_threads, 0, stream>>>(pass);
    };
    switch (extreme_chunk(pass.reach)) {
      case 1:
        return launch.template operator()<1>();
      case 2:
        return launch.template operator()<2>();
      case 4:
        return launch.template operator()<4>();
      case 8:
        return launch.template operator()<8>();
      case 16:
        return launch.template operator()<16>();
      default:
        return launch.template operator()<32>();
    }
  });
}

}  // namespace satin::kernels
