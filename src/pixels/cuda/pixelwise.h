#pragma once
// The GPU's class for all operations of pixels/pixelwise.h.

#include "core/cuda/backend.h"
#include "kernels/pixels/launch.h"
#include "pixels/cuda/transfer.h"
#include "pixels/pixelwise.h"

namespace satin::cuda {

template <class Job>
class Pixelwise final : public PixelwiseOperation<Job> {
 public:
  Pixelwise(CudaBackend& backend, const Job& job)
      : backend_(backend), job_(job), transfer_(pixelwise_transfer(job, [&](Type type, bool srgb) {
          return device_transfer(backend, type, srgb);
        })) {}

  void run(const typename Job::Images& images, Stream stream) override {
    backend_.select();
    kernels::run_pixelwise(job_, images, transfer_, backend_.stream_of(stream));
    check_launch(Job::doing);
  }

 private:
  CudaBackend& backend_;
  Job job_;
  TransferView transfer_;
};

template <class Job>
std::unique_ptr<PixelwiseOperation<Job>> prepare_pixelwise(Backend& backend, const Job& job) {
  return std::make_unique<Pixelwise<Job>>(as_cuda(backend), job);
}

}  // namespace satin::cuda
