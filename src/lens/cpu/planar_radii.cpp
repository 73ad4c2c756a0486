#include "lens/planar_radii.h"

#include "core/cpu/backend.h"
#include "lens/cpu/depth_steps_simd.h"

namespace satin::cpu {
namespace {

class PlanarRadii final : public PlanarRadiiOperation {
 public:
  PlanarRadii(CpuBackend& backend, const PlanarRadiiJob& job) : backend_(backend), job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const MutableImageView& radii, Stream) override {
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      const PlanarFocus focus = job_.focus;
      for (std::int64_t y = first; y < last; ++y)
        find_planar_radii(y, job_.width, focus, radii.row<SignedRadius256>(y));
    });
  }

 private:
  CpuBackend& backend_;
  PlanarRadiiJob job_;
};

}  // namespace

std::unique_ptr<PlanarRadiiOperation> prepare_planar_radii(Backend& backend, const PlanarRadiiJob& job) {
  return std::make_unique<PlanarRadii>(as_cpu(backend), job);
}

}  // namespace satin::cpu
