#pragma once
// The CPU's class for all operations on each pixel alone. `Launch` is EachRow of pixels/cpu/pixelwise-inl.h
// or a class that derives from it.

#include "core/cpu/backend.h"
#include "pixels/pixelwise.h"
#include "pixels/transfer.h"

namespace satin::cpu {

template <class Job, class Launch>
class Pixelwise final : public PixelwiseOperation<Job> {
 public:
  Pixelwise(Backend& backend, const Job& job)
      : backend_(as_cpu(backend)), job_(job), transfer_(pixelwise_transfer(job, host_transfer)) {}

  void run(const typename Job::Images& images, Stream) override {
    job_.each(images, transfer_, Launch(backend_));
  }

 private:
  CpuBackend& backend_;
  Job job_;
  TransferView transfer_;
};

template <class Launch, class Job>
std::unique_ptr<PixelwiseOperation<Job>> prepare_pixelwise(Backend& backend, const Job& job) {
  return std::make_unique<Pixelwise<Job, Launch>>(backend, job);
}

}  // namespace satin::cpu
