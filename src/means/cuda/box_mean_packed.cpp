// Box mean of bytes with one whole radius: packed column sums, no table.

#include "kernels/means/launch.h"

#include <array>
#include <cstddef>

#include "core/cuda/check.h"
#include "means/box_mean.h"
#include "means/cuda/box_mean.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 26;  // offsets within a row are 32-bit integers in the kernels

class BoxMeanPacked final : public BoxMeanOperation {
 public:
  BoxMeanPacked(CudaBackend& backend, const BoxMeanJob& job, const kernels::PackedMeanArguments& arguments)
      : backend_(backend), arguments_(arguments) {
    const int margin = kernels::packed_margin(arguments.job);
    rows_ = upload_positions(backend, job.height, margin, margin, job.border);
    columns_ = upload_positions(backend, job.width, margin, margin, job.border);
    constexpr std::array<std::byte, kernels::packed_zero_bytes> zeros{};
    zeros_ = backend.allocate(zeros.size());
    backend.upload(zeros_.get(), zeros.data(), zeros.size(), {});
    arguments_.zeros = zeros_.get();
    arguments_.rows = reinterpret_cast<const int*>(rows_.get()) + margin;
    arguments_.columns = reinterpret_cast<const int*>(columns_.get()) + margin;
    check(static_cast<cudaError_t>(kernels::prepare_packed_mean(arguments_)), "asking for shared memory");
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return rows_.size + columns_.size + zeros_.size;
  }

  void run(const BoxMeanImages& images, Stream stream) override {
    backend_.select();
    kernels::PackedMeanArguments arguments = arguments_;
    arguments.source = source_of(images.source);
    arguments.output = target_of(images.output);
    kernels::packed_mean(arguments, backend_.stream_of(stream));
    check_launch("averaging over boxes of one radius");
  }

 private:
  CudaBackend& backend_;
  kernels::PackedMeanArguments arguments_;
  Buffer rows_;
  Buffer columns_;
  Buffer zeros_;
};

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
  return std::make_unique<BoxMeanPacked>(backend, job, arguments);
}

}  // namespace satin::cuda
