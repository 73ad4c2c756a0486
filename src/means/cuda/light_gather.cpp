// Box means of bytes in linear light from a table in device memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/cuda/backend.h"
#include "kernels/means/launch.h"
#include "kernels/tables/launch.h"
#include "means/cuda/box_mean.h"
#include "pixels/cuda/transfer.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t row_alignment = 32;  // bytes: a sector of the L2

/// A table of 32-bit sums of one channel in memory, in a frame of zeros: what lies before the first row and
/// column.
class FramedTable {
 public:
  FramedTable(CudaBackend& backend, const TableJob& job) : build_(backend.prepare(job)) {
    const Shape shape{job.width, job.height, 1, Type::u32};
    Strides strides = interleaved_strides(shape);
    strides.row = (strides.row + strides.pixel + row_alignment - 1) / row_alignment * row_alignment;
    memory_ = backend.allocate(static_cast<std::size_t>(row_alignment + strides.row * (shape.height + 1)));
    check(cudaMemsetAsync(memory_.get(), 0, memory_.size, backend.stream_of({})), "clearing a table's frame");
    backend.synchronize({});
    // The memory holds the entry left of the frame's row, then that row, then the table.
    view_ = {memory_.get() + row_alignment + strides.row, shape, strides, Memory::device};
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.size + build_->workspace_bytes(); }
  [[nodiscard]] const MutableImageView& view() const noexcept { return view_; }
  void build(const ImageView& picture, Stream stream) { build_->run(picture, nullptr, view_, stream); }

 private:
  std::unique_ptr<TableOperation> build_;
  Buffer memory_;
  MutableImageView view_;
};

/// The table of linear light modulo 2^32, a plane a channel, with its upper bits. What lies before the first
/// row and column is 0.
class LightTable {
 public:
  LightTable(CudaBackend& backend, TableJob job) : backend_(backend) {
    job.accumulator = Accumulator::u32;
    arguments_.job = job;
    arguments_.tiles = kernels::table_tiles(job, backend.multiprocessors());
    arguments_.transfer = device_transfer(backend, Type::u8, true);
    carries_ = backend.allocate(kernels::table_workspace_bytes(arguments_.tiles));
    arguments_.workspace = carries_.get();

    using Blocks = kernels::TableBlocks;
    using Upper = kernels::UpperBits;
    const auto blocks_of = [](std::int64_t entries, int side) { return 1 + (entries + side - 1) / side; };
    Blocks& blocks = arguments_.blocks;
    // An even number of blocks a row: four neighbouring lines then lie in different sets of the L1.
    blocks.strips = static_cast<int>((blocks_of(job.width, Blocks::columns) + 1) / 2 * 2 * Blocks::rows);
    const std::int64_t row = std::int64_t{blocks.strips} * Blocks::strip_bytes;
    blocks.plane = blocks_of(job.height, Blocks::rows) * row;
    blocks.upper.row = static_cast<int>(job.width / Upper::step + 1);
    const std::int64_t planes = blocks.plane * job.read.channels;
    const std::int64_t upper_entries = std::int64_t{blocks.upper.row} * (job.height / Upper::step + 1);
    memory_ = backend.allocate(static_cast<std::size_t>(planes) +
                               static_cast<std::size_t>(upper_entries) * sizeof(std::uint32_t));
    check(cudaMemsetAsync(memory_.get(), 0, memory_.size, backend.stream_of({})), "clearing a table's frame");
    backend.synchronize({});
    // Every plane begins with a row of blocks of the frame, every row with one of its blocks.
    blocks.data = memory_.get() + row + Blocks::rows * Blocks::strip_bytes;
    blocks.upper.data = reinterpret_cast<std::uint32_t*>(memory_.get() + planes);
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.size + carries_.size; }
  [[nodiscard]] const kernels::TableBlocks& blocks() const noexcept { return arguments_.blocks; }
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
    if (job.excludes) counts_.emplace(backend, counts_of(job));
    arguments_.width = static_cast<int>(job.width);
    arguments_.height = static_cast<int>(job.height);
    arguments_.channels = job.read.channels;
    arguments_.radius = job.radius;
    arguments_.transfer = device_transfer(backend, Type::u8, true);
    arguments_.whole = kernels::scaled_divisor(job.mask_maximum, 0xFFFF);
    arguments_.table = table_.blocks();
    if (counts_) arguments_.counts = source_of(counts_->view());
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return table_.bytes() + (counts_ ? counts_->bytes() : 0);
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    backend_.select();
    table_.build(images.source, stream);
    if (counts_) counts_->build(images.included, stream);
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
  std::optional<FramedTable> counts_;  ///< of the pixels that count, if only some do
  kernels::LightGatherArguments arguments_;
};

}  // namespace

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
      std::max(job.width, job.height) > kernels::UpperBits::largest_side)
    return nullptr;
  return std::make_unique<LightGather>(backend, job);
}

}  // namespace satin::cuda
