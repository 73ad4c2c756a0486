// Box means on CUDA: the choice of a kernel for a job, and the operations that launch them.
//
// In order of preference: sliding windows or a table in shared memory, in the tiles of means/tiling.h; the
// same for all pixels and then a blend, for a soft mask; a table of linear light in memory; a table of any
// kind.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cuda/backend.h"
#include "core/with_type.h"
#include "kernels/means/launch.h"
#include "kernels/tables/launch.h"
#include "means/box_mean.h"
#include "means/maths/mean.h"
#include "pixels/cuda/transfer.h"
#include "tables/table.h"

namespace satin::cuda {
namespace {

// --- Kernels in the tiles of means/tiling.h ---

/// Offsets in a row are 32-bit integers in the kernels.
constexpr std::int64_t largest_tiled_side = 1LL << 25;

/// Whether a view holds three bytes of each word of 4 bytes, as an RGB view of RGBX does. The fourth byte is
/// not written.
bool is_padded(const ImageView& view) noexcept {
  const auto address = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(view.data));
  return view.shape.type == Type::u8 && view.shape.channels == 3 && view.strides.channel == 1 &&
         view.strides.pixel == 4 && (address | view.strides.row | view.strides.frame) % 4 == 0;
}

/// A box mean by the kernels for `Arguments`.
template <class Arguments>
class TiledBoxMean final : public BoxMeanOperation {
 public:
  /// `memory` is the memory that the arguments point to.
  TiledBoxMean(CudaBackend& backend, const BoxMeanJob& job, const Arguments& arguments, Buffer memory)
      : backend_(backend), arguments_(arguments), memory_(std::move(memory)) {
    const int margin = kernels::margin_of(arguments.job);
    rows_ = backend.upload_positions(job.height, margin, job.border);
    columns_ = backend.upload_positions(job.width, margin, job.border);
    arguments_.rows = reinterpret_cast<const int*>(rows_.get()) + margin;
    arguments_.columns = reinterpret_cast<const int*>(columns_.get()) + margin;
    check(static_cast<cudaError_t>(kernels::prepare_mean(arguments_)), "asking for shared memory");
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return rows_.size + columns_.size + memory_.size;
  }
  [[nodiscard]] bool selects_by_mask() const noexcept override {
    return requires { arguments_.mask; };
  }
  [[nodiscard]] bool accepts(const ImageView& view) const noexcept override {
    if constexpr (std::is_same_v<Arguments, kernels::BoxFilterArguments>)
      if (arguments_.job.may_be_padded() && is_padded(view)) return true;
    return view.interleaved();
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    backend_.select();
    Arguments arguments = arguments_;
    arguments.source = source_of(images.source);
    arguments.output = target_of(images.output);
    if constexpr (requires { arguments.radius_map; }) arguments.radius_map = source_of(images.radius_map);
    if constexpr (requires { arguments.mask; }) arguments.mask = source_of(images.mask);
    if constexpr (requires { arguments.source_pixel; }) {
      arguments.original = source_of(images.original);
      arguments.source_pixel = static_cast<int>(images.source.strides.pixel);
      arguments.output_pixel = static_cast<int>(images.output.strides.pixel);
    }
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

/// Returns arguments with the values that all these kernels take from a job.
template <class Arguments>
Arguments arguments_of(const BoxMeanJob& job) {
  Arguments arguments;
  arguments.job.width = static_cast<int>(job.width);
  arguments.job.height = static_cast<int>(job.height);
  arguments.job.channels = job.read.channels;
  arguments.job.clipped = job.border == Border::shrink;
  return arguments;
}

/// Prepares a box mean by the kernels for `Arguments`; null if no tiles fit the device. memory_of(arguments)
/// allocates the memory that the arguments point to.
template <class Arguments, class MemoryOf>
std::unique_ptr<BoxMeanOperation> in_tiles(CudaBackend& backend, const BoxMeanJob& job, Arguments& arguments,
                                           const MemoryOf& memory_of) {
  arguments.tiles = kernels::tiles_of(arguments, backend.multiprocessors(), backend.shared_memory());
  if (arguments.tiles.spans == 0) return nullptr;
  Buffer memory = memory_of(arguments);
  return std::make_unique<TiledBoxMean<Arguments>>(backend, job, arguments, std::move(memory));
}

/// Whether integers of 8 or 16 bits are read and stored in the same format, without a mask. `weighted`: the
/// last channel is alpha.
bool is_plain(const BoxMeanJob& job, bool weighted) {
  return (job.read.type == Type::u8 || job.read.type == Type::u16) && job.write.type == job.read.type &&
         job.read.weighted == weighted && job.read.fraction == 0 && job.write.fraction == 0 &&
         job.mask_maximum == 0 && job.read.transfer == job.write.transfer;
}

// --- Box filter with one radius ---

/// Returns the window without the common factor of its weights, so that sums are smaller.
kernels::AxisWindow axis_window(Radius256 radius) {
  const auto fraction = static_cast<std::uint32_t>(radius) % radius_one;
  kernels::AxisWindow window;
  window.reach = radius / radius_one;
  if (fraction == 0) return window;
  const std::uint32_t common = std::gcd(fraction, std::uint32_t{radius_one});
  window.inner = (radius_one - fraction) / common;
  window.outer = fraction / common;
  return window;
}

/// Returns the largest weighted number of pixels of a window.
std::uint64_t largest_size(const kernels::AxisWindow& window, std::int64_t size, bool clipped) {
  const auto count = [&](std::int64_t reach) {
    return static_cast<std::uint64_t>(clipped ? std::min(2 * reach + 1, size) : 2 * reach + 1);
  };
  return window.inner * count(window.reach) + window.outer * count(window.reach + 1);
}

constexpr std::uint64_t most_narrow = 0xFFFFFFFFU;

/// Bounds over the whole job.
struct Bounds {
  std::uint64_t column;   ///< largest sum over the outer window of rows
  std::uint64_t box;      ///< largest sum over one whole window along x of weighted columns
  std::uint64_t divisor;  ///< largest divisor of a mean
};

Bounds bounds_of(const BoxMeanJob& job, const kernels::BoxFilterJob& filter) {
  const std::uint64_t x = largest_size(filter.x, job.width, filter.clipped);
  const std::uint64_t y = largest_size(filter.y, job.height, filter.clipped);
  const std::uint64_t rows = largest_size({filter.y.outer_reach()}, job.height, filter.clipped);
  const std::uint64_t whole_x = 2 * static_cast<std::uint64_t>(filter.x.outer_reach()) + 1;
  const std::uint64_t alpha = job.read.weighted ? job.read.alpha_maximum : 1;
  return {rows * job.read.maximum, whole_x * y * job.read.maximum, x * y * alpha};
}

/// Whether the job is a pass between working values of 8 or 16 bits: types, fractions or transfers differ.
bool is_working(const BoxMeanJob& job) {
  const auto narrow = [](Type type) { return type == Type::u8 || type == Type::u16; };
  return (job.write.working || job.read.fraction != 0 || job.read.transfer != job.write.transfer) &&
         narrow(job.read.type) && narrow(job.write.type) && job.read.maximum <= 0xFFFF &&
         !job.read.weighted && job.mask_maximum == 0;
}

/// Returns the kind of a job with light of 24 bits. `packed`: as BoxFilterJob::packed; only such light is
/// premultiplied.
kernels::LightBox light_box(const BoxMeanJob& job, bool packed) {
  using enum kernels::LightBox;
  const PixelRead& read = job.read;
  if (read.maximum > 0xFFFFFF || job.mask_maximum != 0 || read.premultiplied != packed) return none;
  if (job.write.type == Type::u8 && read.type == Type::u32 && packed) return unpremultiplies;
  if (job.write.type != Type::u32 || read.fraction != job.write.fraction) return none;
  return read.type == Type::u32 ? of_light : read.type == Type::u8 && packed ? premultiplies : none;
}

/// Whether the job is one of BoxFilterJob::exceeds_16_bits.
bool is_above_16_bits(const BoxMeanJob& job, const kernels::BoxFilterJob& filter) {
  if (job.mask_maximum != 0) return false;
  const Type from = job.read.type;
  const Type to = job.write.type;
  const bool whole = filter.x.outer == 0 && filter.y.outer == 0;
  if (job.read.weighted) {
    if (to == Type::u64) return filter.packed && whole && from != Type::u8;
    return from == Type::u64 ? filter.packed : from == to && from != Type::u8;
  }
  if (job.read.fixed_point) return to == Type::f32 || whole;
  if (to == Type::u32) return from != Type::u64 && !job.read.premultiplied;
  return from == Type::u32 && (to == Type::u16 || filter.light == kernels::LightBox::unpremultiplies);
}

/// Whether sums of values times alpha fit the kernels for 64 bits: sums of products 63 bits, with the
/// additional fraction bits of means, or of AlphaMeans differences of neighbouring sums 63 bits and sums of
/// alpha 53.
bool weighted_sums_fit(const Bounds& bounds, const BoxMeanJob& job, const kernels::BoxFilterJob& filter) {
  constexpr std::uint64_t most = ~std::uint64_t{0} >> 1;
  const PixelRead& read = job.read;
  if (read.fixed_point) return true;  // by their scale
  if (job.write.type == Type::u64)
    return read.maximum <= (most >> filter.more_bits) / (bounds.divisor / read.alpha_maximum);
  const auto side =
      static_cast<std::uint64_t>(2 * std::max(filter.x.outer_reach(), filter.y.outer_reach()) + 1);
  return side * 2 * (filter.y.inner + filter.y.outer) <= most / read.maximum && bounds.divisor < 1ULL << 53;
}

/// Whether column sums of integers fit 32 bits, and weighted box sums, with the additional fraction bits of
/// means, 63 bits.
bool wide_sums_fit(const Bounds& bounds, const PixelRead& read, int more_bits) {
  constexpr std::uint64_t most_box = ~std::uint64_t{0} >> 1;
  if (bounds.divisor << std::max(-more_bits, 0) >= 1ULL << 47) return false;
  if (read.fixed_point) return true;  // by their scale
  return bounds.column <= most_narrow &&
         read.maximum <= (most_box >> std::max(more_bits, 0)) / bounds.divisor;
}

/// Whether sums over a row of a tile, and weighted box sums, are exact in doubles.
bool fit_doubles(const BoxMeanJob& job, const kernels::BoxFilterJob& filter) {
  constexpr std::uint64_t most = 1ULL << 53;
  constexpr std::uint64_t most_columns = 4096;
  const std::uint64_t x = largest_size(filter.x, job.width, filter.clipped);
  const std::uint64_t y = largest_size(filter.y, job.height, filter.clipped);
  return y <= most / job.read.maximum / std::max(x, most_columns);
}

/// Chooses the widths of the sums. Returns false if they exceed the bounds of
/// kernels/device/exact_division.cuh.
bool choose_sums(const Bounds& bounds, const PixelRead& read, kernels::BoxFilterJob& filter) {
  using kernels::SumWidths;
  const int up = std::max(filter.more_bits, 0);
  const int down = std::max(-filter.more_bits, 0);
  const bool narrow_box =
      bounds.box <= most_narrow >> up && bounds.divisor < (1ULL << 31) >> down && read.maximum <= 0xFFFF;
  const bool narrow_column = bounds.column <= most_narrow;
  filter.sums = narrow_box && !read.weighted ? SumWidths::u32
                : narrow_column              ? SumWidths::u32_u64
                                             : SumWidths::u64;
  filter.has_large_divisors = bounds.divisor >= (1ULL << 28);
  if (filter.sums == SumWidths::u32) return true;
  if (filter.type != filter.output) filter.sums = SumWidths::u32_u64;
  if (filter.type != filter.output || read.weighted) return narrow_column && !filter.has_large_divisors;
  if (filter.sums == SumWidths::u64 && filter.type == Type::u8) return false;
  return bounds.divisor < (1ULL << 38);  // 24 bits of a value more: below 2^62
}

/// Chooses to keep only the low bits of window sums, if WholeRadiusMeans can complete them.
void choose_low_sums(const Bounds& bounds, std::uint64_t maximum, kernels::BoxFilterJob& filter) {
  constexpr std::uint64_t most_apart = 3ULL << 29;  // and divisors below 2^28: together below 2^31
  const bool same_type = filter.type == filter.output || filter.light == kernels::LightBox::premultiplies;
  if (filter.sums != kernels::SumWidths::u32_u64 || !same_type || filter.x.outer != 0 ||
      filter.y.outer != 0 || filter.has_large_divisors)
    return;
  const int low_bits = std::max(0, static_cast<int>(std::bit_width(bounds.box)) - 32);
  const std::uint64_t half_lane = static_cast<std::uint64_t>(kernels::lane_elements / filter.channels / 2);
  const std::uint64_t columns = 2 * static_cast<std::uint64_t>(filter.x.reach) + 1;
  if (half_lane * bounds.column > most_apart || columns * (maximum + (1ULL << low_bits)) > most_apart) return;
  filter.sums = kernels::SumWidths::u32_low;
  filter.low_bits = low_bits;
}

/// Returns the divisor of unclipped windows as a multiplication.
kernels::ScaledDivisor whole_divisor(const kernels::BoxFilterJob& filter, std::uint64_t maximum) {
  if (!filter.uses_whole_radius_kernel()) return {};
  const auto side = [](int reach) { return 2 * static_cast<std::uint64_t>(reach) + 1; };
  const std::uint64_t divisor = side(filter.x.reach) * side(filter.y.reach);
  if (filter.sums == kernels::SumWidths::u32_low)  // for any 32-bit dividend
    return kernels::scaled_divisor(divisor, (most_narrow - divisor / 2) / divisor);
  // A mean with fewer bits may be rounded up to the largest value plus one.
  return filter.more_bits < 0
             ? kernels::scaled_divisor(divisor << -filter.more_bits, (maximum >> -filter.more_bits) + 1)
             : kernels::scaled_divisor(divisor, maximum << filter.more_bits);
}

TransferView transfer_of(CudaBackend& backend, const BoxMeanJob& job) {
  TransferView transfer = device_transfer(backend, job.write.type, job.write.transfer == Transfer::srgb);
  transfer.decode = device_transfer(backend, job.read.type, job.read.transfer == Transfer::srgb).decode;
  return transfer;
}

Prepared<BoxMeanJob> prepare_box_filter(CudaBackend& backend, const BoxMeanJob& job, bool packed) {
  auto arguments = arguments_of<kernels::BoxFilterArguments>(job);
  kernels::BoxFilterJob& filter = arguments.job;
  filter.type = job.read.type;
  filter.output = job.write.type;
  filter.decodes = job.read.transfer == Transfer::srgb;
  filter.encodes = job.write.transfer == Transfer::srgb;
  filter.more_bits = job.write.fraction - job.read.fraction;
  filter.weights_by_alpha = job.read.weighted;
  filter.x = axis_window(job.radius.x);
  filter.y = axis_window(job.radius.y);
  filter.packed = packed;
  filter.light = light_box(job, packed);
  const Bounds bounds = bounds_of(job, filter);
  if (filter.light == kernels::LightBox::of_light || filter.light == kernels::LightBox::premultiplies) {
    if (!filter.starts_from_groups() && choose_sums(bounds, job.read, filter))
      choose_low_sums(bounds, job.read.maximum, filter);
    if (filter.sums != kernels::SumWidths::u32_low) filter.light = kernels::LightBox::none;
  }
  const bool plain_with_alpha = is_plain(job, true) && job.read.type == Type::u8;
  if (is_plain(job, false) || plain_with_alpha || is_working(job)) {
    if (!choose_sums(bounds, job.read, filter)) return nullptr;
    choose_low_sums(bounds, job.read.maximum, filter);
  } else if (filter.sums != kernels::SumWidths::u32_low) {
    filter.exceeds_16_bits = is_above_16_bits(job, filter) &&
                             (job.read.weighted ? weighted_sums_fit(bounds, job, filter)
                                                : wide_sums_fit(bounds, job.read, filter.more_bits)) &&
                             (filter.output != Type::u8 || fit_doubles(job, filter));
    if (!filter.exceeds_16_bits) return nullptr;
    filter.sums = kernels::SumWidths::u64;
    filter.fixed_bits = job.read.fixed_bits;
  }
  filter.unclipped = whole_divisor(filter, job.read.maximum);
  if (filter.unclipped.divisor != 0) filter.quotients_of_half = (1U << 31) / filter.unclipped.divisor;
  arguments.transfer = transfer_of(backend, job);
  if (filter.encodes && filter.output == Type::u8) arguments.cells8 = device_cells8(backend);
  if (filter.decodes && filter.type == Type::u16)
    arguments.more_than_rough16 = device_more_than_rough16(backend);
  return in_tiles(backend, job, arguments, [&](kernels::BoxFilterArguments& of_tiles) {
    Buffer groups = backend.allocate(kernels::row_groups_bytes(filter));
    of_tiles.groups = groups.get();
    return groups;
  });
}

// --- Box filter of the pixels that a mask includes ---

Prepared<BoxMeanJob> prepare_masked_filter(CudaBackend& backend, const BoxMeanJob& job) {
  const auto is_byte = [](const auto& pixels) { return pixels.type == Type::u8; };
  const bool channels = job.read.channels == 1 || job.read.channels == 3;
  if (!is_byte(job.read) || !is_byte(job.write) || !channels || job.read.weighted || job.mask_maximum != 0xFF)
    return nullptr;
  auto arguments = arguments_of<kernels::MaskedFilterArguments>(job);
  kernels::BoxFilterJob& filter = arguments.job;
  filter.decodes = filter.encodes = job.read.transfer == Transfer::srgb;
  filter.x = axis_window(job.radius.x);
  filter.y = axis_window(job.radius.y);
  if (filter.x.outer != 0 || filter.y.outer != 0 || filter.starts_from_groups() ||
      bounds_of(job, filter).box > most_narrow)
    return nullptr;
  arguments.transfer = transfer_of(backend, job);
  if (filter.encodes) arguments.cells8 = device_cells8(backend);
  return in_tiles(backend, job, arguments, [](const kernels::MaskedFilterArguments&) { return Buffer(); });
}

// --- Radius map, with a table in shared memory ---

Prepared<BoxMeanJob> prepare_tiled_table(CudaBackend& backend, const BoxMeanJob& job) {
  const bool of_bytes = job.read.type == Type::u8;
  const bool weighted = of_bytes && job.read.weighted;
  const bool has_kernel = of_bytes ? weighted || job.read.channels <= 3 : job.read.channels % 2 == 1;
  if (!is_plain(job, weighted) || job.read.transfer != Transfer::srgb || !has_kernel) return nullptr;
  const std::int64_t reach =
      (std::int64_t{std::max(job.radius.low, job.radius.high)} + radius_one - 1) / radius_one;
  if (reach == 0) return nullptr;
  auto arguments = arguments_of<kernels::TiledTableArguments>(job);
  arguments.job.type = job.read.type;
  arguments.job.weights_by_alpha = weighted;
  arguments.job.reach = static_cast<int>(reach);
  arguments.job.radius = job.radius;
  arguments.transfer = transfer_of(backend, job);
  return in_tiles(backend, job, arguments, [](const kernels::TiledTableArguments&) { return Buffer(); });
}

/// `packed`: values between this box and other ones are packed.
Prepared<BoxMeanJob> prepare_tiled_box_mean(CudaBackend& backend, const BoxMeanJob& job,
                                            bool packed = false) {
  if (job.border == Border::constant || job.width > largest_tiled_side || job.height > largest_tiled_side)
    return nullptr;
  if (job.radius.from_map) return job.excludes ? nullptr : prepare_tiled_table(backend, job);
  if (job.radius.x == 0 && job.radius.y == 0) return nullptr;
  if (job.excludes) return prepare_masked_filter(backend, job);
  return prepare_box_filter(backend, job, packed);
}

// --- Blend under a mask ---

/// Returns the job without its mask, with means in linear light if the job encodes.
BoxMeanJob without_mask(const BoxMeanJob& job) {
  BoxMeanJob means = job;
  means.mask_maximum = 0;
  means.write.transfer = Transfer::identity;
  if (job.write.transfer == Transfer::srgb) {
    means.write.type = job.write.type == Type::u8 ? Type::u16 : Type::u32;
    means.write.working = true;
  }
  return means;
}

/// Means of all pixels, then blended by the mask.
class BlendedBoxMean final : public BoxMeanOperation {
 public:
  /// `means` is the operation of without_mask(job).
  BlendedBoxMean(CudaBackend& backend, const BoxMeanJob& job, std::unique_ptr<BoxMeanOperation> means)
      : backend_(backend),
        prepared_(std::move(means)),
        shape_{job.width, job.height, job.read.channels, without_mask(job).write.type},
        means_(backend.allocate(byte_size(shape_))) {
    arguments_.width = job.width;
    arguments_.height = job.height;
    arguments_.channels = job.read.channels;
    arguments_.type = job.write.type;
    arguments_.transfer = device_transfer(backend, job.write.type, job.write.transfer == Transfer::srgb);
    arguments_.largest_weight = kernels::scaled_divisor(job.mask_maximum, 0xFFFF);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return prepared_->workspace_bytes() + means_.size;
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    BoxMeanImages unblended = images;
    unblended.mask = {};
    unblended.output = mutable_view_of(means_.get(), shape_, images.output.memory);
    prepared_->run(unblended, stream);
    kernels::BlendMeansArguments arguments = arguments_;
    arguments.picture = source_of(images.original);
    arguments.means = source_of(unblended.output);
    arguments.mask = source_of(images.mask);
    arguments.output = target_of(images.output);
    kernels::blend_means(arguments, backend_.stream_of(stream));
    check_launch("blending means by a mask");
  }

 private:
  CudaBackend& backend_;
  std::unique_ptr<BoxMeanOperation> prepared_;
  Shape shape_;
  Buffer means_;
  kernels::BlendMeansArguments arguments_;
};

/// Prepares means that are blended; null if the job has no mask or its means need a table in memory.
Prepared<BoxMeanJob> prepare_blended(CudaBackend& backend, const BoxMeanJob& job) {
  const bool integers = job.write.type == Type::u8 || job.write.type == Type::u16;
  if (job.mask_maximum == 0 || !integers || job.read.weighted) return nullptr;
  const BoxMeanJob means = without_mask(job);
  // The box filter does not change the fraction of values of one type.
  if (job.read.fraction != 0 && means.write.type == job.read.type) return nullptr;
  auto prepared = prepare_tiled_box_mean(backend, means);
  if (prepared == nullptr) return nullptr;
  return std::make_unique<BlendedBoxMean>(backend, job, std::move(prepared));
}

// --- Tables in memory ---

constexpr std::int64_t row_alignment = 32;  // bytes: a sector of the L2
/// Positions of windows are 32-bit integers in the kernels.
constexpr std::int64_t largest_table_side = 1LL << 30;

TableJob table_of(const BoxMeanJob& job) {
  if (job.width > largest_table_side || job.height > largest_table_side)
    throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
  TableJob table;
  table.width = job.width;
  table.height = job.height;
  table.read = job.read;
  table.accumulator = job.accumulator;
  return table;
}

TableJob counts_of(const BoxMeanJob& job) {
  TableJob table = table_of(job);
  table.read = counted_pixels();
  table.accumulator = Accumulator::u32;
  return table;
}

/// A summed-area table with its memory, with or without a frame: a row and a column of zeros before the first
/// ones.
class DeviceTable {
 public:
  enum class Frame : std::uint8_t { none, zeros };

  DeviceTable(CudaBackend& backend, const TableJob& job, Frame frame) : build_(backend.prepare(job)) {
    const Type type = job.accumulator == Accumulator::u32 ? Type::u32 : Type::u64;
    const Shape shape{job.width, job.height, job.read.channels, type};
    const bool has_frame = frame == Frame::zeros;
    Strides strides = interleaved_strides(shape);
    strides.row += has_frame ? strides.pixel : 0;
    strides.row = (strides.row + row_alignment - 1) / row_alignment * row_alignment;
    strides.frame = strides.row * shape.height;
    // A frame needs the entry left of its row, then that row.
    const std::int64_t frame_bytes = has_frame ? row_alignment + strides.row : 0;
    memory_ = backend.allocate(static_cast<std::size_t>(frame_bytes + strides.frame));
    view_ = {memory_.get() + frame_bytes, shape, strides, Memory::device};
    if (!has_frame) return;
    check(cudaMemsetAsync(memory_.get(), 0, memory_.size, backend.stream_of({})), "clearing a table's frame");
    backend.synchronize({});
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.size + build_->workspace_bytes(); }
  [[nodiscard]] const MutableImageView& view() const noexcept { return view_; }
  void build(const ImageView& picture, const Measured* measured, Stream stream) {
    build_->run(picture, measured, view_, stream);
  }

 private:
  std::unique_ptr<TableOperation> build_;
  Buffer memory_;
  MutableImageView view_;
};

/// The table of light (kernels/tables/light_table.cuh) behind a row and a column of zeros.
class LightTable {
 public:
  LightTable(CudaBackend& backend, TableJob job) : backend_(backend) {
    job.accumulator = Accumulator::u32;
    arguments_.job = job;
    arguments_.tiles = kernels::table_tiles(job, backend.multiprocessors());
    arguments_.transfer = device_transfer(backend, Type::u8, true);
    carries_ = backend.allocate(kernels::table_workspace_bytes(arguments_.tiles));
    arguments_.workspace = carries_.get();

    constexpr std::int64_t line = 128;  // bytes: a line of the L1
    const auto entry = static_cast<std::int64_t>(kernels::light_entry_bytes(job.read.channels));
    // The entry before a row is the last one of the row above. The kernel may write one behind the picture.
    const std::int64_t row = ((job.width + 2) * entry + line - 1) / line * line;
    memory_ = backend.allocate(static_cast<std::size_t>(line + row * (job.height + 1)));
    check(cudaMemsetAsync(memory_.get(), 0, memory_.size, backend.stream_of({})), "clearing a table's frame");
    backend.synchronize({});
    arguments_.light = {memory_.get() + line + row, row};
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.size + carries_.size; }
  [[nodiscard]] kernels::Source view() const noexcept {
    return {arguments_.light.data, arguments_.light.row};
  }
  void build(const ImageView& picture, Stream stream) {
    kernels::TableArguments arguments = arguments_;
    arguments.picture = source_of(picture);
    kernels::build_table(arguments, backend_.stream_of(stream));
    check_launch("building a summed-area table");
  }

 private:
  CudaBackend& backend_;
  kernels::TableArguments arguments_;
  Buffer carries_;
  Buffer memory_;
};

class LightGather final : public BoxMeanOperation {
 public:
  LightGather(CudaBackend& backend, const BoxMeanJob& job)
      : backend_(backend), table_(backend, table_of(job)) {
    if (job.excludes) counts_.emplace(backend, counts_of(job), DeviceTable::Frame::zeros);
    arguments_.width = static_cast<int>(job.width);
    arguments_.height = static_cast<int>(job.height);
    arguments_.channels = job.read.channels;
    arguments_.radius = job.radius;
    arguments_.transfer = device_transfer(backend, Type::u8, true);
    arguments_.largest_weight = kernels::scaled_divisor(job.mask_maximum, 0xFFFF);
    arguments_.table = table_.view();
    arguments_.blocks = backend.multiprocessors() * kernels::tuning::light_gather_blocks;
    if (counts_) arguments_.counts = source_of(counts_->view());
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return table_.bytes() + (counts_ ? counts_->bytes() : 0);
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    backend_.select();
    table_.build(images.source, stream);
    if (counts_) counts_->build(images.included, nullptr, stream);
    kernels::LightGatherArguments arguments = arguments_;
    arguments.radius_map = source_of(images.radius_map);
    arguments.original = source_of(images.original);
    arguments.mask = source_of(images.mask);
    arguments.output = target_of(images.output);
    kernels::gather_light(arguments, backend_.stream_of(stream));
    check_launch("averaging over boxes");
  }

 private:
  CudaBackend& backend_;
  LightTable table_;
  std::optional<DeviceTable> counts_;  ///< table of the validity mask
  kernels::LightGatherArguments arguments_;
};

Prepared<BoxMeanJob> prepare_light_gather(CudaBackend& backend, const BoxMeanJob& job) {
  const auto is_light = [](const auto& pixels) {
    return pixels.type == Type::u8 && pixels.transfer == Transfer::srgb;
  };
  const RadiusField& radius = job.radius;
  const Radius256 largest =
      radius.from_map ? std::max(radius.low, radius.high) : std::max(radius.x, radius.y);
  if (!is_light(job.read) || !is_light(job.write) || job.read.weighted || job.border != Border::shrink ||
      (!radius.from_map && radius.x != radius.y) ||
      largest > kernels::LightGatherArguments::largest_reach * radius_one ||
      std::max(job.width, job.height) > kernels::largest_light_side)
    return nullptr;
  return std::make_unique<LightGather>(backend, job);
}

bool is_identity(const RadiusField& radius) {
  return radius.from_map ? radius.low == 0 && radius.high == 0 : radius.x == 0 && radius.y == 0;
}

class BoxMeanTable final : public BoxMeanOperation {
 public:
  BoxMeanTable(CudaBackend& backend, const BoxMeanJob& job)
      : backend_(backend), output_type_(job.write.type) {
    if (!is_identity(job.radius)) {
      table_.emplace(backend, table_of(job), DeviceTable::Frame::none);
      arguments_.table = table_->view().data;
      arguments_.table_row = table_->view().strides.row;
      if (job.excludes) {
        counts_.emplace(backend, counts_of(job), DeviceTable::Frame::none);
        arguments_.counts = reinterpret_cast<const std::uint32_t*>(counts_->view().data);
        arguments_.counts_row = counts_->view().strides.row;
      }
    }
    arguments_.width = job.width;
    arguments_.height = job.height;
    arguments_.read = job.read;
    arguments_.read_transfer = device_transfer(backend, job.read.type, job.read.transfer == Transfer::srgb);
    arguments_.radius = job.radius;
    arguments_.border = job.border;
    arguments_.border_number = job.border_number;
    arguments_.accumulator = job.accumulator;
    arguments_.rule =
        mean_rule(job, device_transfer(backend, job.write.type, job.write.transfer == Transfer::srgb));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return (table_ ? table_->bytes() : 0) + (counts_ ? counts_->bytes() : 0);
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    backend_.select();
    if (table_) table_->build(images.source, images.measured, stream);
    if (counts_) counts_->build(images.included, nullptr, stream);
    kernels::BoxMeanArguments arguments = arguments_;
    arguments.measured = images.measured;
    arguments.source = source_of(images.source);
    arguments.original = source_of(images.original);
    arguments.radius_map = source_of(images.radius_map);
    arguments.mask = source_of(images.mask);
    arguments.output = target_of(images.output);
    with_type(output_type_, [&]<class T>() {
      if constexpr (!std::is_same_v<T, std::int32_t> && !std::is_same_v<T, double>)  // types of pixels
        kernels::box_mean_to<T>(arguments, backend_.stream_of(stream));
    });
    check_launch("averaging over boxes");
  }

 private:
  CudaBackend& backend_;
  Type output_type_;
  std::optional<DeviceTable> table_;   ///< none for radius 0
  std::optional<DeviceTable> counts_;  ///< table of the validity mask
  kernels::BoxMeanArguments arguments_;
};

// --- Successive boxes ---

/// Successive boxes with packed values between them.
class PackedBoxes final : public BoxMeanOperation {
 public:
  using Boxes = std::vector<std::unique_ptr<BoxMeanOperation>>;

  PackedBoxes(CudaBackend& backend, const BoxMeanJob& first, Boxes boxes) : boxes_(std::move(boxes)) {
    const int bits = first.write.type == Type::u64 ? 48 : 24;
    between_.strides.row = kernels::packed_row_bytes(first.width, first.read.channels, bits);
    const auto bytes = static_cast<std::size_t>(between_.strides.row * first.height);
    for (std::size_t i = 0; i + 1 < std::min(boxes_.size(), values_.size() + 1); ++i)
      values_[i] = backend.allocate(bytes);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const auto& box : boxes_) bytes += box->workspace_bytes();
    for (const Buffer& buffer : values_) bytes += buffer.size;
    return bytes;
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    BoxMeanImages box = images;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      between_.data = values_[i % 2].get();
      box.output = i + 1 == boxes_.size() ? images.output : between_;
      boxes_[i]->run(box, stream);
      box.source = box.output;
    }
  }

