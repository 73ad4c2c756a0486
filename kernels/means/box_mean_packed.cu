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

}  // namespace

int packed_margin(const PackedMeanJob& job) {
  constexpr int most_pixels = 32;  // of a lane
  return std::max(job.reach_x, job.reach_y) + 1 + most_pixels;
}

SlidingTiles packed_tiles(const PackedMeanJob& job, int multiprocessors, std::size_t shared_limit) {
  return with_packed_kernel(job, [&](auto shape, auto*) {
    using Shape = decltype(shape);
    SlidingTileRules rules;
    rules.width = job.width;
    rules.height = job.height;
    rules.multiprocessors = multiprocessors;
    rules.pixels = Shape::pixels;
    rules.fewest_rows = true;
    rules.start_cost = 4 * (2 * job.reach_y + 1) + packed_tuning::cost_of_start;
    rules.row_cost = packed_tuning::cost_of_row + 8;
    rules.turn = packed_warps;
    rules.beside_cost = packed_tuning::cost_of_row / 4;
    SlidingTiler tiler(rules);
    const int behind = (Shape::pixels - job.reach_x % Shape::pixels) % Shape::pixels;
    for (int spans = 1; spans <= packed_tuning::most_spans; ++spans) {
      const int columns = spans * Shape::span_pixels;
      const int usable = (columns - 2 * job.reach_x - behind) / Shape::pixels * Shape::pixels;
      if (usable < columns / 4) continue;
      tiler.consider(
          spans, usable, packed_tuning::most_blocks,
          [&](const SlidingTiles& tiles) { return Shape::bytes(job, tiles); }, shared_limit);
    }
    return tiler.best();
  });
}

int prepare_mean(const PackedMeanArguments& arguments) {
  return with_packed_kernel(arguments.job,
                            [&](auto, auto* kernel) { return allow_all_shared_memory(kernel); });
}

void launch_mean(const PackedMeanArguments& arguments, StreamHandle stream) {
  with_packed_kernel(arguments.job, [&](auto, auto* kernel) {
    const SlidingTiles& tiles = arguments.tiles;
    const dim3 blocks(static_cast<unsigned>(tiles.columns), static_cast<unsigned>(tiles.rows));
    kernel<<<blocks, packed_threads, tiles.shared_bytes, stream>>>(arguments);
  });
}

}  // namespace satin::kernels
