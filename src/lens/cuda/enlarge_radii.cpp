#include "lens/enlarge_radii.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/lens/lens_radii.h"

namespace satin::cuda {
namespace {

class EnlargeRadii final : public EnlargeRadiiOperation {
 public:
  EnlargeRadii(CudaBackend& backend, const EnlargeRadiiJob& job)
      : backend_(backend),
        job_(job),
        colours_(backend.allocate(static_cast<std::size_t>(job.sizes.depth_width * job.sizes.depth_height) *
                                  sizeof(GuideColour))) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return colours_.size; }

  void run(const ImageView& picture, const ImageView& samples, const MutableImageView& radii,
           Stream stream) override {
    backend_.select();
    kernels::enlarge_radii({job_, source_of(picture), source_of(samples), target_of(radii),
                            reinterpret_cast<GuideColour*>(colours_.get())},
                           backend_.stream_of(stream));
    check_launch("enlarging depth");
  }

 private:
  CudaBackend& backend_;
  EnlargeRadiiJob job_;
  Buffer colours_;  ///< of the samples
};

}  // namespace

std::unique_ptr<EnlargeRadiiOperation> prepare_enlarge_radii(Backend& backend, const EnlargeRadiiJob& job) {
  return std::make_unique<EnlargeRadii>(as_cuda(backend), job);
}

}  // namespace satin::cuda
