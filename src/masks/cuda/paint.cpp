#include "masks/paint.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/masks/redact.h"
#include "pixels/cuda/transfer.h"
#include "tables/table.h"

namespace satin::cuda {
namespace {

class Paint final : public PaintOperation {
 public:
  Paint(CudaBackend& backend, const PaintJob& job) : backend_(backend) {
    arguments_.job = job;
    arguments_.rule.weighted = job.read.weighted;
    arguments_.rule.fixed_point = job.read.fixed_point;
    arguments_.rule.mask_maximum = 0xFF;
    arguments_.rule.transfer = device_transfer(backend, job.write.type, job.write.transfer == Transfer::srgb);
    if (job.cell == 0) return;
    TableJob table;
    table.width = job.width;
    table.height = job.height;
    table.read = job.read;
    table.accumulator = job.accumulator;
    build_ = backend.prepare(table);
    table_shape_ = {job.width, job.height, job.read.channels,
                    job.accumulator == Accumulator::u32 ? Type::u32 : Type::u64};
    table_ = backend.allocate(byte_size(table_shape_));
    arguments_.table = table_.get();
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return table_.size + (build_ == nullptr ? 0 : build_->workspace_bytes());
  }

  void run(const PaintImages& images, Stream stream) override {
    backend_.select();
    if (build_ != nullptr)
      build_->run(images.source, images.measured, mutable_view_of(table_.get(), table_shape_, Memory::device),
                  stream);
    kernels::PaintArguments arguments = arguments_;
    if (build_ != nullptr) arguments.measured = images.measured;
    arguments.source = source_of(images.source);
    arguments.weights = source_of(images.weights);
    arguments.output = target_of(images.output);
    kernels::paint(arguments, backend_.stream_of(stream));
    check_launch("painting over a picture");
  }

 private:
  CudaBackend& backend_;
  kernels::PaintArguments arguments_;
  Shape table_shape_;
  Buffer table_;
  std::unique_ptr<TableOperation> build_;
};

}  // namespace

std::unique_ptr<PaintOperation> prepare_paint(Backend& backend, const PaintJob& job) {
  return std::make_unique<Paint>(as_cuda(backend), job);
}

}  // namespace satin::cuda
