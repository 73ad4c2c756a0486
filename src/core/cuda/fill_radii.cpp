#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "core/cuda/depth_operations.h"
#include "core/plane_table.h"
#include "kernels/lens_radii.h"

namespace satin::cuda {
namespace {

class FillRadii final : public FillRadiiOperation {
 public:
  FillRadii(CudaBackend& backend, const FillRadiiJob& job)
      : backend_(backend),
        job_(job),
        counts_(backend, job.width, job.height, Type::u8, 1, Accumulator::u32),
        sums_(backend, job.width, job.height, Type::u32, 2 * static_cast<std::uint64_t>(job.largest),
              Accumulator::u64) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return counts_.workspace_bytes() + sums_.workspace_bytes();
  }

  void run(const MutableImageView& radii, LensState* state, Stream stream) override {
    backend_.select();
    const KnownRadii tables{job_.largest, counts_.table<std::uint32_t>(), sums_.table<std::uint64_t>()};
    const kernels::FillRadiiArguments arguments{
        job_, target_of(radii), target_of(counts_.plane()), target_of(sums_.plane()), tables, state};
    kernels::split_radii(arguments, backend_.stream_of(stream));
    counts_.run(stream);
    sums_.run(stream);
    kernels::fill_radii(arguments, backend_.stream_of(stream));
    check_launch("filling unknown depth");
  }

 private:
  CudaBackend& backend_;
  FillRadiiJob job_;
  PlaneTable counts_;
  PlaneTable sums_;
};

}  // namespace

std::unique_ptr<FillRadiiOperation> prepare_fill_radii(Backend& backend, const FillRadiiJob& job) {
  return std::make_unique<FillRadii>(as_cuda(backend), job);
}

}  // namespace satin::cuda
