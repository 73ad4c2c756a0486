#include "lens/fill_radii.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/lens/lens_radii.h"
#include "lens/known_radii.h"

namespace satin::cuda {
namespace {

class FillRadii final : public FillRadiiOperation {
 public:
  FillRadii(CudaBackend& backend, const FillRadiiJob& job)
      : backend_(backend), job_(job), tables_(backend, job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return tables_.workspace_bytes(); }

  void run(const MutableImageView& radii, LensState* state, Stream stream) override {
    backend_.select();
    const kernels::FillRadiiArguments arguments{job_,
                                                target_of(radii),
                                                target_of(tables_.counts.plane()),
                                                target_of(tables_.sums.plane()),
                                                tables_.known(job_),
                                                state};
    kernels::split_radii(arguments, backend_.stream_of(stream));
    tables_.run(stream);
    kernels::fill_radii(arguments, backend_.stream_of(stream));
    check_launch("filling unknown depth");
  }

 private:
  CudaBackend& backend_;
  FillRadiiJob job_;
  KnownRadiiTables tables_;
};

}  // namespace

std::unique_ptr<FillRadiiOperation> prepare_fill_radii(Backend& backend, const FillRadiiJob& job) {
  return std::make_unique<FillRadii>(as_cuda(backend), job);
}

}  // namespace satin::cuda
