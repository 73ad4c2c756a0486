// Box mean of 8-bit pixels by a radius map: strips with their table in shared memory.

#include <algorithm>

#include "means/box_mean.h"
#include "means/cuda/box_mean.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 26;  // offsets within a row are 32-bit integers in the kernels
constexpr int largest_reach = 63;  // whole boxes below 2^14 pixels: kernels/means/strip_means.cuh

/// Bits of a channel's sum in a packed entry (kernels/means/packed_sums.cuh).
int sum_bits(int channels) { return channels == 3 ? 21 : 32; }

}  // namespace

std::unique_ptr<BoxMeanOperation> prepare_box_mean_strip(CudaBackend& backend, const BoxMeanJob& job) {
  if (!is_plain(job) || job.read.type != Type::u8 || job.read.transfer != Transfer::identity) return nullptr;
  if (job.read.channels > 3 || job.border == Border::constant) return nullptr;
  if (job.width > largest_side || job.height > largest_side) return nullptr;
  const std::int64_t reach =
      (std::int64_t{std::max(job.radius.low, job.radius.high)} + radius_one - 1) / radius_one;
  const std::int64_t window = 2 * reach + 1;
  if (reach == 0 || reach > largest_reach) return nullptr;
  if (window * window * 0xFF >= std::int64_t{1} << sum_bits(job.read.channels)) return nullptr;
  kernels::StripMeanArguments arguments;
  arguments.job.width = static_cast<int>(job.width);
  arguments.job.height = static_cast<int>(job.height);
  arguments.job.channels = job.read.channels;
  arguments.job.clipped = job.border == Border::shrink;
  arguments.job.reach = static_cast<int>(reach);
  arguments.job.radius = job.radius;
  arguments.tiles = kernels::strip_tiles(arguments.job, backend.multiprocessors(), backend.shared_memory());
  if (arguments.tiles.spans == 0) return nullptr;
  return std::make_unique<TiledBoxMean<kernels::StripMeanArguments>>(backend, job, arguments,
                                                                     kernels::strip_margin(arguments.job));
}

}  // namespace satin::cuda
