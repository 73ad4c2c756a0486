// Resampling on the GPU: host side of kernels/resample.

#include "resample/resample.h"

#include <algorithm>

#include "core/cuda/backend.h"
#include "kernels/resample/launch.h"
#include "pixels/cuda/transfer.h"

namespace satin::cuda {
namespace {

/// The weights of an axis in device memory.
class UploadedWeights {
 public:
  UploadedWeights(CudaBackend& backend, const AxisWeights& axis)
      : first_(backend.uploaded(axis.first)),
        count_(backend.uploaded(axis.count)),
        row_(backend.uploaded(axis.row)),
        weights_(backend.uploaded(axis.weights)),
        most_(static_cast<std::int64_t>(axis.most)),
        total_(axis.total) {}

  [[nodiscard]] std::size_t size() const noexcept {
    return first_.size + count_.size + row_.size + weights_.size;
  }
  [[nodiscard]] kernels::DeviceWeights view() const {
    return {reinterpret_cast<const std::int32_t*>(first_.get()),
            reinterpret_cast<const std::int32_t*>(count_.get()),
            reinterpret_cast<const std::int32_t*>(row_.get()),
            reinterpret_cast<const double*>(weights_.get()),
            most_,
            total_};
  }

 private:
  Buffer first_;
  Buffer count_;
  Buffer row_;
  Buffer weights_;
  std::int64_t most_;
  double total_;
};

class Resample final : public ResampleOperation {
 public:
  Resample(CudaBackend& backend, const ResampleJob& job)
      : backend_(backend), plan_(resample_plan(job)), x_(backend, plan_.x), y_(backend, plan_.y) {
    arguments_.job = job;
    arguments_.sums = plan_.sums;
    arguments_.rule = plan_.rule;
    arguments_.rule.transfer = device_transfer(backend, job.read.type, job.read.transfer == Transfer::srgb);
    arguments_.x = x_.view();
    arguments_.y = y_.view();
    const std::size_t entry = plan_.sums == ResampleSums::rounded ? sizeof(float) : sizeof(double);
    const std::int64_t rows = std::min(job.box.y.size(), job.height);  // the picture may be some of its rows
    between_ =
        backend.allocate(entry * static_cast<std::size_t>(rows * job.result_width * job.read.channels));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return x_.size() + y_.size() + between_.size;
  }

  void run(const ResampleImages& images, Stream stream) override {
    backend_.select();
    kernels::ResampleArguments arguments = arguments_;
    arguments.picture = source_of(images.picture);
    arguments.first_read = images.first_read;
    arguments.first = images.first;
    arguments.rows = images.output.shape.height;
    const ResampleJob& job = arguments.job;
    const Stretch read = pixels_read(job.kernel, job.box.y.size(), job.result_height,
                                     {images.first, images.first + arguments.rows});
    arguments.read = read.first;
    arguments.read_rows = read.size();
    arguments.between = between_.get();
    arguments.output = target_of(images.output);
    kernels::resample(arguments, backend_.stream_of(stream));
    check_launch("resampling a picture");
  }

 private:
  CudaBackend& backend_;
  ResamplePlan plan_;
  UploadedWeights x_;
  UploadedWeights y_;
  Buffer between_;
  kernels::ResampleArguments arguments_;
};

}  // namespace

Prepared<ResampleJob> prepare_resample(Backend& backend, const ResampleJob& job) {
  return std::make_unique<Resample>(as_cuda(backend), job);
}

}  // namespace satin::cuda
