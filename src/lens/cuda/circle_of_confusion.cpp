#include "lens/circle_of_confusion.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/lens/lens_radii.h"

namespace satin::cuda {
namespace {

class CircleOfConfusion final : public CircleOfConfusionOperation {
 public:
  CircleOfConfusion(CudaBackend& backend, const CircleOfConfusionJob& job) : backend_(backend), job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& depth, LensState* state, const MutableImageView& radii, Stream stream) override {
    backend_.select();
    kernels::circle_of_confusion({job_, source_of(depth), state, target_of(radii)},
                                 backend_.stream_of(stream));
    check_launch("turning depth into radii");
  }

 private:
  CudaBackend& backend_;
  CircleOfConfusionJob job_;
};

}  // namespace

std::unique_ptr<CircleOfConfusionOperation> prepare_circle_of_confusion(Backend& backend,
                                                                        const CircleOfConfusionJob& job) {
  return std::make_unique<CircleOfConfusion>(as_cuda(backend), job);
}

}  // namespace satin::cuda
