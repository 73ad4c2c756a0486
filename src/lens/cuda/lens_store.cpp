#include "lens/lens_store.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/lens/lens.h"
#include "pixels/cuda/transfer.h"

namespace satin::cuda {
namespace {

class LensStore final : public LensStoreOperation {
 public:
  LensStore(CudaBackend& backend, const LensStoreJob& job) : backend_(backend) {
    arguments_.job = job;
    arguments_.rule = lens_store_rule(
        job, device_transfer(backend, job.picture.type, job.picture.transfer == Transfer::srgb));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const LensStoreImages& images, Stream stream) override {
    backend_.select();
    kernels::LensStoreArguments arguments = arguments_;
    arguments.values = images.values;
    arguments.measured = images.measured;
    arguments.picture = images.picture;
    arguments.mask = source_of(images.mask);
    arguments.output = target_of(images.output);
    kernels::store_lens(arguments, backend_.stream_of(stream));
    check_launch("storing depth of field");
  }

 private:
  CudaBackend& backend_;
  kernels::LensStoreArguments arguments_;
};

}  // namespace

std::unique_ptr<LensStoreOperation> prepare_lens_store(Backend& backend, const LensStoreJob& job) {
  return std::make_unique<LensStore>(as_cuda(backend), job);
}

}  // namespace satin::cuda
