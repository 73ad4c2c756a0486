#include "lens/lens_layers.h"

#include <algorithm>
#include <array>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "lens/cpu/depth_ramp_simd.h"
#include "lens/cpu/disocclusion_fill.h"
#include "lens/cpu/lens_rows_simd.h"
#include "lens/lens_memory.h"
#include "lens/maths/lens_debug.h"
#include "lens/maths/lens_layers_steps.h"
#include "pixels/cpu/rows.h"
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
    std::copy_n(light.data(), entries, step.planes.colours + step.planes.place(x, y) * Channels);
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

/// launch(width, height, step) calls step(x, y) for every place, on all threads; steps that look at every
/// pixel have rows of their own.
struct EachPlace {
  CpuBackend& backend;

  template <class Step>
  void operator()(int width, int height, const Step& step) const {
    each_pixel(width, height, step);
  }
  template <class Steps>
  void operator()(const Steps& steps) const {
    steps.run(*this);
  }
  void operator()(int /*width*/, int height, const SharpenRamp& step) const {
    each_row(height, [&](int y) { sharpen_ramps(step.planes, y); });
  }
  void operator()(int /*width*/, int height, const FindSilhouette& step) const {
    each_row(height, [&](int y) { find_silhouettes(step.planes, y); });
  }
  template <int Channels>
  void operator()(int width, int height, const StoreVisible<std::uint8_t, Channels>& step) const {
    const bool plain = !step.picture.weighted && step.picture.transfer.decode != nullptr;
    if (!plain) return each_pixel(width, height, step);
    each_row(height, [&](int y) { store_visible(step, y); });
  }

 private:
  template <class Step>
  void each_pixel(int width, int height, const Step& step) const {
    each_row(height, [&](int y) {
      for (int x = 0; x < width; ++x) step(x, y);
    });
  }

  template <class Row>
  void each_row(int height, const Row& row) const {
    parallel_rows(backend, height, 16, [&](std::int64_t first, std::int64_t last) {
      for (auto y = static_cast<int>(first); y < last; ++y) row(y);
    });
  }
};

class LensLayers final : public LensLayersOperation {
 public:
  LensLayers(CpuBackend& backend, const LensLayersJob& job)
      : backend_(backend),
        job_(job),
        memory_(backend, job),
        transfer_(host_transfer(job.type, job.transfer == Transfer::srgb)),
        fill_(backend, memory_.planes()) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return memory_.bytes() + fill_.bytes();
  }
  [[nodiscard]] const LensPlanes& planes() const noexcept override { return memory_.planes(); }
  [[nodiscard]] const LensList& list() const noexcept override { return memory_.list(); }
  [[nodiscard]] const LensUnit* unit() const noexcept override { return memory_.unit(); }
  [[nodiscard]] const DepthGroups* groups() const noexcept override { return &memory_.work()->groups; }

  void run(const ImageView& picture, const Measured* measured, Stream) override {
    if (job_.type == Type::u8) return make<std::uint8_t>(picture, measured);
    if (job_.type == Type::u16) return make<std::uint16_t>(picture, measured);
    make<float>(picture, measured);
  }

  void show(const LensShow& shown, Stream) override {
    const EachPlace launch{backend_};
    const ShadeUnit shade{memory_.unit(), shown.opacity, job_.weighted && job_.type == Type::f32};
    if (shown.what == LensDebug::hidden)
      return show_hidden(launch, planes(), shade, list(), job_.most_groups, shown.values);
    launch(planes().width, planes().height,
           ShowShades{planes(), shade, shown.what == LensDebug::groups, shown.order == Order::bgr,
                      shown.largest_radius, shown.values});
  }

 private:
  template <class T>
  void make(const ImageView& picture, const Measured* measured) {
    const EachPlace launch{backend_};
    const auto stored = lens_picture<T>(job_, picture, transfer_);
    with_channels(job_.channels, [&]<int Channels>() {
      make_visible_samples<Channels>(launch, planes(), stored, measured, memory_.unit(), memory_.work(),
                                     list(), job_.most_groups);
    });
    fill_.run(memory_.unit(), list(), memory_.work()->groups.count);
  }

  CpuBackend& backend_;
  LensLayersJob job_;
  LensMemory memory_;
  TransferView transfer_;
  DisocclusionFill fill_;
};

}  // namespace

std::unique_ptr<LensLayersOperation> prepare_lens_layers(Backend& backend, const LensLayersJob& job) {
  return std::make_unique<LensLayers>(as_cpu(backend), job);
}

}  // namespace satin::cpu
