#include "masks/validity_mask.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/masks/launch.h"

namespace satin::cuda {
namespace {

class ValidityMask final : public ValidityMaskOperation {
 public:
  ValidityMask(CudaBackend& backend, const ValidityMaskJob& job) : backend_(backend), job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& picture, const ImageView& mask, const MutableImageView& selected,
           const MutableImageView& included, Stream stream) override {
    backend_.select();
    kernels::ValidityMaskArguments arguments;
    arguments.job = job_;
    arguments.picture = source_of(picture);
    arguments.mask = source_of(mask);
    arguments.selected = target_of(selected);
    arguments.included = target_of(included);
    kernels::select_included(arguments, backend_.stream_of(stream));
    check_launch("selecting the pixels that a mask leaves");
  }

 private:
  CudaBackend& backend_;
  ValidityMaskJob job_;
};

}  // namespace

std::unique_ptr<ValidityMaskOperation> prepare_validity_mask(Backend& backend, const ValidityMaskJob& job) {
  return std::make_unique<ValidityMask>(as_cuda(backend), job);
}

}  // namespace satin::cuda
