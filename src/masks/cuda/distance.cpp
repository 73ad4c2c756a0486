// Distances in masks on CUDA: the workspace, and the tables that the kernels read.

#include "kernels/masks/launch.h"

#include <vector>

#include "core/cuda/backend.h"
#include "masks/distance.h"

namespace satin::cuda {
namespace {

class Distance final : public DistanceOperation {
 public:
  Distance(CudaBackend& backend, const DistanceJob& job) : backend_(backend) {
    arguments_.width = job.width;
    arguments_.height = job.height;
    arguments_.groups = (job.width + kernels::distance_group - 1) / kernels::distance_group;
    arguments_.side = job.side;
    arguments_.result = job.result;
    arguments_.reach = reach_of(job);
    arguments_.most = static_cast<std::int32_t>(job.most);
    arguments_.inverted = job.inverted;
    const auto groups = static_cast<std::size_t>(arguments_.groups * job.height);
    columns_ = backend.allocate(groups * kernels::distance_group * sizeof(std::int16_t));
    arguments_.columns = reinterpret_cast<std::int16_t*>(columns_.get());
    if (job.result == DistanceResult::moved) {
      upload_chords();
      return;
    }
    group_heights_ = backend.allocate(groups * sizeof(kernels::GroupHeights));
    arguments_.group_heights = reinterpret_cast<kernels::GroupHeights*>(group_heights_.get());
    if (job.result == DistanceResult::ramp) upload_ramps(job);
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return columns_.size + group_heights_.size + looked_up_.size;
  }

  void run(const ImageView& mask, const MutableImageView& output, Stream stream) override {
    backend_.select();
    kernels::DistanceArguments arguments = arguments_;
    arguments.mask = source_of(mask);
    arguments.output = target_of(output);
    kernels::distance(arguments, backend_.stream_of(stream));
    check_launch("finding distances in a mask");
  }

 private:
  void upload_chords() {
    const auto most = static_cast<std::uint32_t>(arguments_.most);
    const auto reach = static_cast<std::uint32_t>(arguments_.reach);
    std::vector<std::uint16_t> chords;
    for (std::uint32_t g = 0; g <= reach; ++g)
      chords.push_back(static_cast<std::uint16_t>(1 + whole_root(most - 1 - g * g)));
    chords.push_back(0);
    looked_up_ = backend_.uploaded(chords);
    arguments_.chords = reinterpret_cast<const std::uint16_t*>(looked_up_.get());
  }

  void upload_ramps(const DistanceJob& job) {
    std::vector<std::uint32_t> ramps(std::begin(job.inside.first), std::end(job.inside.first));
    ramps.insert(ramps.end(), std::begin(job.outside.first), std::end(job.outside.first));
    looked_up_ = backend_.uploaded(ramps);
    arguments_.ramps = reinterpret_cast<const std::uint32_t*>(looked_up_.get());
  }

  CudaBackend& backend_;
  kernels::DistanceArguments arguments_;
  Buffer columns_;
  Buffer group_heights_;
  Buffer looked_up_;  ///< table of chords or ramps
};

}  // namespace

Prepared<DistanceJob> prepare_distance(Backend& backend, const DistanceJob& job) {
  return std::make_unique<Distance>(as_cuda(backend), job);
}

}  // namespace satin::cuda
