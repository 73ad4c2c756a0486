#include "kernels/means/box_mean_packed.cuh"

#include <algorithm>

#include "kernels/device/shared_memory.cuh"

namespace satin::kernels {
namespace {

/// Calls action(PackedShape, kernel) for the job's channels and where in a chunk its windows begin.
template <class Action>
auto with_packed_kernel(const PackedMeanJob& job, const Action& action) {
  const int shift = job.channels * (2 * job.reach_x + 1) % 8;
  switch (8 * job.channels + shift) {
    case 8 + 1:
      return action(PackedShape<1>{}, average_packed<1, 1>);
    case 8 + 3:
      return action(PackedShape<1>{}, average_packed<1, 3>);
    case 8 + 5:
      return action(PackedShape<1>{}, average_packed<1, 5>);
    case 8 + 7:
      return action(PackedShape<1>{}, average_packed<1, 7>);
    case 16 + 2:
      return action(PackedShape<2>{}, average_packed<2, 2>);
    case 16 + 6:
      return action(PackedShape<2>{}, average_packed<2, 6>);
    case 24 + 1:
      return action(PackedShape<3>{}, average_packed<3, 1>);
    case 24 + 3:
      return action(PackedShape<3>{}, average_packed<3, 3>);
    case 24 + 5:
      return action(PackedShape<3>{}, average_packed<3, 5>);
    case 24 + 7:
      return action(PackedShape<3>{}, average_packed<3, 7>);
    default:  // 4 channels: 4 times an odd number
      return action(PackedShape<4>{}, average_packed<4, 4>);
  }
}

/// Time of the multiprocessor that has most to do, where a segment of a row that is only summed takes 4.
std::int64_t cost_of(const PackedMeanJob& job, const PackedTiles& tiles, int multiprocessors,
                     std::size_t shared_limit) {
  const std::int64_t blocks = std::int64_t{tiles.strips} * tiles.bands;
  const std::int64_t busiest = (blocks + multiprocessors - 1) / multiprocessors;
  const int rows = (job.height + tiles.bands - 1) / tiles.bands;
  const int in_turns = (rows + packed_warps - 1) / packed_warps * packed_warps;
  const int of_rows = (rows + in_turns) / 2 * (packed_tuning::cost_of_row + 2 * 4);
  const int of_start = 4 * (2 * job.reach_y + 1) + packed_tuning::cost_of_start;
  const auto fit = static_cast<std::int64_t>(shared_limit / tiles.shared_bytes);
  constexpr std::int64_t fill = packed_tuning::blocks_per_multiprocessor;
  const std::int64_t at_once = std::min({fill, fit, busiest});
  const std::int64_t of_block = tiles.segments * (of_rows + of_start) + rows * packed_tuning::cost_of_row / 4;
  return of_block * busiest * (60 * (fill + 3) / (at_once + 3));
}

/// The best bands for strips that are chosen already.
template <class Shape>
void choose_bands(const PackedMeanJob& job, PackedTiles tiles, int multiprocessors, std::size_t shared_limit,
                  PackedTiles& best, std::int64_t& least) {
  const int most_bands = std::max(1, packed_tuning::most_blocks * multiprocessors / tiles.strips);
  for (int bands = 1; bands <= std::min(most_bands, job.height); ++bands) {
    tiles.bands = bands;
    tiles.shared_bytes = Shape::bytes(job, tiles);
    if (tiles.shared_bytes > shared_limit) continue;
    const std::int64_t cost = cost_of(job, tiles, multiprocessors, shared_limit);
    if (best.strips == 0 || cost < least) {
      best = tiles;
      least = cost;
    }
  }
}

}  // namespace

int packed_margin(const PackedMeanJob& job) {
  constexpr int most_pixels = 32;  // of a lane
  return std::max(job.reach_x, job.reach_y) + 1 + most_pixels;
}

PackedTiles packed_tiles(const PackedMeanJob& job, int multiprocessors, std::size_t shared_limit) {
  return with_packed_kernel(job, [&](auto shape, auto*) {
    using Shape = decltype(shape);
    const int behind = (Shape::pixels - job.reach_x % Shape::pixels) % Shape::pixels;
    PackedTiles best;
    std::int64_t least = 0;
    for (int segments = 1; segments <= packed_tuning::most_segments; ++segments) {
      const int columns = segments * Shape::segment_pixels;
      const int usable = (columns - 2 * job.reach_x - behind) / Shape::pixels * Shape::pixels;
      if (usable < columns / 4) continue;
      PackedTiles tiles;
      tiles.segments = segments;
      tiles.strips = (job.width + usable - 1) / usable;
      const int lanes = (job.width + Shape::pixels - 1) / Shape::pixels;
      tiles.strip_width = (lanes + tiles.strips - 1) / tiles.strips * Shape::pixels;
      tiles.strips = (job.width + tiles.strip_width - 1) / tiles.strip_width;
      choose_bands<Shape>(job, tiles, multiprocessors, shared_limit, best, least);
    }
    return best;
  });
}

int prepare_packed_mean(const PackedMeanArguments& arguments) {
  return with_packed_kernel(arguments.job,
                            [&](auto, auto* kernel) { return allow_all_shared_memory(kernel); });
}

void packed_mean(const PackedMeanArguments& arguments, StreamHandle stream) {
  with_packed_kernel(arguments.job, [&](auto, auto* kernel) {
    const PackedTiles& tiles = arguments.tiles;
    const dim3 blocks(static_cast<unsigned>(tiles.strips), static_cast<unsigned>(tiles.bands));
    kernel<<<blocks, packed_threads, tiles.shared_bytes, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
