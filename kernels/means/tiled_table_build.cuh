#pragma once
// The warps that build the table of a tile: the first group scans rows, the second adds them down the
// columns.

#include <cstdint>

#include "kernels/means/tiled_table_part.cuh"

namespace satin::kernels {

/// The sums of a lane's pixels up to each of them, and all of them, which fit 11 bits.
template <int Channels, class Words, class Sum, int Pixels>
__device__ void prefix_of_lane(const Words& loaded, Sum (&prefix)[Pixels], std::uint32_t (&sums)[Channels]) {
  static_assert(Pixels == 8);
#pragma unroll
  for (int p = 0; p < Pixels; ++p) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const int byte = p * Channels + c;
      sums[c] = __dp4a(loaded.words[byte / 4], 1U << byte % 4 * 8, p == 0 ? 0 : sums[c]);
    }
    prefix[p] = PackedSums<Channels>::pack(sums);
  }
}

/// The packed sums of the lanes before this one. Sums of a whole row of the tile fit 16 bits, of which two
/// are scanned at once.
template <int Channels>
__device__ typename PackedSums<Channels>::Sum sum_before(const std::uint32_t (&sums)[Channels]) {
  static_assert(warp_size * 8 * 0xFF < 1 << 16);
  std::uint32_t before[Channels];
#pragma unroll
  for (int c = 0; c < Channels; c += 2) {
    const bool pair = c + 1 < Channels;
    const std::uint32_t own = pair ? sums[c + (pair ? 1 : 0)] << 16 | sums[c] : sums[c];
    std::uint32_t scanned[1] = {own};
    inclusive_scans(scanned);
    const std::uint32_t both = scanned[0] - own;
    before[c] = both & 0xFFFF;
    if (pair) before[c + (pair ? 1 : 0)] = both >> 16;
  }
  using Packed = PackedSums<Channels>;
  typename Packed::Sum packed = 0;
#pragma unroll
  for (int c = 0; c < Channels; ++c)
    packed |= static_cast<typename Packed::Sum>(before[c]) << c * Packed::bits;
  return packed;
}

template <int Channels, bool Aligned>
__device__ void scan_rows(const TiledTableArguments& arguments, const TiledTableShared<Channels>& shared,
                          typename TiledTableShape<Channels>::Rows reader, int warp) {
  using Shape = TiledTableShape<Channels>;
  using Entries = typename Shape::Entries;
  reader.aligned = Aligned;
  int places[Shape::lane_vectors];  // in the staging buffer
#pragma unroll
  for (int i = 0; i < Shape::lane_vectors; ++i)
    places[i] = opaque(warp * Shape::vectors + Shape::place_of(lane_index() * Shape::lane_vectors + i));
  auto* const staging = reinterpret_cast<Entries*>(shared.staging);
  const int batches = shared.part.batches;
  const int last = shared.part.last_y - 1 + arguments.job.reach;
  int y = shared.part.start + warp;
  const auto row_at = [&](int position) { return position <= last ? __ldg(arguments.rows + position) : -1; };
  typename Shape::Rows::Words words;
  reader.load(row_at(y), words);
  int next_row = row_at(y + batch_rows);
  for (int batch = 0; batch < batches; ++batch) {
    typename Shape::Sum prefix[Shape::pixels];
    std::uint32_t sums[Channels];
    prefix_of_lane(words, prefix, sums);
    reader.load(next_row, words);
    y += batch_rows;
    next_row = row_at(y + batch_rows);
    typename Shape::Sum before = sum_before<Channels>(sums);
    if (batch >= 2) shared.gates.added.wait_for(batch - 2);
    before = used_from_here(before);
    Entries* to = staging + (batch & 1) * batch_rows * Shape::vectors;
#pragma unroll
    for (int i = 0; i < Shape::lane_vectors; ++i) {
      Entries vector;
#pragma unroll
      for (int p = 0; p < Entries::count; ++p) vector.of[p] = before + prefix[i * Entries::count + p];
      to[places[i]] = vector;
    }
    shared.gates.scanned.done(batch);
  }
}

template <int Channels>
__device__ void scan_rows(const TiledTableArguments& arguments, const TiledTableShared<Channels>& shared,
                          int warp) {
  using Shape = TiledTableShape<Channels>;
  const TiledTableJob& job = arguments.job;
  const typename Shape::Rows reader(arguments.source, shared.part.origin + lane_index() * Shape::pixels,
                                    shared.part.last_x - 1 + job.reach, job.width, job.clipped,
                                    arguments.columns);
  if (reader.aligned) return scan_rows<Channels, true>(arguments, shared, reader, warp);
  scan_rows<Channels, false>(arguments, shared, reader, warp);
}

template <int Channels>
__device__ void add_columns(const TiledTableArguments& arguments, const TiledTableShared<Channels>& shared,
                            int thread) {
  using Shape = TiledTableShape<Channels>;
  using Sum = typename Shape::Sum;
  using Entries = typename Shape::Entries;
  constexpr int threads = column_warps * warp_size;
  constexpr int per_thread = (Shape::vectors + threads - 1) / threads;
  constexpr int staged_row = Shape::vectors;
  Entries sums[per_thread] = {};
  int slot = 0;
  for (int batch = 0; batch < shared.part.batches; ++batch) {
    shared.gates.scanned.wait_for(batch);
    // The ring has room for two batches beside the rows that the next is taken from.
    if (batch >= 2) shared.gates.gathered.wait_for(batch - 2);
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      const int i = thread + k * threads;
      if (Shape::vectors % threads != 0 && i >= Shape::vectors) break;
      const Entries* from = reinterpret_cast<const Entries*>(shared.staging) +
                            (batch & 1) * batch_rows * staged_row + Shape::place_of(i);
      Sum* to = shared.ring + slot * Shape::pitch + Shape::origin + i * Entries::count;
      Entries values[batch_rows];
#pragma unroll
      for (int row = 0; row < batch_rows; ++row) values[row] = from[row * staged_row];
#pragma unroll
      for (int row = 0; row < batch_rows; ++row) {
#pragma unroll
        for (int p = 0; p < Entries::count; ++p) {
          sums[k].of[p] += values[row].of[p];
          to[row * Shape::pitch + p] = sums[k].of[p];
        }
      }
    }
    shared.gates.added.done(batch);
    slot += batch_rows;  // the ring is a multiple of it
    if (slot == arguments.ring_rows) slot = 0;
  }
}

}  // namespace satin::kernels
