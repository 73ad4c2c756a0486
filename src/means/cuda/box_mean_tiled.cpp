// Box means without a table in device memory: by one small whole radius of encoded bytes, by one radius of
// any kind, and by a radius map of bytes.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cuda/backend.h"
#include "kernels/means/launch.h"
#include "means/cuda/box_mean.h"
#include "pixels/cuda/transfer.h"

namespace satin::cuda {
namespace {

// --- What the kernels share ---

constexpr std::int64_t largest_side = 1LL << 25;  // offsets within a row are 32-bit integers in the kernels

/// Whether these are the arguments of the kernel that counts the pixels which a mask leaves.
template <class Arguments>
inline constexpr bool counts_masked_pixels = std::is_same_v<Arguments, kernels::CountedMeanArguments>;

/// Box means by the kernels for `Arguments`, whose positions this class makes.
template <class Arguments>
class TiledBoxMean final : public BoxMeanOperation {
 public:
  /// `memory`: what the arguments point to.
  TiledBoxMean(CudaBackend& backend, const BoxMeanJob& job, const Arguments& arguments, Buffer memory)
      : backend_(backend), arguments_(arguments), memory_(std::move(memory)) {
    const int margin = kernels::margin_of(arguments.job);
    rows_ = upload_positions(backend, job.height, margin, job.border);
    columns_ = upload_positions(backend, job.width, margin, job.border);
    arguments_.rows = reinterpret_cast<const int*>(rows_.get()) + margin;
    arguments_.columns = reinterpret_cast<const int*>(columns_.get()) + margin;
    check(static_cast<cudaError_t>(kernels::prepare_mean(arguments_)), "asking for shared memory");
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return rows_.size + columns_.size + memory_.size;
  }
  [[nodiscard]] bool selects_by_mask() const noexcept override { return counts_masked_pixels<Arguments>; }

  void run(const BoxMeanImages& images, Stream stream) override {
    backend_.select();
    Arguments arguments = arguments_;
    arguments.source = source_of(images.source);
    arguments.output = target_of(images.output);
    if constexpr (requires { arguments.radius_map; }) arguments.radius_map = source_of(images.radius_map);
    if constexpr (counts_masked_pixels<Arguments>) arguments.mask = source_of(images.mask);
    if constexpr (requires { arguments.measured; }) arguments.measured = images.measured;
    kernels::launch_mean(arguments, backend_.stream_of(stream));
    check_launch("averaging over boxes");
  }

