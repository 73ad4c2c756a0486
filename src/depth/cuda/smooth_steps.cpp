#include "depth/smooth_steps.h"
#include "core/cuda/backend.h"
#include "kernels/depth/launch.h"

namespace satin::cuda {
namespace {

class SmoothSteps final : public SmoothStepsOperation {
 public:
  SmoothSteps(CudaBackend& backend, const SmoothStepsJob& job) : backend_(backend), job_(job) {
    check(static_cast<cudaError_t>(kernels::prepare_smooth_steps()), "asking for shared memory");
  }

  void run(const ImageView& codes, const MutableImageView& smoothed, Stream stream) override {
    backend_.select();
    kernels::smooth_steps({job_, source_of(codes), target_of(smoothed)}, backend_.stream_of(stream));
    check_launch("smoothing the steps of depth");
  }

 private:
  CudaBackend& backend_;
  SmoothStepsJob job_;
};

}  // namespace

Prepared<SmoothStepsJob> prepare_smooth_steps(Backend& backend, const SmoothStepsJob& job) {
  return std::make_unique<SmoothSteps>(as_cuda(backend), job);
}

}  // namespace satin::cuda
