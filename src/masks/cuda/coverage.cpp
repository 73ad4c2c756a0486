#include "masks/coverage.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/masks/launch.h"

namespace satin::cuda {
namespace {

class Coverage final : public CoverageOperation {
 public:
  Coverage(CudaBackend& backend, const CoverageJob& job)
      : backend_(backend), boxes_(backend.uploaded(job.boxes)) {
    arguments_.width = job.width;
    arguments_.height = job.height;
    arguments_.mask_type = job.mask_type;
    arguments_.boxes = reinterpret_cast<const PixelBox*>(boxes_.get());
    arguments_.box_count = static_cast<std::int64_t>(job.boxes.size());
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return boxes_.size; }

  void run(const ImageView& mask, const MutableImageView& weights, Stream stream) override {
    backend_.select();
    kernels::CoverageArguments arguments = arguments_;
    arguments.mask = source_of(mask);
    arguments.weights = target_of(weights);
    kernels::coverage(arguments, backend_.stream_of(stream));
    check_launch("covering boxes");
  }

 private:
  CudaBackend& backend_;
  Buffer boxes_;
  kernels::CoverageArguments arguments_;
};

}  // namespace

std::unique_ptr<CoverageOperation> prepare_coverage(Backend& backend, const CoverageJob& job) {
  return std::make_unique<Coverage>(as_cuda(backend), job);
}

}  // namespace satin::cuda
