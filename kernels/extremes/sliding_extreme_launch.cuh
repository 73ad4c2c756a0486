#pragma once
// Launches of sliding_extreme.cuh for one type of keys: each type is compiled in a file of its own.

#include <algorithm>
#include <utility>

#include "kernels/device/shared_memory.cuh"
#include "kernels/extremes/sliding_extreme.cuh"

namespace satin::kernels {

/// Calls action.template operator()<Wanted>().
template <class Action>
auto with_extreme(Extreme extreme, const Action& action) {
  return extreme == Extreme::minimum ? action.template operator()<Extreme::minimum>()
                                     : action.template operator()<Extreme::maximum>();
}

inline bool word_aligned(const std::byte* data, std::int64_t row) {
  return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(row)) % word_bytes == 0;
}

inline unsigned blocks_down(std::int64_t count) {
  return static_cast<unsigned>(std::min<std::int64_t>(count, 65535));
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

/// Blocks of columns by rows of outputs.
inline dim3 column_blocks(std::int64_t row_bytes, std::int64_t down) {
  const std::int64_t words = (row_bytes + word_bytes - 1) / word_bytes;
  const std::int64_t across = (words + tuning::extreme_column_threads - 1) / tuning::extreme_column_threads;
  return {static_cast<unsigned>(across), blocks_down(down)};
}

/// The extremes of groups, joined until row q holds all groups that chunk q shares: where they are.
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
