#include "kernels/means/launch.h"

#include "core/cuda/backend.h"
#include "means/unsharp_residual.h"
#include "pixels/cuda/transfer.h"

namespace satin::cuda {
namespace {

class UnsharpResidual final : public UnsharpResidualOperation {
 public:
  UnsharpResidual(CudaBackend& backend, const UnsharpResidualJob& job) : backend_(backend) {
    arguments_.width = job.width;
    arguments_.height = job.height;
    arguments_.channels = job.means.channels;
    arguments_.type = job.write.type;
    arguments_.means_type = job.means.type;
    arguments_.rule =
        residual_rule(job, device_transfer(backend, job.write.type, job.write.transfer == Transfer::srgb));
  }

  void run(const UnsharpResidualImages& images, Stream stream) override {
    backend_.select();
    kernels::UnsharpResidualArguments arguments = arguments_;
    arguments.measured = images.measured;
    arguments.picture = source_of(images.picture);
    arguments.means = source_of(images.means);
    arguments.mask = source_of(images.mask);
    arguments.output = target_of(images.output);
    kernels::add_residual(arguments, backend_.stream_of(stream));
    check_launch("adding what a picture differs by from its means");
  }

 private:
  CudaBackend& backend_;
  kernels::UnsharpResidualArguments arguments_;
};

}  // namespace

Prepared<UnsharpResidualJob> prepare_unsharp_residual(Backend& backend, const UnsharpResidualJob& job) {
  return std::make_unique<UnsharpResidual>(as_cuda(backend), job);
}

}  // namespace satin::cuda
