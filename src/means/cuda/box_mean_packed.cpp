// Box mean of bytes with one whole radius: packed column sums, no table.

#include <array>
#include <cstddef>

#include "means/box_mean.h"
#include "means/cuda/box_mean.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 26;  // offsets within a row are 32-bit integers in the kernels

}  // namespace

std::unique_ptr<BoxMeanOperation> prepare_box_mean_packed(CudaBackend& backend, const BoxMeanJob& job) {
  using Limits = kernels::PackedMeanJob;
  if (!is_plain(job) || job.read.type != Type::u8 || job.read.transfer != Transfer::identity) return nullptr;
  if (job.border == Border::constant || (job.radius.x == 0 && job.radius.y == 0)) return nullptr;
  if (job.radius.x % radius_one != 0 || job.radius.y % radius_one != 0) return nullptr;
  if (job.width > largest_side || job.height > largest_side) return nullptr;
  const std::int64_t columns = 2 * (job.radius.x / radius_one) + 1;
  const std::int64_t rows = 2 * (job.radius.y / radius_one) + 1;
  if (rows > Limits::largest_rows || rows * columns > Limits::largest_divisor) return nullptr;
  kernels::PackedMeanArguments arguments;
  arguments.job.width = static_cast<int>(job.width);
  arguments.job.height = static_cast<int>(job.height);
  arguments.job.channels = job.read.channels;
  arguments.job.clipped = job.border == Border::shrink;
  arguments.job.reach_x = job.radius.x / radius_one;
  arguments.job.reach_y = job.radius.y / radius_one;
  arguments.tiles = kernels::packed_tiles(arguments.job, backend.multiprocessors(), backend.shared_memory());
  if (arguments.tiles.spans == 0) return nullptr;
  constexpr std::array<std::byte, kernels::packed_zero_bytes> none{};
  Buffer zeros = backend.uploaded(none);
  arguments.zeros = zeros.get();
  return std::make_unique<TiledBoxMean<kernels::PackedMeanArguments>>(
      backend, job, arguments, kernels::packed_margin(arguments.job), std::move(zeros));
}

}  // namespace satin::cuda
