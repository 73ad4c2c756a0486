#include "kernels/pixels/premultiplied.h"

#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "pixels/cuda/transfer.h"
#include "pixels/premultiplied.h"

namespace satin::cuda {
namespace {

kernels::PremultipliedArguments arguments_of(CudaBackend& backend, const PremultipliedJob& job) {
  kernels::PremultipliedArguments arguments;
  arguments.width = job.width;
  arguments.height = job.height;
  arguments.channels = job.read.channels;
  arguments.type = values_type(job);
  arguments.rule =
      premultiply_rule(job, device_transfer(backend, Type::u8, job.read.transfer == Transfer::srgb));
  return arguments;
}

class Premultiply final : public PremultiplyOperation {
 public:
  Premultiply(CudaBackend& backend, const PremultipliedJob& job)
      : backend_(backend), arguments_(arguments_of(backend, job)) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& picture, const MutableImageView& values, Stream stream) override {
    backend_.select();
    kernels::PremultipliedArguments arguments = arguments_;
    arguments.original = source_of(picture);
    arguments.output = target_of(values);
    kernels::premultiply_pixels(arguments, backend_.stream_of(stream));
    check_launch("multiplying a picture by its alpha");
  }

 private:
  CudaBackend& backend_;
  kernels::PremultipliedArguments arguments_;
};

class Unpremultiply final : public UnpremultiplyOperation {
 public:
  Unpremultiply(CudaBackend& backend, const PremultipliedJob& job)
      : backend_(backend), arguments_(arguments_of(backend, job)) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const UnpremultiplyImages& images, Stream stream) override {
    backend_.select();
    kernels::PremultipliedArguments arguments = arguments_;
    arguments.values = source_of(images.values);
    arguments.original = source_of(images.original);
    arguments.mask = source_of(images.mask);
    arguments.output = target_of(images.output);
    kernels::unpremultiply_pixels(arguments, backend_.stream_of(stream));
    check_launch("dividing a picture by its alpha");
  }

 private:
  CudaBackend& backend_;
  kernels::PremultipliedArguments arguments_;
};

}  // namespace

std::unique_ptr<PremultiplyOperation> prepare_premultiply(Backend& backend, const PremultiplyJob& job) {
  return std::make_unique<Premultiply>(as_cuda(backend), job);
}

std::unique_ptr<UnpremultiplyOperation> prepare_unpremultiply(Backend& backend, const UnpremultiplyJob& job) {
  return std::make_unique<Unpremultiply>(as_cuda(backend), job);
}

}  // namespace satin::cuda
