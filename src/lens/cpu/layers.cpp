// Operations of the lens on the CPU except the splat, compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lens/cpu/layers.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <memory>

#include "core/with_type.h"
#include "lens/cpu/disocclusion_fill-inl.h"
#include "lens/cpu/nonlocal_fill-inl.h"
#include "lens/lamps.h"
#include "lens/layers.h"
#include "lens/maths/visible_samples.h"
#include "pixels/cpu/pixelwise-inl.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

/// Runs steps over all places by threads: launch(width, height, step) and launch(steps).
struct LayerRows : EachRow {
  using EachRow::EachRow;
  using EachRow::operator();

  template <class Steps>
  void operator()(const Steps& steps) const {
    steps.run(*this);
  }
};

class LensLayers final : public LensLayersOperation {
 public:
  LensLayers(CpuBackend& backend, const LensLayersJob& job)
      : job_(job),
        launch_(backend),
        transfer_(host_transfer(job.type, job.transfer == Transfer::srgb)),
        fill_(backend, static_cast<int>(job.width), static_cast<int>(job.height)),
        nonlocal_(backend, job) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return fill_.bytes() + nonlocal_.bytes();
  }

  void run(const ImageView& picture, const Measured* measured, const LensScene& scene, Stream) override {
    with_pixel_type(job_.type, [&]<class T>() {
      const auto stored = lens_picture<T>(job_, picture, transfer_);
      with_channels(job_.channels, [&]<int Channels>() {
        make_visible_samples<Channels>(launch_, scene.planes, stored, measured, scene.unit, scene.work,
                                       scene.list, scene.soft, job_.most_groups);
      });
    });
    fill_.run(scene, job_.merged_radius);
    nonlocal_.run(launch_, scene);
  }

  void show(const LensScene& scene, const LensShow& shown, Stream) override {
    show_lens(launch_, job_, scene, shown);
  }

 private:
  LensLayersJob job_;
  LayerRows launch_;
  TransferView transfer_;
  DisocclusionFill fill_;
  NonlocalTiles nonlocal_;
};

inline std::unique_ptr<LensLayersOperation> PrepareLensLayers(Backend& backend, const LensLayersJob& job) {
  return std::make_unique<LensLayers>(as_cpu(backend), job);
}

inline std::unique_ptr<LampsJob::Operation> PrepareLamps(Backend& backend, const LampsJob& job) {
  return prepare_pixelwise<EachRow>(backend, job);
}
inline std::unique_ptr<LensStoreJob::Operation> PrepareLensStore(Backend& backend, const LensStoreJob& job) {
  return prepare_pixelwise<EachRow>(backend, job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareLensLayers);
HWY_EXPORT(PrepareLamps);
HWY_EXPORT(PrepareLensStore);

std::unique_ptr<LensLayersOperation> prepare_lens_layers(Backend& backend, const LensLayersJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLensLayers)(backend, job);
}
std::unique_ptr<LampsJob::Operation> prepare_lamps(Backend& backend, const LampsJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLamps)(backend, job);
}
std::unique_ptr<LensStoreJob::Operation> prepare_lens_store(Backend& backend, const LensStoreJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLensStore)(backend, job);
}

}  // namespace satin::cpu
#endif
