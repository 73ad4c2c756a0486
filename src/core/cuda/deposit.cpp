// Depth of field's engine in device memory: groups one after the other through the same planes of sums.

#include "kernels/deposit.h"

#include <algorithm>

#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "core/lens_kernels.h"
#include "core/maths/composite.h"
#include "satin/error.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 30;  // columns and rows are 32-bit integers in the kernels

class Deposit final : public DepositOperation {
 public:
  Deposit(CudaBackend& backend, const DepositJob& job) : backend_(backend), groups_(job.groups) {
    if (job.width > largest_side || job.height > largest_side)
      throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
    arguments_.width = static_cast<std::int32_t>(job.width);
    arguments_.height = static_cast<std::int32_t>(job.height);
    arguments_.tile_columns = tiles(job.width);
    arguments_.tile_rows = tiles(job.height);
    arguments_.channels = job.channels;
    arguments_.highlight_channels = job.alpha ? job.channels - 1 : job.channels;
    arguments_.merge_from = job.merge_from;
    arguments_.white = job.white;
    arguments_.single = job.colour_bits <= most_bits_in_float;
    arguments_.last_group = static_cast<std::uint32_t>(job.groups - 1);
    arguments_.most_listed = job.most_listed;
    const LensKernels tables = lens_kernels(job);
    upload(tables);
    choose_margin(tables.reach);
    allocate(job);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return staircases_.size + kernels_.size + deltas_.size + columns_.size + rows_.size + marks_.size +
           state_.size;
  }

  void run(const DepositImages& images, Stream stream) override {
    backend_.select();
    const auto handle = backend_.stream_of(stream);
    kernels::DepositArguments arguments = arguments_;
    arguments.source = source_of(images.source);
    arguments.colours = source_of(images.colours);
    arguments.radii = source_of(images.radii);
    arguments.groups = source_of(images.groups);
    arguments.weights = source_of(images.weights);
    arguments.listed = images.listed;
    arguments.count = images.count;
    arguments.white_of_run = images.white;
    arguments.output = target_of(images.output);
    check(cudaMemsetAsync(marks_.get(), 0, marks_.size, handle), "clearing the marks of tiles");
    for (int group = 0; group < groups_; ++group) {
      arguments.group = static_cast<std::uint32_t>(group);
      kernels::deposit_visible_samples(arguments, handle);
      kernels::deposit_listed_samples(arguments, handle);
      kernels::deposit_carries(arguments, handle);
      kernels::deposit_composite(arguments, handle);
      arguments.sums.spread += 2 * tile_count();
      arguments.sums.focused += 2 * tile_count();
    }
    check_launch("spreading samples over a picture");
  }

 private:
  static std::int32_t tiles(std::int64_t pixels) {
    return static_cast<std::int32_t>((pixels + kernels::deposit_tile - 1) / kernels::deposit_tile);
  }
  [[nodiscard]] std::size_t tile_count() const {
    return static_cast<std::size_t>(arguments_.tile_columns) * static_cast<std::size_t>(arguments_.tile_rows);
  }

  /// As much of the reach as there is shared memory for.
  void choose_margin(std::int64_t reach) {
    check(static_cast<cudaError_t>(kernels::allow_deposit(arguments_.channels)), "asking for shared memory");
    auto margin = static_cast<int>(std::min<std::int64_t>(reach, kernels::deposit_most_margin));
    while (margin > 0 && kernels::deposit_shared_bytes(margin) > backend_.shared_memory()) --margin;
    arguments_.margin = margin;
  }

  void upload(const LensKernels& tables) {
    const auto uploaded = [&](const auto& values) {
      Buffer buffer = backend_.allocate(values.size() * sizeof values[0]);
      backend_.upload(buffer.get(), values.data(), buffer.size, {});
      return buffer;
    };
    staircases_ = uploaded(tables.staircases);
    kernels_ = uploaded(tables.kernels);
    arguments_.kernels = {reinterpret_cast<const Staircase*>(staircases_.get()),
                          reinterpret_cast<const LensKernel*>(kernels_.get()), tables.largest,
                          tables.weight_bits};
  }

  void allocate(const DepositJob& job) {
    const auto planes = static_cast<std::size_t>(job.channels) + 1;
    const auto pixels = static_cast<std::size_t>(job.width) * static_cast<std::size_t>(job.height);
    deltas_ = cleared(pixels * planes * 8);
    columns_ = backend_.allocate(planes * static_cast<std::size_t>(arguments_.tile_rows) *
                                 static_cast<std::size_t>(job.width) * 8);
    rows_ = backend_.allocate(planes * static_cast<std::size_t>(arguments_.tile_columns) *
                              static_cast<std::size_t>(job.height) * 8);
    marks_ = backend_.allocate(static_cast<std::size_t>(groups_) * 2 * tile_count());
    state_ = cleared(pixels * planes * (arguments_.single ? sizeof(float) : sizeof(double)));
    arguments_.sums.deltas = reinterpret_cast<std::uint64_t*>(deltas_.get());
    arguments_.sums.columns = reinterpret_cast<std::uint64_t*>(columns_.get());
    arguments_.sums.rows = reinterpret_cast<std::uint64_t*>(rows_.get());
    arguments_.sums.spread = reinterpret_cast<std::uint8_t*>(marks_.get());
    arguments_.sums.focused = arguments_.sums.spread + tile_count();
    arguments_.state = state_.get();
  }

  [[nodiscard]] Buffer cleared(std::size_t bytes) {
    Buffer buffer = backend_.allocate(bytes);
    check(cudaMemset(buffer.get(), 0, bytes), "clearing sums");
    check(cudaDeviceSynchronize(), "clearing sums");
    return buffer;
  }

  CudaBackend& backend_;
  int groups_;
  kernels::DepositArguments arguments_;
  Buffer staircases_, kernels_;
  Buffer deltas_, columns_, rows_;
  Buffer marks_;  ///< of every group: tiles with deltas, tiles with samples in focus
  Buffer state_;
};

}  // namespace

std::unique_ptr<DepositOperation> prepare_deposit(Backend& backend, const DepositJob& job) {
  return std::make_unique<Deposit>(as_cuda(backend), job);
}

}  // namespace satin::cuda
