#include "lens/lens_blur.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/record.h"
#include "core/side_inputs.h"
#include "lens/lens_layers.h"
#include "lens/lens_store.h"
#include "lens/splat.h"
#include "pixels/measure.h"
#include "satin/error.h"

namespace satin {
namespace {

constexpr double most_highlights = 64;
/// On scenes of samples/lens merging from 12 pixels on costs 0.1 dB on average, from 8 on 0.3, at the same
/// speed.
constexpr std::uint32_t merge_from_fast = 12 * 256;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

void check(const LensBlurJob& job) {
  validate(job.picture);
  const Type type = job.picture.type;
  if (type != Type::u8 && type != Type::u16 && type != Type::f32)
    refuse(std::string("Pixels of type ") + name_of(type) +
           " cannot be filtered: convert them to u8, u16 or f32.");
  if (type != Type::f32 && job.picture.alpha == Alpha::premultiplied && job.space == Space::linear &&
      !job.keeps_last)
    refuse("Integer pixels with premultiplied alpha have no linear light: give straight alpha.");
  if (!(job.style.highlights >= 1 && job.style.highlights <= most_highlights))
    refuse("highlights " + print_real(job.style.highlights) + ": must be from 1 to " +
           print_real(most_highlights) + ".");
}

bool shows(const LensBlurJob& job) { return job.style.debug != LensDebug::off; }

std::uint32_t largest_radius(const LensBlurJob& job) {
  return static_cast<std::uint32_t>(std::ceil(job.max_radius * 256));
}

LensLayersJob layers_job(const LensBlurJob& job) {
  const Shape& shape = job.picture;
  LensLayersJob layers;
  layers.width = shape.width;
  layers.height = shape.height;
  layers.type = shape.type;
  layers.channels = shape.channels;
  layers.weighted = shape.alpha == Alpha::straight && !job.keeps_last;
  layers.transfer =
      shape.type != Type::f32 && job.space == Space::linear ? Transfer::srgb : Transfer::identity;
  layers.highlights = shape.type == Type::f32 ? 1.0F : static_cast<float>(job.style.highlights);
  layers.float_bits = std::min(lens_float_bits, splat_colour_bits(largest_radius(job)));
  layers.most_groups = job.style.quality == LensQuality::fast ? 4 : lens_most_groups;
  layers.offset_pairs = job.style.quality == LensQuality::fast ? most_offset_pairs / 2 : most_offset_pairs;
  return layers;
}

/// Throws Error(usage) where the job is not valid.
LensLayersJob checked(const LensBlurJob& job) {
  check(job);
  return layers_job(job);
}

SplatJob splat_job(const LensBlurJob& job, const LensLayersJob& layers) {
  SplatJob splat;
  splat.width = layers.width;
  splat.height = layers.height;
  splat.channels = layers.channels;
  splat.alpha = job.picture.alpha != Alpha::none && !job.keeps_last;
  splat.groups = layers.most_groups;
  splat.colour_bits = lens_colour_bits(layers) + static_cast<int>(std::ceil(std::log2(layers.highlights)));
  splat.white = lens_white(layers.type == Type::u16, layers.weighted);
  splat.largest_radius = largest_radius(job);
  splat.bokeh = job.style.bokeh;
  splat.quality = job.style.quality == LensQuality::fast ? SplatQuality::fast : SplatQuality::high;
  splat.most_listed = layers.list_capacity();
  if (job.style.quality == LensQuality::fast) splat.merge_from = merge_from_fast;
  return splat;
}

}  // namespace

LensBlur::LensBlur(Backend& backend, const LensBlurJob& job)
    : shape_(job.picture),
      memory_(backend.host_memory ? Memory::host : Memory::device),
      lens_(backend, checked(job)) {
  const LensLayersJob layers = layers_job(job);
  if (layers.type == Type::f32) {
    // shades have to fit beside the picture's values
    const std::uint64_t least = bits_of(shows(job) ? 1.0 : lens_least_magnitude);
    measure_ = backend.prepare(
        MeasureJob{layers.width, layers.height, layers.channels, layers.weighted, true, {least, least}});
  }
  layers_ = backend.prepare(layers);
  const SplatJob splat = splat_job(job, layers);
  if (!shows(job)) splat_ = backend.prepare(splat);
  result_ = backend.allocate(static_cast<std::size_t>(layers.width * layers.height * layers.channels) *
                             sizeof(std::uint32_t));
  shown_ = {job.style.debug, static_cast<double>(splat.largest_radius), splat.alpha, job.picture.order,
            reinterpret_cast<std::uint32_t*>(result_.get())};
  store_ = backend.prepare(LensStoreJob{layers, checked_mask_maximum(job.mask, job.picture), job.keeps_last});
}

std::size_t LensBlur::workspace_bytes() const noexcept {
  const std::size_t splat = splat_ == nullptr ? 0 : splat_->workspace_bytes();
  return result_.size + lens_.bytes() + layers_->workspace_bytes() + splat + store_->workspace_bytes();
}

MutableImageView LensBlur::plane(void* data, Type type, int channels) const {
  const Shape shape{shape_.width, shape_.height, channels, type};
  return {static_cast<std::byte*>(data), shape, interleaved_strides(shape), memory_};
}

MutableImageView LensBlur::radii() const { return plane(lens_.scene().planes.radii, Type::i32); }

MutableImageView LensBlur::spare() const { return plane(lens_.scene().planes.sharpened, Type::i32); }

void LensBlur::run(const ImageView& picture, const ImageView& mask, const MutableImageView& output,
                   Measured* measured, Stream stream, const std::uint32_t* soft) {
  lens_.set_soft(soft);
  if (measure_ != nullptr) {
    measure_->clear(measured, stream);
    measure_->measure(picture, measured, stream);
  }
  layers_->run(picture, measured, lens_.scene(), stream);
  if (splat_ != nullptr) {
    spread(stream);
  } else {
    layers_->show(lens_.scene(), shown_, stream);
  }
  store_->run({shown_.values, picture, mask, output, measured}, stream);
}

void LensBlur::spread(Stream stream) {
  const LensScene& scene = lens_.scene();
  const LensPlanes& planes = scene.planes;
  const MutableImageView colours = plane(planes.colours, Type::u32, planes.channels);
  SplatImages images;
  images.source = colours;
  images.colours = colours;
  images.radii = plane(planes.magnitudes, Type::u32);
  images.groups = plane(planes.groups, Type::u8);
  images.weights = plane(planes.weights, Type::u16);
  images.listed = scene.list.samples;
  images.count = scene.list.count;
  if (shape_.type == Type::f32) images.white = &scene.unit->brightest;
  images.output = plane(result_.get(), Type::u32, planes.channels);
  splat_->run(images, stream);
}

std::vector<ParameterRecord> lens_style_parameters() {
  return {
      record::choice(&LensStyle::quality, {"fast", "high"},
                     {"quality", "",
                      "fast: 4 groups of depth at most, 12 corners a disc, from radius 12 on pixels 2 x 2; "
                      "high: 5 and 20"}),
      record::choice(&LensStyle::bokeh, {"disc", "hexagon", "square"},
                     {"bokeh", "", "shape of a point that is out of focus"}),
      record::real(&LensStyle::highlights, 1, most_highlights,
                   {"highlights", "", "how much brighter clipped highlights were; 1: off, 4 is good"}),
      record::choice(&LensStyle::debug, {"off", "coc", "groups", "hidden"},
                     {"debug", "", "show instead the radii, the groups of depth, or what lies behind"}),
  };
}

}  // namespace satin
