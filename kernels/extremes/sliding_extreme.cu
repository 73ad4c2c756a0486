// Sliding minima and maxima: sizes of tiles and groups, steps on single pixels, and the choice of the
// kernels of a type (sliding_extreme.cuh).

#include "kernels/extremes/launch.h"

#include <algorithm>

#include "kernels/pixels/plane.cuh"

namespace satin::kernels {

// Instances of sliding_extreme.cuh.
template <class Key>
int prepare_rows(Extreme extreme);
template <class Key>
void launch_rows(const RowExtremeArguments& arguments, StreamHandle stream);
template <class Key>
void launch_columns(const ColumnExtremeArguments& arguments, StreamHandle stream);

namespace {

constexpr std::int64_t alignment = 16;

/// Fewest shared rows for which groups pay.
constexpr std::int64_t fewest_grouped_rows = 2 * extreme_group_rows;

constexpr int most_channels = 4;

template <class Key>
__global__ void __launch_bounds__(plane_threads)
    hide_pixels(const SlidingExtremeJob job, const Source source, const KeyRows keys) {
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const Key* from = row_of<Key>(source, y) + x * job.channels;
    Key* to = reinterpret_cast<Key*>(keys.data + y * keys.row) + x * job.channels;
    Key pixel[most_channels];
    for (int c = 0; c < job.channels; ++c) pixel[c] = turn_key(from[c]);
    satin::hide_colours(pixel, job.channels, job.extreme);
    for (int c = 0; c < job.channels; ++c) to[c] = pixel[c];
  });
}

template <class Key>
__global__ void __launch_bounds__(plane_threads)
    finish_pixels(const SlidingExtremeJob job, const Source source, const Source mask, const Target output) {
  const ExtremeStore store{job.channels, job.weighted, job.mask_maximum};
  for_each_pixel(job.width, job.height, [&](std::int64_t x, std::int64_t y) {
    const std::uint32_t weight = job.mask_maximum == 0 ? 1 : mask_at(job.mask_maximum, mask, x, y);
    Key* out = row_of<Key>(output, y) + x * job.channels;
    Key pixel[most_channels];
    for (int c = 0; c < job.channels; ++c) pixel[c] = out[c];
    store_extreme(store, row_of<Key>(source, y) + x * job.channels, weight, pixel);
    for (int c = 0; c < job.channels; ++c) out[c] = pixel[c];
  });
}

}  // namespace

ExtremeTile extreme_tile(std::int64_t row_bytes, std::int64_t pixel_bytes, std::int64_t reach,
                         std::size_t shared_limit) {
  constexpr std::int64_t whole_row = 16384;  // rows up to this are one tile
  constexpr std::int64_t usual = 8192;
  constexpr std::int64_t least = 2048;
  constexpr std::int64_t spare = 32;  // bytes read past the last window, and the word in which it begins
  const std::int64_t margin = reach * pixel_bytes;
  const std::int64_t room = static_cast<std::int64_t>(shared_limit) / 2 - 2 * margin - spare;
  const std::int64_t wanted = row_bytes <= whole_row ? row_bytes : std::max(usual, 4 * margin);
  ExtremeTile tile;
  tile.bytes = std::min({wanted, room, row_bytes});
  if (tile.bytes < row_bytes) tile.bytes = tile.bytes / alignment * alignment;
  if (tile.bytes < std::min(least, row_bytes)) return {};
  tile.shared_bytes = static_cast<std::size_t>(2 * ((tile.bytes + 2 * margin + spare) / 4 * 4));
  return tile;
}

int extreme_chunk(std::int64_t reach) {
  int chunk = 1;
  while (chunk < extreme_group_rows && 2 * chunk <= 2 * reach) chunk *= 2;
  return chunk;
}

ExtremeGroups extreme_groups(std::int64_t height, std::int64_t reach) {
  ExtremeGroups groups;
  const std::int64_t shared_rows = 2 * reach - extreme_group_rows;
  if (shared_rows < fewest_grouped_rows) return groups;
  groups.shared = shared_rows / extreme_group_rows;
  groups.count = (height + extreme_group_rows - 1) / extreme_group_rows + groups.shared - 1;
  return groups;
}

int prepare_row_extremes(const SlidingExtremeJob& job) {
  return with_key(job.type, [&]<class Key>() { return prepare_rows<Key>(job.extreme); });
}

void row_extremes(const RowExtremeArguments& arguments, StreamHandle stream) {
  with_key(arguments.job.type, [&]<class Key>() { launch_rows<Key>(arguments, stream); });
}

void column_extremes(const ColumnExtremeArguments& arguments, StreamHandle stream) {
  with_key(arguments.job.type, [&]<class Key>() { launch_columns<Key>(arguments, stream); });
}

void hide_colours(const SlidingExtremeJob& job, const Source& source, const KeyRows& keys,
                  StreamHandle stream) {
  with_key(job.type, [&]<class Key>() {
    hide_pixels<Key><<<plane_grid(job.width, job.height), plane_threads, 0, stream>>>(job, source, keys);
  });
}

void finish_extremes(const SlidingExtremeJob& job, const Source& source, const Source& mask,
                     const Target& output, StreamHandle stream) {
  with_key(job.type, [&]<class Key>() {
    finish_pixels<Key>
        <<<plane_grid(job.width, job.height), plane_threads, 0, stream>>>(job, source, mask, output);
  });
}

}  // namespace satin::kernels
