#include "kernels/lobe_mean.h"

#include "core/cuda/backend.h"
#include "core/cuda/check.h"

namespace satin::cuda {
namespace {

class LobeMean final : public LobeMeanOperation {
 public:
  LobeMean(CudaBackend& backend, const LobeMeanJob& job)
      : backend_(backend),
        shape_{job.width, job.height, job.read.channels, Type::u64},
        row_weights_(backend.uploaded(job.row_weights)),
        bands_(backend.uploaded(job.bands)),
        rows_(backend.uploaded(job.rows)),
        weighed_(backend.allocate(byte_size(shape_))),
        table_(backend.allocate(byte_size(shape_))),
        build_(prepare_table(backend,
                             {job.width, job.height, weighed_pixels(job.read), false, Accumulator::u64})) {
    arguments_.width = job.width;
    arguments_.height = job.height;
    arguments_.result_rows = static_cast<std::int64_t>(job.rows.size());
    arguments_.read = job.read;
    arguments_.rule.weighted = job.read.weighted;
    arguments_.rule.fixed_point = job.read.fixed_point;
    arguments_.rule.transfer = backend.transfer(job.write.type, job.write.transfer == Transfer::srgb);
    arguments_.row_weights = reinterpret_cast<const std::uint32_t*>(row_weights_.get());
    arguments_.bands = reinterpret_cast<const LobeBand*>(bands_.get());
    arguments_.rows = reinterpret_cast<const LobeRow*>(rows_.get());
    arguments_.weighed = reinterpret_cast<std::uint64_t*>(weighed_.get());
    arguments_.table = reinterpret_cast<const std::uint64_t*>(table_.get());
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return row_weights_.size + bands_.size + rows_.size + weighed_.size + table_.size +
           build_->workspace_bytes();
  }

  void run(const ImageView& source, const Measured* measured, const MutableImageView& output,
           Stream stream) override {
    backend_.select();
    kernels::LobeMeanArguments arguments = arguments_;
    arguments.measured = measured;
    arguments.source = source_of(source);
    arguments.output = target_of(output);
    kernels::weigh_rows(arguments, backend_.stream_of(stream));
    check_launch("weighing the rows of a map");
    build_->run(mutable_view_of(weighed_.get(), shape_, Memory::device), measured,
                mutable_view_of(table_.get(), shape_, Memory::device), stream);
    kernels::lobe_mean(arguments, backend_.stream_of(stream));
    check_launch("averaging over lobes");
  }

 private:
  CudaBackend& backend_;
  Shape shape_;
  Buffer row_weights_, bands_, rows_;
  Buffer weighed_;
  Buffer table_;
  std::unique_ptr<TableOperation> build_;
  kernels::LobeMeanArguments arguments_;
};

}  // namespace

std::unique_ptr<LobeMeanOperation> prepare_lobe_mean(Backend& backend, const LobeMeanJob& job) {
  return std::make_unique<LobeMean>(as_cuda(backend), job);
}

}  // namespace satin::cuda
