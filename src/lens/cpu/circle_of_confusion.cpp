#include "lens/circle_of_confusion.h"
#include "core/cpu/backend.h"
#include "lens/cpu/depth_steps_simd.h"

namespace satin::cpu {
namespace {

class CircleOfConfusion final : public CircleOfConfusionOperation {
 public:
  CircleOfConfusion(CpuBackend& backend, const CircleOfConfusionJob& job) : backend_(backend), job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& depth, LensState* state, const MutableImageView& radii, Stream) override {
    if (job_.type == Type::u8) return run_typed<std::uint8_t>(depth, *state, radii);
    if (job_.type == Type::u16) return run_typed<std::uint16_t>(depth, *state, radii);
    run_typed<float>(depth, *state, radii);
  }

 private:
  template <class T>
  void run_typed(const ImageView& depth, LensState& state, const MutableImageView& radii) {
    find_focus(state, job_.rule, job_.width, job_.height, [&](std::int64_t x, std::int64_t y) {
      return static_cast<double>(depth.row<T>(y)[x * job_.channels + job_.channel]);
    });
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      const DepthRule rule = job_.rule;
      const LensState focus = state;
      for (std::int64_t y = first; y < last; ++y) {
        const T* from = depth.row<T>(y) + job_.channel;
        auto* to = radii.row<SignedRadius256>(y);
        if (job_.channels == 1) {
          find_circles(from, job_.width, rule, focus, to);
          continue;
        }
        for (std::int64_t x = 0; x < job_.width; ++x)
          to[x] = circle_of_confusion(static_cast<double>(from[x * job_.channels]), rule, focus);
      }
    });
  }

  CpuBackend& backend_;
  CircleOfConfusionJob job_;
};

}  // namespace

std::unique_ptr<CircleOfConfusionOperation> prepare_circle_of_confusion(Backend& backend,
                                                                        const CircleOfConfusionJob& job) {
  return std::make_unique<CircleOfConfusion>(as_cpu(backend), job);
}

}  // namespace satin::cpu
