#include "core/copy.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"

namespace satin::cuda {
namespace {

class Copy final : public CopyOperation {
 public:
  explicit Copy(CudaBackend& backend) : backend_(backend) {}

  void run(const ImageView& source, const MutableImageView& target, Stream stream) override {
    backend_.select();
    for (std::int64_t frame = 0; frame < source.shape.frames; ++frame) {
      kernels::copy(arguments_of(source.frame(frame), target.frame(frame)), backend_.stream_of(stream));
      check_launch("copying between views");
    }
  }

 private:
  static kernels::CopyArguments arguments_of(const ImageView& source, const MutableImageView& target) {
    kernels::CopyArguments arguments;
    arguments.width = source.shape.width;
    arguments.height = source.shape.height;
    arguments.channels = source.shape.channels;
    arguments.element_size = static_cast<int>(size_of(source.shape.type));
    arguments.source = source.data;
    arguments.target = target.data;
    arguments.source_pixel = source.strides.pixel;
    arguments.source_row = source.strides.row;
    arguments.source_channel = source.strides.channel;
    arguments.target_pixel = target.strides.pixel;
    arguments.target_row = target.strides.row;
    arguments.target_channel = target.strides.channel;
    return arguments;
  }

  CudaBackend& backend_;
};

}  // namespace

Prepared<CopyJob> prepare_copy(Backend& backend, const CopyJob& /*job*/) {
  return std::make_unique<Copy>(as_cuda(backend));
}

}  // namespace satin::cuda
