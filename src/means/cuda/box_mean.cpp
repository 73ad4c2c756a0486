// Box means with a table of the source in device memory, then a gather: one way for bytes in linear light,
// and one for anything. Under a mask the means of ways without a table are blended.

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/cuda/backend.h"
#include "core/with_type.h"
#include "kernels/means/launch.h"
#include "means/box_mean.h"
#include "means/cuda/box_mean.h"
#include "means/maths/mean.h"
#include "pixels/cuda/transfer.h"
#include "tables/table.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t row_alignment = 32;        // bytes: a sector of the L2
constexpr std::int64_t largest_side = 1LL << 30;  // positions of windows are 32-bit integers in the kernels

/// True if every sum, times at most 256 * 256 parts of a pixel, is below 2^63 with the bits that a working
/// output has more.
bool sums_are_narrow(const BoxMeanJob& job) {
  if (job.read.fixed_point) return false;
  const std::uint64_t largest_sum =
      (static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 65536) >>
      std::max(0, job.write.fraction - job.read.fraction);
  const std::uint64_t area = largest_box(job.width, job.height, job.radius, job.border);
  return job.read.maximum <= largest_sum / area;
}

bool is_identity(const RadiusField& radius) {
  return radius.from_map ? radius.low == 0 && radius.high == 0 : radius.x == 0 && radius.y == 0;
}

/// A table with its memory.
class BuiltTable {
 public:
  BuiltTable(CudaBackend& backend, const TableJob& job) : build_(backend.prepare(job)) {
    Shape shape;
    shape.width = job.width;
    shape.height = job.height;
    shape.channels = job.read.channels;
    shape.type = job.accumulator == Accumulator::u32 ? Type::u32 : Type::u64;
    Strides strides = interleaved_strides(shape);
    strides.row = (strides.row + row_alignment - 1) / row_alignment * row_alignment;
    strides.frame = strides.row * shape.height;
    memory_ = backend.allocate(static_cast<std::size_t>(strides.frame));
    view_ = {memory_.get(), shape, strides, Memory::device};
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

class BoxMeanTable final : public BoxMeanOperation {
 public:
  BoxMeanTable(CudaBackend& backend, const BoxMeanJob& job)
      : backend_(backend), output_type_(job.write.type) {
    if (!is_identity(job.radius)) {
      table_.emplace(backend, table_of(job));
      arguments_.table = table_->view().data;
      arguments_.table_row = table_->view().strides.row;
      if (job.excludes) {
        counts_.emplace(backend, counts_of(job));
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
    arguments_.narrow = sums_are_narrow(job);
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
  std::optional<BuiltTable> table_;   ///< none for radius 0
  std::optional<BuiltTable> counts_;  ///< of the pixels that count, if only some do
  kernels::BoxMeanArguments arguments_;
};

/// The working values of a job's means without their mask.
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

/// Means under a mask: those of all pixels without a table in memory, then blended.
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
    arguments_.whole = kernels::scaled_divisor(job.mask_maximum, 0xFFFF);
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

/// Null if the job has no mask, or its means need a table in memory anyway.
Prepared<BoxMeanJob> prepare_blended(CudaBackend& backend, const BoxMeanJob& job) {
  const bool integers = job.write.type == Type::u8 || job.write.type == Type::u16;
  if (job.mask_maximum == 0 || !integers || job.read.weighted) return nullptr;
  const BoxMeanJob means = without_mask(job);
  // Values of one type that change their fraction are no job of running sums.
  if (job.read.fraction != 0 && means.write.type == job.read.type) return nullptr;
  auto prepared = prepare_tiled_box_mean(backend, means);
  if (prepared == nullptr) return nullptr;
  return std::make_unique<BlendedBoxMean>(backend, job, std::move(prepared));
}

}  // namespace

TableJob table_of(const BoxMeanJob& job) {
  if (job.width > largest_side || job.height > largest_side)
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

Prepared<BoxMeanJob> prepare_box_mean(Backend& backend, const BoxMeanJob& job) {
  CudaBackend& cuda = as_cuda(backend);
  if (auto tiled = prepare_tiled_box_mean(cuda, job)) return tiled;
  if (!job.excludes)
    if (auto blended = prepare_blended(cuda, job)) return blended;
  if (auto gathered = prepare_light_gather(cuda, job)) return gathered;
  return std::make_unique<BoxMeanTable>(cuda, job);
}

}  // namespace satin::cuda
