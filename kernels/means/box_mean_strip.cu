#include "kernels/means/box_mean_strip.cuh"

#include <algorithm>

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

/// Bands for the shortest time on a card that runs one block a multiprocessor.
int best_bands(const StripMeanJob& job, int strips, int multiprocessors) {
  int best = 1;
  std::int64_t least = 0;
  for (int bands = 1; bands <= std::max(1, job.height / strip_batch) && bands <= multiprocessors; ++bands) {
    const std::int64_t turns = (std::int64_t{strips} * bands + multiprocessors - 1) / multiprocessors;
    const std::int64_t rows = (job.height + bands - 1) / bands + 2 * job.reach + 2 * strip_batch;
    if (bands == 1 || turns * rows < least) {
      best = bands;
      least = turns * rows;
    }
  }
  return best;
}

}  // namespace

int strip_margin(const StripMeanJob& job) {
  constexpr int most_pixels = 32;  // of a lane
  return job.reach + most_pixels + strip_batch;
}

StripTiles strip_tiles(const StripMeanJob& job, int multiprocessors, std::size_t shared_limit) {
  return with_strip_kernel(job, [&](auto shape, auto*) {
    using Shape = decltype(shape);
    StripTiles tiles;
    tiles.ring_rows = (2 * job.reach + 1 + 2 * strip_batch + strip_batch - 1) / strip_batch * strip_batch;
    tiles.shared_bytes = Shape::bytes(tiles.ring_rows, job.reach);
    const int before = (job.reach + Shape::pixels - 1) / Shape::pixels * Shape::pixels;
    const int width =
        std::min(Shape::most_width, (Shape::columns - before - job.reach) / warp_size * warp_size);
    if (tiles.shared_bytes > shared_limit || width < Shape::columns / 2) return StripTiles{};
    tiles.strip_width = width;
    tiles.strips = (job.width + width - 1) / width;
    tiles.bands = best_bands(job, tiles.strips, multiprocessors);
    return tiles;
  });
}

int prepare_strip_mean(const StripMeanArguments& arguments) {
  return with_strip_kernel(arguments.job,
                           [&](auto, auto* kernel) { return allow_all_shared_memory(kernel); });
}

void strip_mean(const StripMeanArguments& arguments, StreamHandle stream) {
  with_strip_kernel(arguments.job, [&](auto shape, auto* kernel) {
    StripMeanArguments stepping = arguments;
    stepping.map_step = decltype(shape)::shares * arguments.radius_map.row;
    stepping.output_step = decltype(shape)::shares * arguments.output.row;
    stepping.ring_bytes = static_cast<unsigned>(arguments.tiles.ring_rows * decltype(shape)::row_bytes);
    const dim3 blocks(static_cast<unsigned>(arguments.tiles.strips),
                      static_cast<unsigned>(arguments.tiles.bands));
    kernel<<<blocks, strip_threads, arguments.tiles.shared_bytes, stream>>>(stepping);
  });
}

}  // namespace satin::kernels
