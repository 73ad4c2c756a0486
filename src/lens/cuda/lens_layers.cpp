#include "lens/lens_layers.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/lens/lens.h"
#include "lens/lens_memory.h"
#include "pixels/cuda/transfer.h"

namespace satin::cuda {
namespace {

class LensLayers final : public LensLayersOperation {
 public:
  LensLayers(CudaBackend& backend, const LensLayersJob& job)
      : backend_(backend),
        memory_(backend, job),
        fill_(backend.allocate(kernels::fill_workspace_bytes(job))) {
    check(static_cast<cudaError_t>(kernels::prepare_fill_disocclusions(job.channels)),
          "asking for shared memory");
    arguments_.job = job;
    arguments_.transfer = device_transfer(backend, job.type, job.transfer == Transfer::srgb);
    arguments_.planes = memory_.planes();
    arguments_.list = memory_.list();
    arguments_.work = memory_.work();
    arguments_.unit = memory_.unit();
    arguments_.fill_workspace = fill_.get();
    arguments_.multiprocessors = backend.multiprocessors();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return memory_.bytes() + fill_.size; }
  [[nodiscard]] const LensPlanes& planes() const noexcept override { return memory_.planes(); }
  [[nodiscard]] const LensList& list() const noexcept override { return memory_.list(); }
  [[nodiscard]] const LensUnit* unit() const noexcept override { return memory_.unit(); }
  [[nodiscard]] const DepthGroups* groups() const noexcept override { return &memory_.work()->groups; }

  void run(const ImageView& picture, const Measured* measured, Stream stream) override {
    backend_.select();
    cudaStream_t queue = backend_.stream_of(stream);
    kernels::make_visible_samples(arguments_, picture, measured, queue);
    kernels::fill_disocclusions(arguments_, queue);
    check_launch("making the layers of depth of field");
  }

  void show(const LensShow& shown, Stream stream) override {
    backend_.select();
    kernels::show_lens(arguments_, shown, backend_.stream_of(stream));
    check_launch("showing the layers of depth of field");
  }

 private:
  CudaBackend& backend_;
  LensMemory memory_;
  Buffer fill_;
  kernels::LensLayersArguments arguments_;
};

}  // namespace

std::unique_ptr<LensLayersOperation> prepare_lens_layers(Backend& backend, const LensLayersJob& job) {
  return std::make_unique<LensLayers>(as_cuda(backend), job);
}

}  // namespace satin::cuda
