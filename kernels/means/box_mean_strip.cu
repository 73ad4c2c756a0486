#include "kernels/means/box_mean_strip.cuh"

#include <algorithm>
#include <limits>

#include "kernels/device/shared_memory.cuh"

namespace satin::kernels {
namespace {

/// Calls action(StripShape, kernel) for the job's channels.
template <class Action>
auto with_strip_kernel(const StripMeanJob& job, const Action& action) {
  switch (job.channels) {
    case 1:
      return action(StripShape<1>{}, average_strips<1>);
    case 2:
      return action(StripShape<2>{}, average_strips<2>);
    default:
      return action(StripShape<3>{}, average_strips<3>);
  }
}

int ring_rows_of(const StripMeanJob& job) {
  return (2 * job.reach + 1 + 2 * strip_batch + strip_batch - 1) / strip_batch * strip_batch;
}

}  // namespace

int strip_margin(const StripMeanJob& job) {
  constexpr int most_pixels = 32;  // of a lane
  return job.reach + most_pixels + strip_batch;
}

SlidingTiles strip_tiles(const StripMeanJob& job, int multiprocessors, std::size_t shared_limit) {
  return with_strip_kernel(job, [&](auto shape, auto*) {
    using Shape = decltype(shape);
    const int before = (job.reach + Shape::pixels - 1) / Shape::pixels * Shape::pixels;
    const int usable =
        std::min(Shape::most_width, (Shape::columns - before - job.reach) / warp_size * warp_size);
    if (usable < Shape::columns / 2) return SlidingTiles{};
    SlidingTileRules rules;
    rules.width = job.width;
    rules.height = job.height;
    rules.multiprocessors = multiprocessors;
    rules.pixels = usable;
    rules.fewest_rows = true;
    rules.most_rows = std::min(std::max(1, job.height / strip_batch), multiprocessors);
    rules.start_cost = 2 * job.reach + 2 * strip_batch;
    SlidingTiler tiler(rules);
    tiler.consider(
        1, usable, std::numeric_limits<int>::max(),
        [&](const SlidingTiles&) { return Shape::bytes(ring_rows_of(job), job.reach); }, shared_limit);
    return tiler.best();
  });
}

int prepare_mean(const StripMeanArguments& arguments) {
  return with_strip_kernel(arguments.job,
                           [&](auto, auto* kernel) { return allow_all_shared_memory(kernel); });
}

void launch_mean(const StripMeanArguments& arguments, StreamHandle stream) {
  with_strip_kernel(arguments.job, [&](auto shape, auto* kernel) {
    StripMeanArguments stepping = arguments;
    stepping.map_step = decltype(shape)::shares * arguments.radius_map.row;
    stepping.output_step = decltype(shape)::shares * arguments.output.row;
    stepping.ring_rows = ring_rows_of(arguments.job);
    stepping.ring_bytes = static_cast<unsigned>(stepping.ring_rows * decltype(shape)::row_bytes);
    const dim3 blocks(static_cast<unsigned>(arguments.tiles.columns),
                      static_cast<unsigned>(arguments.tiles.rows));
    kernel<<<blocks, strip_threads, arguments.tiles.shared_bytes, stream>>>(stepping);
  });
}

}  // namespace satin::kernels
