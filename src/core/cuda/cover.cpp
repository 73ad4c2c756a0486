#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/redact.h"

namespace satin::cuda {
namespace {

class Cover final : public CoverOperation {
 public:
  Cover(CudaBackend& backend, const CoverJob& job)
      : backend_(backend), boxes_(backend.allocate(job.boxes.size() * sizeof(PixelBox))) {
    arguments_.width = job.width;
    arguments_.height = job.height;
    arguments_.mask_type = job.mask_type;
    arguments_.boxes = reinterpret_cast<const PixelBox*>(boxes_.get());
    arguments_.box_count = static_cast<std::int64_t>(job.boxes.size());
    if (!job.boxes.empty())
      backend.upload(boxes_.get(), job.boxes.data(), job.boxes.size() * sizeof(PixelBox), {});
    backend.synchronize({});  // runs may be in other streams
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return boxes_.size; }

  void run(const ImageView& mask, const MutableImageView& weights, Stream stream) override {
    backend_.select();
    kernels::CoverArguments arguments = arguments_;
    arguments.mask = source_of(mask);
    arguments.weights = target_of(weights);
    kernels::cover(arguments, backend_.stream_of(stream));
    check_launch("covering boxes");
  }

 private:
  CudaBackend& backend_;
  Buffer boxes_;
  kernels::CoverArguments arguments_;
};

}  // namespace

std::unique_ptr<CoverOperation> prepare_cover(Backend& backend, const CoverJob& job) {
  return std::make_unique<Cover>(as_cuda(backend), job);
}

}  // namespace satin::cuda
