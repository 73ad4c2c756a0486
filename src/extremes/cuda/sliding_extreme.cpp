// Sliding minima and maxima on CUDA: passes along rows to a workspace of keys, and one pass down the columns
// to the output.

#include "kernels/extremes/launch.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/cuda/backend.h"
#include "extremes/sliding_extreme.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t row_alignment = 32;  // bytes: a sector of the L2
constexpr std::int64_t largest_side = 1LL << 30;

/// Returns the reaches of passes along rows that together have the job's reach. Each is as large as shared
/// memory allows.
std::vector<std::int64_t> split_reach(std::int64_t reach, std::int64_t row_bytes, std::int64_t pixel_bytes,
                                      std::size_t shared_limit) {
  std::int64_t most = reach;
  while (kernels::extreme_tile(row_bytes, pixel_bytes, most, shared_limit).bytes == 0) most = (most + 1) / 2;
  std::vector<std::int64_t> reaches;
  for (std::int64_t left = reach; left > 0 || reaches.empty(); left -= reaches.back())
    reaches.push_back(std::min(left, most));
  return reaches;
}

class SlidingExtreme final : public SlidingExtremeOperation {
 public:
  SlidingExtreme(CudaBackend& backend, const SlidingExtremeJob& job)
      : backend_(backend),
        job_(job),
        pixel_bytes_(job.channels * static_cast<std::int64_t>(size_of(job.type))),
        reach_y_(needed_reach(job, job.reach_y, job.height)),
        groups_(kernels::extreme_groups(job.height, reach_y_)) {
    const std::int64_t row_bytes = job.width * pixel_bytes_;
    row_ = (row_bytes + row_alignment - 1) / row_alignment * row_alignment;
    reaches_ = split_reach(needed_reach(job, job.reach_x, job.width), row_bytes, pixel_bytes_,
                           backend.shared_memory());
    tile_ = kernels::extreme_tile(row_bytes, pixel_bytes_, reaches_[0], backend.shared_memory());
    check(static_cast<cudaError_t>(kernels::prepare_row_extremes(job)), "asking for shared memory");
    const bool two = job.weighted || reaches_.size() > 1;
    for (std::size_t i = 0; i < (two ? 2U : 1U); ++i) keys_[i] = allocate_rows(job.height);
    if (groups_.shared != 0)
      for (Buffer& buffer : group_keys_) buffer = allocate_rows(groups_.count);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return keys_[0].size + keys_[1].size + group_keys_[0].size + group_keys_[1].size;
  }

  void run(const SlidingExtremeImages& images, Stream stream) override {
    backend_.select();
    const kernels::StreamHandle handle = backend_.stream_of(stream);
    run_columns(run_rows(images, handle), images, handle);
    if (stores_plainly(job_)) return;
    kernels::finish_extremes(job_, source_of(images.kept()), source_of(images.mask), target_of(images.output),
                             handle);
    check_launch("storing sliding minima and maxima");
  }

 private:
  [[nodiscard]] Buffer allocate_rows(std::int64_t rows) {
    return backend_.allocate(static_cast<std::size_t>(rows * row_));
  }

  [[nodiscard]] kernels::KeyRows rows_of(const Buffer& buffer) const { return {buffer.get(), row_}; }

  /// Runs the passes along rows, which alternate between two buffers. Returns the buffer with the result.
  kernels::KeyRows run_rows(const SlidingExtremeImages& images, kernels::StreamHandle stream) {
    kernels::RowExtremeArguments arguments;
    arguments.job = job_;
    arguments.tile = tile_;
    arguments.source = source_of(images.source);
    std::size_t target = 0;
    if (job_.weighted) {
      kernels::hide_colours(job_, arguments.source, rows_of(keys_[1]), stream);
      check_launch("reading pixels with alpha");
      arguments.source = {keys_[1].get(), row_};
      arguments.stored = false;
    }
    for (const std::int64_t reach : reaches_) {
      arguments.reach = reach;
      arguments.keys = rows_of(keys_[target]);
      kernels::row_extremes(arguments, stream);
      check_launch("finding extremes along rows");
      arguments.source = {arguments.keys.data, row_};
      arguments.stored = false;
      target = 1 - target;
    }
    return arguments.keys;
  }

  void run_columns(const kernels::KeyRows& keys, const SlidingExtremeImages& images,
                   kernels::StreamHandle stream) {
    kernels::ColumnExtremeArguments arguments;
    arguments.job = job_;
    arguments.reach = reach_y_;
    arguments.plain = stores_plainly(job_);
    arguments.keys = keys;
    arguments.groups = groups_;
    for (std::size_t i = 0; i < group_keys_.size(); ++i) arguments.group_keys[i] = rows_of(group_keys_[i]);
    arguments.output = target_of(images.output);
    kernels::column_extremes(arguments, stream);
    check_launch("finding extremes down columns");
  }

  CudaBackend& backend_;
  SlidingExtremeJob job_;
  std::int64_t pixel_bytes_;
  std::int64_t reach_y_;
  kernels::ExtremeGroups groups_;
  std::int64_t row_ = 0;  ///< bytes per row of keys
  std::vector<std::int64_t> reaches_;
  kernels::ExtremeTile tile_;  ///< tile of the first pass along rows, which reaches furthest
  std::array<Buffer, 2> keys_;
  std::array<Buffer, 2> group_keys_;
};

}  // namespace

Prepared<SlidingExtremeJob> prepare_sliding_extreme(Backend& backend, const SlidingExtremeJob& job) {
  if (job.width > largest_side || job.height > largest_side)
    throw Error(ErrorKind::usage, "Pictures above 2^30 pixels wide or high cannot be filtered on the GPU.");
  return std::make_unique<SlidingExtreme>(as_cuda(backend), job);
}

}  // namespace satin::cuda
