#include "kernels/detail.h"

#include "core/cuda/backend.h"
#include "core/cuda/check.h"

namespace satin::cuda {
namespace {

class Detail final : public DetailOperation {
 public:
  Detail(CudaBackend& backend, const DetailJob& job) : backend_(backend), level_(job.level) {
    arguments_.width = job.width;
    arguments_.height = job.height;
    arguments_.channels = job.means.channels;
    arguments_.type = job.write.type;
    arguments_.means_type = job.means.type;
    arguments_.rule =
        detail_rule(job, backend.transfer(job.write.type, job.write.transfer == Transfer::srgb));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const DetailImages& images, Stream stream) override {
    backend_.select();
    kernels::DetailArguments arguments = arguments_;
    arguments.measured = images.measured;
    arguments.picture = source_of(images.picture);
    arguments.means = source_of(images.means);
    arguments.mask = source_of(images.mask);
    arguments.output = target_of(images.output);
    if (level_) {
      kernels::compare_detail(arguments, *level_, backend_.stream_of(stream));
    } else {
      kernels::add_detail(arguments, backend_.stream_of(stream));
    }
    check_launch("adding detail to a picture");
  }

 private:
  CudaBackend& backend_;
  kernels::DetailArguments arguments_;
  std::optional<LevelRule> level_;
};

}  // namespace

std::unique_ptr<DetailOperation> prepare_detail(Backend& backend, const DetailJob& job) {
  return std::make_unique<Detail>(as_cuda(backend), job);
}

}  // namespace satin::cuda
