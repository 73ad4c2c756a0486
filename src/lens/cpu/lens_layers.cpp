// The steps from a picture and its radii to samples, compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lens/cpu/lens_layers.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "core/with_type.h"
#include "lens/cpu/disocclusion_fill-inl.h"
#include "lens/cpu/lens_rows-inl.h"
#include "lens/cpu/nonlocal_fill-inl.h"
#include "lens/cpu/nonlocal_pack-inl.h"
#include "lens/lens_layers.h"
#include "lens/maths/lens_layers_steps.h"
#include "pixels/cpu/pixelwise.h"
#include "pixels/cpu/rows-inl.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

template <int Channels>
void StoreColours(const StoreVisible<std::uint8_t, Channels>& step, int y) {
  RowReader reader;
  reader.read.channels = Channels;
  reader.transfer = step.picture.transfer;
  ReadBytes(reader, step.picture.at(0, y), static_cast<std::size_t>(step.planes.width),
            step.planes.colours + step.planes.place(0, y) * Channels);
}

/// StoreVisible of a row of bytes in linear light, without alpha.
template <int Channels>
void StoreVisibleRow(const StoreVisible<std::uint8_t, Channels>& step, int y) {
  StoreColours(step, y);
  StoreDepths(step.planes, y, *step.groups);
}

/// SeparateSilhouettes of row y, where most pixels are none.
template <class T, int Channels>
void SeparateRow(const SeparateSilhouettes<T, Channels>& step, int y) {
  const LensPlanes& planes = step.visible.planes;
  const std::uint8_t* edges = planes.edges + planes.place(0, y);
  std::uint64_t eight = 0;
  constexpr int at_once = sizeof eight;
  int x = 0;
  for (; x + at_once <= planes.width; x += at_once) {
    std::memcpy(&eight, edges + x, sizeof eight);
    if (eight == 0) continue;
    for (int i = x; i < x + at_once; ++i) step(i, y);
  }
  for (; x < planes.width; ++x) step(x, y);
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
    rows(height, [&](int y) { SharpenRow(step.planes, y); });
  }
  void operator()(int /*runs*/, int height, const FindRadiusRange& step) const {
    rows(height, [&](int y) { FindRangeRow(step, y); });
  }
  void operator()(int /*runs*/, int height, const CountRadii& step) const {
    in_parts(height, 16, [&](int first, int last) { CountRadiiRows(step, first, last); });
  }
  void operator()(int /*width*/, int height, const FindSilhouette& step) const {
    rows(height, [&](int y) { SilhouetteRow(step.planes, y); });
  }
  void operator()(int /*width*/, int height, const PackColours& step) const {
    if (step.fill.work->needs_any()) rows(height, [&](int y) { PackRow(step, y); });
  }
  void operator()(int /*width*/, int /*height*/, const CountNeeded& step) const {
    for_listed(step.fill, [&](int first, int last) { CountNeededSamples(step.fill, first, last); });
  }
  void operator()(int /*width*/, int /*height*/, const PlaceNeeded& step) const {
    if (!step.fill.work->needs(step.group)) return;
    const PlacesOfTiles places(step.fill);
    for_listed(step.fill, [&](int first, int last) { places.mark(step.group, first, last); });
    for_tiles(step.fill, NonlocalMark::needed, [&](int tile) { places.clear(tile); });
    for_listed(step.fill, [&](int first, int last) { places.place(step.group, first, last); });
  }
  void operator()(int /*width*/, int /*height*/, const RestoreMagnitudes& step) const {
    const PlacesOfTiles places(step.fill);
    for_tiles(step.fill, NonlocalMark::placed, [&](int tile) {
      places.restore(tile);
      step.fill.tiles[tile] = static_cast<std::uint8_t>(NonlocalMark::none);
    });
  }
  void operator()(int /*width*/, int height, const SumDifferences& step) const {
    rows(height, [&](int y) { SumDifferencesRow(step, y); });
  }
  template <class T, int Channels>
  void operator()(int /*width*/, int height, const SeparateSilhouettes<T, Channels>& step) const {
    rows(height, [&](int y) { SeparateRow(step, y); });
  }
  template <int Channels>
  void operator()(int width, int height, const StoreVisible<std::uint8_t, Channels>& step) const {
    const bool plain = !step.picture.weighted && step.picture.transfer.decode != nullptr;
    if (!plain) return each(width, height, step);
    rows(height, [&](int y) { StoreVisibleRow(step, y); });
  }

 private:
  /// Calls take(first, last) for parts of `size` that together are 0 to `count` - 1.
  template <class Take>
  void in_parts(int count, int size, const Take& take) const {
    rows((count + size - 1) / size, [&](int part) { take(part * size, std::min(count, (part + 1) * size)); });
  }
  /// Calls take(first, last) for parts of the list that together are all of its samples.
  template <class Take>
  void for_listed(const NonlocalFill& fill, const Take& take) const {
    in_parts(static_cast<int>(*fill.list.count), 512, take);
  }
  template <class Take>
  void for_tiles(const NonlocalFill& fill, NonlocalMark mark, const Take& take) const {
    const int tile_rows = (fill.planes.height + fill.tile_side - 1) / fill.tile_side;
    rows(std::int64_t{fill.tile_columns()} * tile_rows, [&](int tile) {
      if (fill.tiles[tile] == static_cast<std::uint8_t>(mark)) take(tile);
    });
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
    fill_.run(scene);
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

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareLensLayers);

std::unique_ptr<LensLayersOperation> prepare_lens_layers(Backend& backend, const LensLayersJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLensLayers)(backend, job);
}

}  // namespace satin::cpu
#endif
