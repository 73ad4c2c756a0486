#pragma once
// The steps of dof() one by one, for rows of the lens study that have to see the inside of the library.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "core/backend.h"
#include "core/plan_operations.h"
#include "depth/signed_radii.h"
#include "lens/lamps.h"
#include "lens/layers.h"
#include "lens/lens_blur.h"
#include "lens/splat.h"
#include "samples/lens/methods.h"
#include "samples/lens/render.h"

namespace satin {

/// The operations of one picture on the CPU, whose memory is the host's.
class LensSteps {
 public:
  /// `offset_pairs`: of the non-local fill; 0: what is hidden gets means alone.
  explicit LensSteps(const lens::Input& input, int offset_pairs = most_offset_pairs)
      : device_(Device::open("cpu")), backend_(device_.backend()) {
    LensFocus focus;
    focus.strength = input.scene.strength;
    focus.focus = input.scene.focus;
    focus.max_radius = largest_radius;
    rule_ = depth_rule(focus, input.picture.shape(), input.plain.shape());
    set_focus(state_, rule_.focus, rule_);
    const auto largest = static_cast<std::uint32_t>(256 * largest_radius);
    job_.width = width;
    job_.height = height;
    job_.type = Type::f32;
    job_.channels = 3;
    job_.offset_pairs = offset_pairs;
    job_.transfer = Transfer::identity;
    const int highlight_bits = static_cast<int>(std::ceil(std::log2(input.highlights)));
    job_.float_bits = std::min(lens_float_bits, splat_colour_bits(largest)) - highlight_bits;
    layers_ = backend_.prepare(job_);
    memory_.emplace(backend_, job_);
    const ApertureTable aperture = aperture_table({});
    lamp_memory_.emplace(backend_, job_, aperture, Shape{});
    SplatJob splat;
    splat.width = width;
    splat.height = height;
    splat.groups = job_.most_groups;
    splat.colour_bits = lens_colour_bits(job_) + highlight_bits;
    splat.largest_radius = largest;
    splat.most_lamps = LampMemory::capacity(job_);
    splat.lamp_reach = aperture.reach;
    splat.most_listed = job_.list_capacity();
    splat_ = backend_.prepare(splat);
    LampsJob lamps;
    lamps.rule.highlights = static_cast<float>(input.highlights);
    lamps.rule.clipped_if_white = true;
    lamps.rule.full = 1U << splat_weight_bits(splat);
    find_lamps_ = backend_.prepare(lamps);
    store_ = backend_.prepare(LensStoreJob{job_, 0, false});
    const std::uint64_t least = bits_of(lens_least_magnitude);
    measure_ = backend_.prepare(MeasureJob{width, height, 3, false, true, {least, least}});
  }

  [[nodiscard]] SignedRadius256 radius(float disparity) const {
    return circle_of_confusion(static_cast<double>(disparity), rule_, state_);
  }

  void see(const Image& picture, const Image& disparity) {
    measure_->clear(&measured_, {});
    measure_->measure(picture.view(), &measured_, {});
    const LensPlanes& planes = scene().planes;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        planes.radii[planes.place(x, y)] = radius(disparity.view().value<float>(x, y));
    layers_->run(picture.view(), &measured_, scene(), {});
  }

  /// Takes from the list, at silhouettes, all that lies behind the pixel's own group.
  void forget_hidden() {
    const LensPlanes& planes = scene().planes;
    const LensList& list = scene().list;
    LensSample* end = std::remove_if(list.samples, list.samples + *list.count, [&](const LensSample& sample) {
      if (sample.block == 2) return true;
      return sample.group > planes.groups[planes.place(sample.x, sample.y)];
    });
    *list.count = static_cast<std::uint32_t>(end - list.samples);
  }

  void add_hidden(const std::vector<lens::HiddenView>& views) {
    const LensPlanes& planes = scene().planes;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int group = planes.groups[planes.place(x, y)];
        for (const lens::HiddenView& view : views) {
          const float disparity = view.disparity.view().value<float>(x, y);
          if (disparity < 0) break;
          const SignedRadius256 own = radius(disparity);
          if (scene().work->groups.group_of(own) <= group) continue;
          group = scene().work->groups.group_of(own);
          add(x, y, lens::pixel_of(view.picture, x, y), own, group);
        }
      }
  }

  [[nodiscard]] Image spread(const Image& picture) {
    const LensPlanes& planes = scene().planes;
    const auto view = [](auto* data, Type type, int channels = 1) {
      const Shape shape{width, height, channels, type};
      return MutableImageView{reinterpret_cast<std::byte*>(data), shape, interleaved_strides(shape),
                              Memory::host};
    };
    std::vector<std::uint32_t> values(std::size_t{3} * width * height);
    find_lamps_->run({scene(), &measured_, lamp_memory_->cells(), lamp_memory_->surfaces(),
                      lamp_memory_->lamps(), lamp_memory_->aperture()},
                     {});
    SplatImages images;
    images.lamps = lamp_memory_->lamps().lamps;
    images.lamp_count = lamp_memory_->lamps().count;
    images.aperture = lamp_memory_->aperture();
    images.source = images.colours = view(planes.colours, Type::u32, 3);
    images.radii = view(planes.magnitudes, Type::u32);
    images.groups = view(planes.groups, Type::u8);
    images.weights = view(planes.weights, Type::u16);
    images.listed = scene().list.samples;
    images.count = scene().list.count;
    images.output = view(values.data(), Type::u32, 3);
    splat_->run(images, {});
    Image result(picture.shape());
    store_->run({values.data(), picture.view(), {}, result.view(), &measured_}, {});
    return result;
  }

 private:
  static constexpr double largest_radius = 64;
  static constexpr int width = lens::width;
  static constexpr int height = lens::height;

  [[nodiscard]] const LensScene& scene() const { return memory_->scene(); }

  void add(int x, int y, lens::Vec3 colour, SignedRadius256 own, int group) {
    const LensList& list = scene().list;
    if (*list.count == list.capacity) throw Error(ErrorKind::input, "The list of hidden samples is full.");
    LensSample sample{};
    const double light[] = {colour.x, colour.y, colour.z};
    for (int c = 0; c < 3; ++c) sample.colour[c] = lens_integer(static_cast<float>(light[c]), *scene().unit);
    sample.x = x;
    sample.y = y;
    sample.radius = magnitude_of(own);
    sample.weight = lens_full_weight;
    sample.block = 1;
    sample.group = static_cast<std::uint8_t>(group);
    list.samples[(*list.count)++] = sample;
  }

  Device device_;
  Backend& backend_;
  DepthRule rule_;
  LensState state_;
  LensLayersJob job_;
  Measured measured_{};
  std::unique_ptr<MeasureOperation> measure_;
  std::unique_ptr<LensLayersOperation> layers_;
  std::optional<LensMemory> memory_;
  std::optional<LampMemory> lamp_memory_;
  std::unique_ptr<LampsJob::Operation> find_lamps_;
  std::unique_ptr<SplatOperation> splat_;
  std::unique_ptr<LensStoreJob::Operation> store_;
};

}  // namespace satin
