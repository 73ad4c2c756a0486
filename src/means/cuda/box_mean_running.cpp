// Box mean of integers with one radius: running sums of the columns, no table.

#include <algorithm>
#include <limits>
#include <numeric>

#include "means/box_mean.h"
#include "means/cuda/box_mean.h"
#include "pixels/cuda/transfer.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 25;  // offsets within a row are 32-bit integers in the kernels

/// The weights of the inner and the outer window without their common factor: the mean is the same, and the
/// sums are smaller.
kernels::RunningWindow window_of(Radius256 radius) {
  const auto fraction = static_cast<std::uint32_t>(radius) % radius_one;
  kernels::RunningWindow window;
  window.reach = radius / radius_one;
  if (fraction == 0) return window;
  const std::uint32_t common = std::gcd(fraction, std::uint32_t{radius_one});
  window.inner = (radius_one - fraction) / common;
  window.outer = fraction / common;
  return window;
}

/// Largest weighted number of pixels of a window.
std::uint64_t largest_size(const kernels::RunningWindow& window, std::int64_t size, bool clipped) {
  const auto count = [&](std::int64_t reach) {
    return static_cast<std::uint64_t>(clipped ? std::min(2 * reach + 1, size) : 2 * reach + 1);
  };
  return window.inner * count(window.reach) + window.outer * count(window.reach + 1);
}

/// Bounds of a box over the whole job.
struct Bounds {
  std::uint64_t column;   ///< sum over a window of weighted rows
  std::uint64_t box;      ///< sum over one whole window along x of weighted columns
  std::uint64_t divisor;  ///< of a mean
};

Bounds bounds_of(const BoxMeanJob& job, const kernels::RunningMeanJob& running) {
  const std::uint64_t x = largest_size(running.x, job.width, running.clipped);
  const std::uint64_t y = largest_size(running.y, job.height, running.clipped);
  const std::uint64_t whole_x = 2 * static_cast<std::uint64_t>(running.x.outer_reach()) + 1;
  const std::uint64_t alpha = job.read.weighted ? job.read.alpha_maximum : 1;
  return {y * job.read.maximum, whole_x * y * job.read.maximum, x * y * alpha};
}

/// Between two passes, or from the last one: other bits below the point, or another type.
bool is_working(const BoxMeanJob& job) {
  const auto narrow = [](Type type) { return type == Type::u8 || type == Type::u16; };
  return (job.write.working || job.read.fraction != 0 || job.read.transfer != job.write.transfer) &&
         narrow(job.read.type) && narrow(job.write.type) && job.read.maximum <= 0xFFFF &&
         !job.read.weighted && job.mask_maximum == 0;
}

/// From or to more than 16 bits, as kernels/means/box_mean_wide.cuh takes them.
bool is_wide(const BoxMeanJob& job, const kernels::RunningMeanJob& running) {
  if (job.read.weighted || job.mask_maximum != 0) return false;
  const Type from = job.read.type;
  const Type to = job.write.type;
  if (job.read.fixed_point) return to == Type::f32 || (running.x.outer == 0 && running.y.outer == 0);
  if (to == Type::u32) return from != Type::u64;
  return from == Type::u32 && to == Type::u16;
}

/// Sums of integers down a column fit 32 bits, and weighted ones of boxes, with the bits that means have
/// more, are positive as signed 64-bit numbers.
bool wide_sums_fit(const BoxMeanJob& job, const kernels::RunningMeanJob& running) {
  constexpr std::uint64_t most_column = 0xFFFFFFFFU;
  constexpr std::uint64_t most_box = ~std::uint64_t{0} >> 1;
  const std::uint64_t x = largest_size(running.x, job.width, running.clipped);
  const std::uint64_t y = largest_size(running.y, job.height, running.clipped);
  const std::uint64_t divisor = x * y << std::max(-running.more_bits, 0);
  if (divisor >= 1ULL << 47) return false;
  if (job.read.fixed_point) return true;  // by their scale
  const auto rows = 2 * static_cast<std::uint64_t>(running.y.outer_reach()) + 1;
  return rows * job.read.maximum <= most_column &&
         job.read.maximum <= (most_box >> std::max(running.more_bits, 0)) / (x * y);
}

