#include "lens/lens_layers.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/lens/launch.h"
#include "pixels/cuda/transfer.h"
#include "satin/error.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t most_pixels = (1LL << 32) - 1;  ///< places of pixels are words in the kernels

class LensLayers final : public LensLayersOperation {
 public:
  LensLayers(CudaBackend& backend, const LensLayersJob& job)
      : backend_(backend),
        fill_(backend.allocate(kernels::fill_workspace_bytes(job))),
        nonlocal_(backend.allocate(kernels::nonlocal_workspace_bytes(job))) {
    if (job.width * job.height > most_pixels)
      throw Error(ErrorKind::usage, "Depth of field of 2^32 pixels and more is not made on the GPU.");
    check(static_cast<cudaError_t>(kernels::prepare_fill_disocclusions(job.channels)),
          "asking for shared memory");
    check(cudaMemsetAsync(fill_.get(), 0, fill_.size, backend.stream_of({})),
          "clearing the borders of planes");
    backend.synchronize({});  // runs may be in other streams
    arguments_.job = job;
    arguments_.transfer = device_transfer(backend, job.type, job.transfer == Transfer::srgb);
    arguments_.fill_workspace = fill_.get();
    arguments_.nonlocal_workspace = nonlocal_.get();
    arguments_.multiprocessors = backend.multiprocessors();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return fill_.size + nonlocal_.size; }

  void run(const ImageView& picture, const Measured* measured, const LensScene& scene,
           Stream stream) override {
    backend_.select();
    cudaStream_t queue = backend_.stream_of(stream);
    kernels::make_visible_samples(arguments_, picture, measured, scene, queue);
    kernels::fill_disocclusions(arguments_, scene, queue);
    kernels::fill_nonlocally(arguments_, scene, queue);
    check_launch("making the layers of depth of field");
  }

  void show(const LensScene& scene, const LensShow& shown, Stream stream) override {
    backend_.select();
    kernels::show_lens(arguments_.job, scene, shown, backend_.stream_of(stream));
    check_launch("showing the layers of depth of field");
  }

 private:
  CudaBackend& backend_;
  Buffer fill_;
  Buffer nonlocal_;
  kernels::LensLayersArguments arguments_;
};

}  // namespace

Prepared<LensLayersJob> prepare_lens_layers(Backend& backend, const LensLayersJob& job) {
  return std::make_unique<LensLayers>(as_cuda(backend), job);
}

}  // namespace satin::cuda
