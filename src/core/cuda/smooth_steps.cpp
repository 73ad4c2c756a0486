#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "core/cuda/depth_operations.h"
#include "core/plane_table.h"
#include "kernels/lens_radii.h"

namespace satin::cuda {
namespace {

class SmoothSteps final : public SmoothStepsOperation {
 public:
  SmoothSteps(CudaBackend& backend, const SmoothStepsJob& job)
      : backend_(backend),
        job_(job),
        table_(backend, job.width, job.height, Type::u32, UINT32_MAX, Accumulator::u32) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return table_.workspace_bytes(); }

  void run(const ImageView& codes, const MutableImageView& smoothed, Stream stream) override {
    backend_.select();
    const kernels::SmoothStepsArguments arguments{job_, source_of(codes), target_of(table_.plane()),
                                                  table_.table<std::uint32_t>(), target_of(smoothed)};
    kernels::value_steps(arguments, backend_.stream_of(stream));
    table_.run(stream);
    kernels::smooth_steps(arguments, backend_.stream_of(stream));
    check_launch("smoothing the steps of depth");
  }

 private:
  CudaBackend& backend_;
  SmoothStepsJob job_;
  PlaneTable table_;
};

}  // namespace

std::unique_ptr<SmoothStepsOperation> prepare_smooth_steps(Backend& backend, const SmoothStepsJob& job) {
  return std::make_unique<SmoothSteps>(as_cuda(backend), job);
}

}  // namespace satin::cuda