/// Chooses the widths of the sums. False if some do not fit what kernels/device/exact_division.cuh asks for.
bool choose_sums(const Bounds& bounds, const PixelRead& read, kernels::RunningMeanJob& running) {
  constexpr std::uint64_t most = 0xFFFFFFFFU;
  using kernels::RunningSums;
  const bool narrow_box = bounds.box <= most && bounds.divisor < (1ULL << 31) && read.maximum <= 0xFFFF;
  const bool narrow_column = bounds.column <= most;
  running.sums = narrow_box && !read.weighted ? RunningSums::u32
                 : narrow_column              ? RunningSums::u32_u64
                                              : RunningSums::u64;
  running.large_divisors = bounds.divisor >= (1ULL << 28);
  if (running.type != running.output) {
    running.sums = RunningSums::u32_u64;
    return narrow_column && !running.large_divisors;
  }
  if (read.weighted) return narrow_column && !running.large_divisors;
  return bounds.divisor < (1ULL << 38);  // 24 bits of a value more: below 2^62
}

/// Windows that are not clipped, divided by a multiplication.
kernels::ScaledDivisor whole_divisor(const kernels::RunningMeanJob& running, std::uint64_t maximum) {
  if (running.sums != kernels::RunningSums::u32 || running.x.outer != 0 || running.y.outer != 0) return {};
  const auto side = [](int reach) { return 2 * static_cast<std::uint64_t>(reach) + 1; };
  return kernels::scaled_divisor(side(running.x.reach) * side(running.y.reach), maximum);
}

/// From the values, and to the means.
TransferView transfer_of(CudaBackend& backend, const BoxMeanJob& job) {
  TransferView transfer = device_transfer(backend, job.write.type, job.write.transfer == Transfer::srgb);
  transfer.decode = device_transfer(backend, job.read.type, job.read.transfer == Transfer::srgb).decode;
  return transfer;
}

}  // namespace

std::unique_ptr<BoxMeanOperation> prepare_box_mean_running(CudaBackend& backend, const BoxMeanJob& job) {
  const bool moves = job.radius.x != 0 || job.radius.y != 0;
  if (!moves || job.border == Border::constant) return nullptr;
  if (job.width > largest_side || job.height > largest_side) return nullptr;
  kernels::RunningMeanArguments arguments;
  kernels::RunningMeanJob& running = arguments.job;
  running.width = static_cast<int>(job.width);
  running.height = static_cast<int>(job.height);
  running.channels = job.read.channels;
  running.type = job.read.type;
  running.output = job.write.type;
  running.decoded = job.read.transfer == Transfer::srgb;
  running.encoded = job.write.transfer == Transfer::srgb;
  running.more_bits = job.write.fraction - job.read.fraction;
  running.weighted = job.read.weighted;
  running.clipped = job.border == Border::shrink;
  running.x = window_of(job.radius.x);
  running.y = window_of(job.radius.y);
  if (is_plain(job) || is_plain_with_alpha(job) || is_working(job)) {
    if (!choose_sums(bounds_of(job, running), job.read, running)) return nullptr;
  } else {
    running.wide = is_wide(job, running) && wide_sums_fit(job, running);
    if (!running.wide) return nullptr;
    running.sums = kernels::RunningSums::u64;
    running.fixed_bits = job.read.fixed_bits;
  }
  running.whole = whole_divisor(running, job.read.maximum);
  arguments.tiles = kernels::running_tiles(running, backend.multiprocessors(), backend.shared_memory());
  if (arguments.tiles.spans == 0) return nullptr;
  arguments.transfer = transfer_of(backend, job);
  Buffer groups = backend.allocate(kernels::running_groups_bytes(running));
  arguments.groups = groups.get();
  return std::make_unique<TiledBoxMean<kernels::RunningMeanArguments>>(
      backend, job, arguments, kernels::running_margin(running), std::move(groups));
}

}  // namespace satin::cuda
