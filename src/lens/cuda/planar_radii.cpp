#include "lens/planar_radii.h"
#include "core/cuda/backend.h"
#include "core/cuda/check.h"
#include "kernels/lens/lens_radii.h"

namespace satin::cuda {
namespace {

class PlanarRadii final : public PlanarRadiiOperation {
 public:
  PlanarRadii(CudaBackend& backend, const PlanarRadiiJob& job) : backend_(backend), job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const MutableImageView& radii, Stream stream) override {
    backend_.select();
    kernels::planar_radii(job_, target_of(radii), backend_.stream_of(stream));
    check_launch("making radii of a plane");
  }

 private:
  CudaBackend& backend_;
  PlanarRadiiJob job_;
};

}  // namespace

std::unique_ptr<PlanarRadiiOperation> prepare_planar_radii(Backend& backend, const PlanarRadiiJob& job) {
  return std::make_unique<PlanarRadii>(as_cuda(backend), job);
}

}  // namespace satin::cuda
