#include "lens/lens_layers.h"

#include <algorithm>
#include <array>

#include "core/with_type.h"
#include "lens/cpu/disocclusion_fill.h"
#include "lens/cpu/lens_rows_simd.h"
#include "lens/maths/lens_layers_steps.h"
#include "pixels/cpu/pixelwise.h"
#include "pixels/cpu/rows_simd.h"
#include "pixels/cpu/transfer_simd.h"
#include "pixels/transfer.h"

namespace satin::cpu {
namespace {

template <int Channels>
void store_colours(const StoreVisible<std::uint8_t, Channels>& step, int y) {
  constexpr int at_once = 1024;
  std::array<std::uint16_t, static_cast<std::size_t>(at_once * Channels)> light;
  for (int x = 0; x < step.planes.width; x += at_once) {
    const auto entries = static_cast<std::size_t>(std::min(at_once, step.planes.width - x) * Channels);
    decode_row(step.picture.at(x, y), entries, step.picture.transfer, light.data());
    widen(light.data(), entries, step.planes.colours + step.planes.place(x, y) * Channels);
  }
}

/// What may be a clipped highlight again, pixel by pixel.
template <int Channels>
void store_highlights(const StoreVisible<std::uint8_t, Channels>& step, int y) {
  constexpr auto least = static_cast<std::uint32_t>(highlight_begin * 65535.0F);
  const std::uint32_t* colours = step.planes.colours + step.planes.place(0, y) * Channels;
  for (int x = 0; x < step.planes.width; ++x, colours += Channels)
    if (std::any_of(colours, colours + Channels, [](std::uint32_t colour) { return colour >= least; }))
      step(x, y);
}

/// StoreVisible of a row of bytes in linear light, without alpha.
template <int Channels>
void store_visible(const StoreVisible<std::uint8_t, Channels>& step, int y) {
  store_colours(step, y);
  store_depths(step.planes, y, *step.groups);
  if (step.picture.highlights > 1) store_highlights(step, y);
}

/// Steps that look at every pixel have rows of their own.
struct LayerRows : EachRow {
  using EachRow::EachRow;
  using EachRow::operator();

  template <class Steps>
  void operator()(const Steps& steps) const {
    steps.run(*this);
  }
  void operator()(int /*width*/, int height, const SharpenRamp& step) const {
    rows(height, [&](int y) { sharpen_ramps(step.planes, y); });
  }
  void operator()(int /*width*/, int height, const FindSilhouette& step) const {
    rows(height, [&](int y) { find_silhouettes(step.planes, y); });
  }
  template <int Channels>
  void operator()(int width, int height, const StoreVisible<std::uint8_t, Channels>& step) const {
    const bool plain = !step.picture.weighted && step.picture.transfer.decode != nullptr;
    if (!plain) return each(width, height, step);
    rows(height, [&](int y) { store_visible(step, y); });
  }
};

class LensLayers final : public LensLayersOperation {
 public:
  LensLayers(CpuBackend& backend, const LensLayersJob& job)
      : job_(job),
        launch_(backend),
        transfer_(host_transfer(job.type, job.transfer == Transfer::srgb)),
        fill_(backend, static_cast<int>(job.width), static_cast<int>(job.height)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return fill_.bytes(); }

  void run(const ImageView& picture, const Measured* measured, const LensScene& scene, Stream) override {
    with_pixel_type(job_.type, [&]<class T>() {
      const auto stored = lens_picture<T>(job_, picture, transfer_);
      with_channels(job_.channels, [&]<int Channels>() {
        make_visible_samples<Channels>(launch_, scene.planes, stored, measured, scene.unit, scene.work,
                                       scene.list, job_.most_groups);
      });
    });
    fill_.run(scene);
  }

  void show(const LensScene& scene, const LensShow& shown, Stream) override {
    show_lens(launch_, job_, scene, shown);
  }

 private:
  LensLayersJob job_;
  LayerRows launch_;
  TransferView transfer_;
  DisocclusionFill fill_;
};

}  // namespace

std::unique_ptr<LensLayersOperation> prepare_lens_layers(Backend& backend, const LensLayersJob& job) {
  return std::make_unique<LensLayers>(as_cpu(backend), job);
}

}  // namespace satin::cpu