 private:
  Boxes boxes_;
  std::array<Buffer, 2> values_;  ///< between two boxes, in turns
  MutableImageView between_;      ///< one of them; only its rows have a meaning
};

}  // namespace

Prepared<BoxChainJob> prepare_box_chain(Backend& backend, const BoxChainJob& chain) {
  const BoxMeanJob& first = chain.boxes.front();
  const BoxMeanJob& last = chain.boxes.back();
  const bool light = first.read.premultiplied && first.read.transfer == Transfer::srgb;
  if ((!light && first.write.type != Type::u64) || last.write.working || last.mask_maximum != 0)
    return nullptr;
  PackedBoxes::Boxes boxes;
  for (const BoxMeanJob& job : chain.boxes) {
    boxes.push_back(prepare_tiled_box_mean(as_cuda(backend), job, true));
    if (boxes.back() == nullptr) return nullptr;
  }
  return std::make_unique<PackedBoxes>(as_cuda(backend), first, std::move(boxes));
}

Prepared<BoxMeanJob> prepare_box_mean(Backend& backend, const BoxMeanJob& job) {
  CudaBackend& cuda = as_cuda(backend);
  if (auto tiled = prepare_tiled_box_mean(cuda, job)) return tiled;
  if (!job.excludes)
    if (auto blended = prepare_blended(cuda, job)) return blended;
  if (auto gathered = prepare_light_gather(cuda, job)) return gathered;
  return std::make_unique<BoxMeanTable>(cuda, job);
}

}  // namespace satin::cuda