 private:
  CudaBackend& backend_;
  Arguments arguments_;
  Buffer rows_;
  Buffer columns_;
  Buffer memory_;
};

/// Arguments with what all kernels have in common of a job.
template <class Arguments>
Arguments arguments_of(const BoxMeanJob& job) {
  Arguments arguments;
  arguments.job.width = static_cast<int>(job.width);
  arguments.job.height = static_cast<int>(job.height);
  arguments.job.channels = job.read.channels;
  arguments.job.clipped = job.border == Border::shrink;
  return arguments;
}

/// Null if the device has no tiles for the job. memory_of(arguments) is what the arguments then point to.
template <class Arguments, class MemoryOf>
std::unique_ptr<BoxMeanOperation> in_tiles(CudaBackend& backend, const BoxMeanJob& job, Arguments& arguments,
                                           const MemoryOf& memory_of) {
  if constexpr (counts_masked_pixels<Arguments>) {
    arguments.tiles =
        kernels::counted_tiles_of(arguments.job, backend.multiprocessors(), backend.shared_memory());
  } else {
    arguments.tiles = kernels::tiles_of(arguments.job, backend.multiprocessors(), backend.shared_memory());
  }
  if (arguments.tiles.spans == 0) return nullptr;
  Buffer memory = memory_of(arguments);
  return std::make_unique<TiledBoxMean<Arguments>>(backend, job, arguments, std::move(memory));
}

/// Integers of 8 or 16 bits, stored and read alike, without a mask; `weighted`: whether the last channel is
/// alpha.
bool is_plain(const BoxMeanJob& job, bool weighted) {
  return (job.read.type == Type::u8 || job.read.type == Type::u16) && job.write.type == job.read.type &&
         job.read.weighted == weighted && job.read.fraction == 0 && job.write.fraction == 0 &&
         job.mask_maximum == 0 && job.read.transfer == job.write.transfer;
}

// --- One radius ---

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

constexpr std::uint64_t most_narrow = 0xFFFFFFFFU;

/// Bounds over the whole job.
struct Bounds {
  std::uint64_t column;   ///< sum over the outer window of rows
  std::uint64_t box;      ///< sum over one whole window along x of weighted columns
  std::uint64_t divisor;  ///< of a mean
};

Bounds bounds_of(const BoxMeanJob& job, const kernels::RunningMeanJob& running) {
  const std::uint64_t x = largest_size(running.x, job.width, running.clipped);
  const std::uint64_t y = largest_size(running.y, job.height, running.clipped);
  const std::uint64_t rows = largest_size({running.y.outer_reach()}, job.height, running.clipped);
  const std::uint64_t whole_x = 2 * static_cast<std::uint64_t>(running.x.outer_reach()) + 1;
  const std::uint64_t alpha = job.read.weighted ? job.read.alpha_maximum : 1;
  return {rows * job.read.maximum, whole_x * y * job.read.maximum, x * y * alpha};
}

/// Between two passes, or from the last one: other bits below the point, or another type.
bool is_working(const BoxMeanJob& job) {
  const auto narrow = [](Type type) { return type == Type::u8 || type == Type::u16; };
  return (job.write.working || job.read.fraction != 0 || job.read.transfer != job.write.transfer) &&
         narrow(job.read.type) && narrow(job.write.type) && job.read.maximum <= 0xFFFF &&
         !job.read.weighted && job.mask_maximum == 0;
}

/// True for more than 16 bits in the source or in the result, as RunningMeanJob::wide says.
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
bool wide_sums_fit(const Bounds& bounds, const PixelRead& read, int more_bits) {
  constexpr std::uint64_t most_box = ~std::uint64_t{0} >> 1;
  if (bounds.divisor << std::max(-more_bits, 0) >= 1ULL << 47) return false;
  if (read.fixed_point) return true;  // by their scale
  return bounds.column <= most_narrow &&
         read.maximum <= (most_box >> std::max(more_bits, 0)) / bounds.divisor;
}

/// Chooses the widths of the sums. False if some do not fit what kernels/device/exact_division.cuh asks for.
bool choose_sums(const Bounds& bounds, const PixelRead& read, kernels::RunningMeanJob& running) {
  using kernels::RunningSums;
  const int up = std::max(running.more_bits, 0);
  const int down = std::max(-running.more_bits, 0);
  const bool narrow_box =
      bounds.box <= most_narrow >> up && bounds.divisor < (1ULL << 31) >> down && read.maximum <= 0xFFFF;
  const bool narrow_column = bounds.column <= most_narrow;
  running.sums = narrow_box && !read.weighted ? RunningSums::u32
                 : narrow_column              ? RunningSums::u32_u64
                                              : RunningSums::u64;
  running.large_divisors = bounds.divisor >= (1ULL << 28);
  if (running.sums == RunningSums::u32) return true;
  if (running.type != running.output) running.sums = RunningSums::u32_u64;
  if (running.type != running.output || read.weighted) return narrow_column && !running.large_divisors;
  if (running.sums == RunningSums::u64 && running.type == Type::u8) return false;
  return bounds.divisor < (1ULL << 38);  // 24 bits of a value more: below 2^62
}

/// Keeps only the low bits of sums over whole windows, where those tell the rest:
/// kernels/means/box_mean_whole.cuh.
void choose_low_sums(const Bounds& bounds, std::uint64_t maximum, kernels::RunningMeanJob& running) {
  constexpr std::uint64_t most_apart = 3ULL << 29;  // and divisors below 2^28: together below 2^31
  if (running.sums != kernels::RunningSums::u32_u64 || running.type != running.output ||
      running.x.outer != 0 || running.y.outer != 0 || running.large_divisors)
    return;
  const int low_bits = std::max(0, static_cast<int>(std::bit_width(bounds.box)) - 32);
  const std::uint64_t half_lane =
      static_cast<std::uint64_t>(kernels::running_elements / running.channels / 2);
  const std::uint64_t columns = 2 * static_cast<std::uint64_t>(running.x.reach) + 1;
  if (half_lane * bounds.column > most_apart || columns * (maximum + (1ULL << low_bits)) > most_apart) return;
  running.sums = kernels::RunningSums::u32_low;
  running.low_bits = low_bits;
}

/// Windows that are not clipped, divided by a multiplication.
kernels::ScaledDivisor whole_divisor(const kernels::RunningMeanJob& running, std::uint64_t maximum) {
  if (!running.whole_windows()) return {};
  const auto side = [](int reach) { return 2 * static_cast<std::uint64_t>(reach) + 1; };
  const std::uint64_t divisor = side(running.x.reach) * side(running.y.reach);
  if (running.sums == kernels::RunningSums::u32_low)  // of any dividend
    return kernels::scaled_divisor(divisor, (most_narrow - divisor / 2) / divisor);
  // A mean that has fewer bits may be rounded up to one more than the largest value without them.
  return running.more_bits < 0
             ? kernels::scaled_divisor(divisor << -running.more_bits, (maximum >> -running.more_bits) + 1)
             : kernels::scaled_divisor(divisor, maximum << running.more_bits);
}

/// Tables that decode the values and encode the means.
TransferView transfer_of(CudaBackend& backend, const BoxMeanJob& job) {
  TransferView transfer = device_transfer(backend, job.write.type, job.write.transfer == Transfer::srgb);
  transfer.decode = device_transfer(backend, job.read.type, job.read.transfer == Transfer::srgb).decode;
  return transfer;
}

Prepared<BoxMeanJob> prepare_running(CudaBackend& backend, const BoxMeanJob& job) {
  auto arguments = arguments_of<kernels::RunningMeanArguments>(job);
  kernels::RunningMeanJob& running = arguments.job;
  running.type = job.read.type;
  running.output = job.write.type;
  running.decoded = job.read.transfer == Transfer::srgb;
  running.encoded = job.write.transfer == Transfer::srgb;
  running.more_bits = job.write.fraction - job.read.fraction;
  running.weighted = job.read.weighted;
  running.x = window_of(job.radius.x);
  running.y = window_of(job.radius.y);
  const Bounds bounds = bounds_of(job, running);
  const bool plain_with_alpha = is_plain(job, true) && job.read.type == Type::u8;
  if (is_plain(job, false) || plain_with_alpha || is_working(job)) {
    if (!choose_sums(bounds, job.read, running)) return nullptr;
    choose_low_sums(bounds, job.read.maximum, running);
  } else {
    running.wide = is_wide(job, running) && wide_sums_fit(bounds, job.read, running.more_bits);
    if (!running.wide) return nullptr;
    running.sums = kernels::RunningSums::u64;
    running.fixed_bits = job.read.fixed_bits;
  }
  running.whole = whole_divisor(running, job.read.maximum);
  if (running.whole.divisor != 0) running.quotients_of_half = (1U << 31) / running.whole.divisor;
  arguments.transfer = transfer_of(backend, job);
  if (running.encoded && running.output == Type::u8) arguments.cells8 = device_cells8(backend);
  if (running.decoded && running.type == Type::u16)
    arguments.more_than_rough16 = device_more_than_rough16(backend);
  return in_tiles(backend, job, arguments, [&](kernels::RunningMeanArguments& of_tiles) {
    Buffer groups = backend.allocate(kernels::running_groups_bytes(running));
    of_tiles.groups = groups.get();
    return groups;
  });
}

// --- One radius, of the pixels that a mask leaves ---

Prepared<BoxMeanJob> prepare_counted(CudaBackend& backend, const BoxMeanJob& job) {
  const auto is_byte = [](const auto& pixels) { return pixels.type == Type::u8; };
  const bool channels = job.read.channels == 1 || job.read.channels == 3;
  if (!is_byte(job.read) || !is_byte(job.write) || !channels || job.read.weighted || job.mask_maximum != 0xFF)
    return nullptr;
  auto arguments = arguments_of<kernels::CountedMeanArguments>(job);
  kernels::RunningMeanJob& running = arguments.job;
  running.decoded = running.encoded = job.read.transfer == Transfer::srgb;
  running.x = window_of(job.radius.x);
  running.y = window_of(job.radius.y);
  if (running.x.outer != 0 || running.y.outer != 0 || running.grouped() ||
      bounds_of(job, running).box > most_narrow)
    return nullptr;
  arguments.transfer = transfer_of(backend, job);
  if (running.encoded) arguments.cells8 = device_cells8(backend);
  return in_tiles(backend, job, arguments, [](const kernels::CountedMeanArguments&) { return Buffer(); });
}

// --- Bytes by a radius map ---

Prepared<BoxMeanJob> prepare_table_in_tiles(CudaBackend& backend, const BoxMeanJob& job) {
  using Limits = kernels::TiledTableJob;
  if (!is_plain(job, false) || job.read.type != Type::u8 || job.read.channels > 3) return nullptr;
  const std::int64_t reach =
      (std::int64_t{std::max(job.radius.low, job.radius.high)} + radius_one - 1) / radius_one;
  const std::int64_t window = 2 * reach + 1;
  if (reach == 0 || reach > Limits::largest_reach) return nullptr;
  const bool linear = job.read.transfer == Transfer::srgb;
  if (!linear && window * window * 0xFF >= std::int64_t{1} << Limits::sum_bits(job.read.channels))
    return nullptr;
  auto arguments = arguments_of<kernels::TiledTableArguments>(job);
  arguments.job.reach = static_cast<int>(reach);
  arguments.job.linear = linear;
  arguments.job.radius = job.radius;
  arguments.transfer = transfer_of(backend, job);
  return in_tiles(backend, job, arguments, [](const kernels::TiledTableArguments&) { return Buffer(); });
}

}  // namespace

Prepared<BoxMeanJob> prepare_tiled_box_mean(CudaBackend& backend, const BoxMeanJob& job) {
  if (job.border == Border::constant || job.width > largest_side || job.height > largest_side) return nullptr;
  if (job.radius.from_map) return job.excludes ? nullptr : prepare_table_in_tiles(backend, job);
  if (job.radius.x == 0 && job.radius.y == 0) return nullptr;
  if (job.excludes) return prepare_counted(backend, job);
  return prepare_running(backend, job);
}

Buffer upload_positions(CudaBackend& backend, std::int64_t size, int margin, Border border) {
  std::vector<int> sources;
  for (std::int64_t position = -margin; position < size + margin; ++position)
    sources.push_back(static_cast<int>(satin::source_of(position, size, border)));
  return backend.uploaded(sources);
}

}  // namespace satin::cuda
