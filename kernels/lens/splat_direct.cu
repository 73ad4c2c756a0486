// The splat of samples that tiles do not gather: those that reach too far, and lamps (splat_lamps.cu). A
// corner of a staircase costs one atomic addition a plane; additions modulo 2^64 give the same sums in any
// order. The tiles that the corners lie in are marked and cleared before.

#include "core/with_type.h"
#include "kernels/lens/splat_direct.cuh"

namespace satin::kernels {
namespace {

constexpr int threads = 128;

/// Calls corner(column, row, negative) for the corners of a staircase. What lies above or before the picture
/// counts on its border, what lies behind not.
template <class Corner>
__device__ void for_corners_in_picture(const SplatArguments& a, const Staircase& stairs, std::int32_t x,
                                       std::int32_t y, std::int32_t more, const Corner& corner) {
  for_corners(stairs, x, y, more, [&](std::int32_t u, std::int32_t v, bool negative) {
    if (u < a.width && v < a.height) corner(max(u, 0), max(v, 0), negative);
  });
}

/// One thread a cell of a group: the tiles that its samples may reach.
__global__ void __launch_bounds__(threads) mark_far(const __grid_constant__ SplatArguments a) {
  const std::int64_t cell = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (cell >= cell_count(a)) return;
  const std::uint32_t group = blockIdx.y;
  const std::int32_t reach = a.sums.cells[group * cell_count(a) + cell].reach;
  if (reach <= splat_reach) return;
  const std::int32_t x = cell_left(a, cell);
  const std::int32_t y = cell_top(a, cell);
  const std::int32_t right = min(x + splat_cell + 1 + reach, a.width - 1) / splat_tile_width;
  const std::int32_t bottom = min(y + splat_cell + 1 + reach, a.height - 1) / splat_tile_height;
  for (std::int32_t row = max(y - reach, 0) / splat_tile_height; row <= bottom; ++row)
    for (std::int32_t column = max(x - reach, 0) / splat_tile_width; column <= right; ++column)
      mark(a, group, column, row);
}

/// Adds what reaches far of some records around a place: a lane a plane, as additions side by side are one
/// request.
template <int Channels>
__device__ void add_far_records(const SplatArguments& a, std::uint32_t group, std::int32_t left,
                                std::int32_t top, const SplatRecords& records, std::uint32_t first,
                                std::uint32_t count) {
  constexpr unsigned lanes = Channels + 1;
  for (std::uint32_t i = threadIdx.x; i < count * lanes; i += threads) {
    const SplatRecord record = record_at(records, first + i / lanes);
    const RecordPlace place(record.place);
    const auto lane = static_cast<int>(i % lanes);
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
      const std::uint32_t share = k == 0 ? record.share[0] : record.share[1];
      const Staircase& stairs = a.kernels.staircases[k == 0 ? record.staircase[0] : record.staircase[1]];
      if (share == 0 || stairs.reach <= splat_reach) continue;
      const std::uint64_t delta = value_of<Channels, std::uint64_t>(record, lane) * share;
      for_corners_in_picture(a, stairs, left + place.x(), top + place.y(), place.more(),
                             [&](std::int32_t column, std::int32_t row, bool negative) {
                               add_delta(a, group, column, row, lane, negative ? 0 - delta : delta);
                             });
    }
  }
}

/// A block a cell of a group.
template <int Channels>
__global__ void __launch_bounds__(threads) add_far(const __grid_constant__ SplatArguments a) {
  const std::int64_t place = blockIdx.y * cell_count(a) + blockIdx.x;
  const SplatCell cell = a.sums.cells[place];
  if (cell.reach <= splat_reach) return;
  const std::int32_t left = cell_left(a, blockIdx.x);
  const std::int32_t top = cell_top(a, blockIdx.x);
  add_far_records<Channels>(a, blockIdx.y, left, top, a.sums.records, cell.first, cell.count);
  const ListedCell listed = a.sums.listed[place];
  add_far_records<Channels>(a, blockIdx.y, left, top, a.sums.listed_records, listed.end - listed.count,
                            listed.count);
}

__global__ void __launch_bounds__(threads) clear_marked(const __grid_constant__ SplatArguments a) {
  const std::int64_t tile = blockIdx.x;
  if (a.sums.direct[blockIdx.y * tile_count(a) + tile] == 0) return;
  auto* words = reinterpret_cast<ulonglong2*>(tile_plane(a, blockIdx.y, tile, 0));
  for (int i = static_cast<int>(threadIdx.x); i < (a.channels + 1) * splat_tile_pixels / 2; i += threads)
    words[i] = make_ulonglong2(0, 0);
}

unsigned blocks_for(std::int64_t count, int block) {
  return static_cast<unsigned>((count + block - 1) / block);
}

}  // namespace

void splat_direct(const SplatArguments& a, StreamHandle stream) {
  const bool far = a.largest_reach > splat_reach;
  if (!far && a.most_lamps == 0) return;
  const unsigned groups = a.last_group + 1;
  splat_mark_lamps(a, stream);
  if (far) mark_far<<<dim3(blocks_for(cell_count(a), threads), groups), threads, 0, stream>>>(a);
  clear_marked<<<dim3(blocks_for(tile_count(a), 1), groups), threads, 0, stream>>>(a);
  splat_add_lamps(a, stream);
  if (!far) return;
  with_channels(a.channels, [&]<int Channels>() {
    add_far<Channels><<<dim3(blocks_for(cell_count(a), 1), groups), threads, 0, stream>>>(a);
  });
}

}  // namespace satin::kernels
