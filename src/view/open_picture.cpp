#include "view/open_picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "batch/file_names.h"
#include "batch/file_stamp.h"
#include "batch/linear_light.h"
#include "batch/photographs.h"
#include "batch/side_inputs.h"
#include "io/convert.h"
#include "satin/error.h"

namespace satin::view {
namespace {

std::shared_ptr<Pyramid> shown_of(const Device& device, const std::shared_ptr<const Picture>& source,
                                  const std::shared_ptr<Pyramid>& pixels) {
  const std::shared_ptr<const Image> image(source, &source->image);
  std::shared_ptr<const Image> shown = in_8_bits(image, source->metadata);
  return shown == image ? pixels : std::make_shared<Pyramid>(device, std::move(shown), Space::linear);
}

/// Returns a text of everything that the side inputs of a pipeline depend on.
std::string key_of(const Batch& work, const OpenPicture& picture) {
  std::string key = work.file(0).input.string() + " " + std::to_string(static_cast<int>(picture.photo_use));
  for (const PipelineStep& step : work.pipeline) {
    key += "|" + step.parameters.filter().name + " " + step.parameters.get(ParameterRole::depth_source) +
           " " + step.parameters.get(ParameterRole::depth_channel);
    for (const SideInput& side : step.side_inputs) {
      const batch::FileStamp stamp = batch::stamp_of(work.side_path(side, 0));
      key += " " + side.name + "=" + side.path.string() + " " + std::to_string(stamp.size) + " " +
             std::to_string(stamp.time);
    }
  }
  return key;
}

/// Samples depth in the size of a level, whose aspect differs slightly from that of the whole picture.
/// Nothing is interpolated between two surfaces: every pixel gets the value at its position.
std::shared_ptr<const Image> depth_at_level(const Image& depth, const Shape& picture, int level) {
  Shape shape = depth.shape();
  shape.width = shape_at(picture, level).width;
  shape.height = shape_at(picture, level).height;
  Image small(shape);
  const ImageView from = depth.view();
  const MutableImageView to = small.view();
  const auto place = [level](std::int64_t at, std::int64_t whole, std::int64_t size) {
    return ((at << level) * 2 + 1) * size / (2 * whole);
  };
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      std::memcpy(
          to.at(x, y),
          from.at(place(x, picture.width, from.shape.width), place(y, picture.height, from.shape.height)),
          static_cast<std::size_t>(to.strides.pixel));
  return std::make_shared<const Image>(std::move(small));
}

/// Returns the side images of a step at a level.
std::vector<std::shared_ptr<const Image>> at_level(const PipelineStep& step,
                                                   const std::vector<std::shared_ptr<Pyramid>>& sides,
                                                   const Shape& picture, int level) {
  std::vector<std::shared_ptr<const Image>> images;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const bool is_depth = step.parameters.filter().inputs[i].role == Role::depth;
    std::shared_ptr<const Image> image;
    if (sides[i] != nullptr) image = sides[i]->make_quickly(is_depth ? 0 : level);
    if (image != nullptr && is_depth && level > 0) image = depth_at_level(*image, picture, level);
    images.push_back(std::move(image));
  }
  return images;
}

Filtered run(const Device& device, const Pipeline& steps, const Picture& picture,
             std::vector<ImageView> inputs, const std::filesystem::path& name, const Progress& progress) {
  const batch::LinearLight light(picture, steps, {});
  inputs.front() = light.picture();
  const std::vector<Shape> shapes = shapes_of(inputs);
  const auto check = [&](std::size_t step, const Shape& shape) {
    batch::check_sizes(steps, step, shapes, name, shape);
  };
  PipelinePlan plan(device, steps, shapes, check);
  plan.watch(progress);
  Image output(plan.output_shape());
  plan.run(inputs, output.view());
  static_cast<void>(plan.check());
  return {light.encoded(std::move(output)), plan.found()};
}

std::string extension_of(const std::filesystem::path& name, const WriteOptions& options) {
  return options.format.empty() ? name.extension().string() : options.format;
}

constexpr double endless = std::numeric_limits<double>::max();

Length scaled(const Length& length, double scale, bool whole) {
  if (length.percent) return length;
  const double value = length.value * scale;
  return {whole ? std::round(value) : value};
}

PixelBox scaled(const PixelBox& box, double scale) {
  const auto edge = [scale](std::int64_t at) { return std::llround(static_cast<double>(at) * scale); };
  const std::int64_t left = edge(box.x), top = edge(box.y);
  return {left, top, std::max<std::int64_t>(edge(box.x + box.width) - left, 1),
          std::max<std::int64_t>(edge(box.y + box.height) - top, 1)};
}

std::string scaled(const ParameterRecord& parameter, const std::string& text, double scale) {
  const std::string& name = parameter.name;
  switch (parameter.kind) {
    case ParameterKind::real:
      return print_real(std::clamp(parse_real(name, text, -endless, endless) * scale, parameter.minimum,
                                   parameter.maximum));
    case ParameterKind::integer: {
      const auto value = parse_real(name, text, -endless, endless);
      const double odd = std::fmod(std::abs(value), 2);  // odd values, such as windows, stay odd
      return print_real(std::max(2 * std::round((value * scale - odd) / 2) + odd, parameter.minimum));
    }
    case ParameterKind::length:
      return print_length(scaled(parse_length(name, text, -endless, endless), scale, false));
    case ParameterKind::radius: {
      const Radius radius = parse_radius(name, text, 0, endless);
      return print_radius(
          {scaled(radius.x, scale, parameter.whole), scaled(radius.y, scale, parameter.whole)});
    }
    case ParameterKind::point: {
      const Point point = parse_point(name, text);
      return print_point({scaled(point.x, scale, false), scaled(point.y, scale, false)});
    }
    case ParameterKind::boxes: {
      std::vector<PixelBox> boxes = parse_boxes(name, text);
      for (PixelBox& box : boxes) box = scaled(box, scale);
      return print_boxes(boxes);
    }
    default:
      return text;
  }
}

/// Sets the parameters that differ from their defaults (`told`), or those in pixels that do not.
void set_scaled(Parameters& to, const Parameters& from, double scale, bool told) {
  for (const ParameterRecord& parameter : from.filter().parameters) {
    const std::string text = from.get(parameter.name);
    const bool in_pixels = parameter.unit == "px";
    if (text.empty() || (text != parameter.default_text) != told || (!told && !in_pixels)) continue;
    to.set(parameter.name, in_pixels ? scaled(parameter, text, scale) : text);
  }
}

/// Scales the defaults. A default may conflict with a parameter that was set in its place: then it is
/// ignored.
void set_defaults(Parameters& to, const Parameters& from, double scale) {
  try {
    set_scaled(to, from, scale, false);
  } catch (const Error&) {
    return;
  }
}

}  // namespace

OpenPicture::OpenPicture(const Device& device, Picture picture, PhotoUse use, bool carries_depth)
    : source(std::make_shared<const Picture>(std::move(picture))),
      pixels(std::make_shared<Pyramid>(device, std::shared_ptr<const Image>(source, &source->image),
                                       Space::linear)),
      shown(shown_of(device, source, pixels)),
      photo_use(use),
      has_depth(carries_depth) {}

PhotoUse photo_use_of(const Pipeline& pipeline, const BatchOptions& options) {
  if (batch::takes_model(pipeline)) return PhotoUse::estimated;
  return batch::takes_photo(pipeline) || options.mask_from != MaskSource::file ? PhotoUse::carried
                                                                               : PhotoUse::none;
}

Pipeline steps_for(const Device& device, const Pipeline& pipeline, const OpenPicture& picture) {
  return batch::takes_photo(pipeline) ? batch::pipeline_for(device, pipeline, *picture.source).steps
                                      : pipeline;
}

std::shared_ptr<const Image> in_8_bits(std::shared_ptr<const Image> image, const Metadata& metadata) {
  Shape target = image->shape();
  const bool has_codes = target.type != Type::f32;  // floats are linear light with the primaries of sRGB
  target.type = Type::u8;
  if (target.alpha == Alpha::premultiplied) target.alpha = Alpha::straight;
  if (target != image->shape())
    image = std::make_shared<const Image>(io::converted(*image, target, false, metadata));
  if (!has_codes) return image;
  std::optional<Image> managed = io::in_srgb(*image, metadata.icc);
  return managed ? std::make_shared<const Image>(std::move(*managed)) : image;
}

Sides SidePictures::of(const Batch& work, const OpenPicture& picture) {
  std::string key = key_of(work, picture);
  if (key == key_) return known_;
  key_.clear();
  known_.clear();
  batch::check_side_inputs(work.pipeline, work.options);
  std::vector<std::string> warnings;  // the command that the page shows reports them
  std::vector<std::vector<Image>> own =
      batch::read_own_side_inputs(work, 0, *picture.source, work.options.read, warnings);
  for (std::size_t step = 0; step < work.pipeline.size(); ++step) {
    std::vector<Image> images =
        batch::read_side_inputs(work.pipeline[step], work.options.read, false, warnings);
    std::vector<std::shared_ptr<Pyramid>>& of_step = known_.emplace_back();
    for (std::size_t i = 0; i < images.size(); ++i) {
      Image& image = !own.empty() && !own[step][i].empty() ? own[step][i] : images[i];
      of_step.push_back(image.empty()
                            ? nullptr
                            : std::make_shared<Pyramid>(
                                  device_, std::make_shared<const Image>(std::move(image)), Space::encoded));
    }
  }
  key_ = std::move(key);
  return known_;
}

Filtered filtered(const Device& device, const Pipeline& steps, const OpenPicture& picture, int level,
                  const Sides& sides, const std::filesystem::path& name, const Progress& progress) {
  std::vector<std::shared_ptr<const Image>> kept;
  std::vector<ImageView> inputs(1);
  for (std::size_t step = 0; step < steps.size(); ++step)
    for (std::shared_ptr<const Image>& image : at_level(steps[step], sides[step], picture.shape(), level)) {
      inputs.push_back(image == nullptr ? ImageView{} : image->view());
      kept.push_back(std::move(image));
    }
  if (level == 0) return run(device, steps, *picture.source, std::move(inputs), name, progress);
  Picture small(picture.pixels->make_quickly(level)->clone());
  small.metadata = picture.source->metadata;
  return run(device, steps, small, std::move(inputs), name, progress);
}

bool file_keeps(const Shape& pixels, const std::filesystem::path& name, const WriteOptions& options) {
  const std::string extension = batch::lower(extension_of(name, options));
  constexpr std::string_view formats[] = {".png", ".tif", ".tiff", ".bmp", ".tga", ".ppm", ".pgm", ".pnm"};
  return pixels.type == Type::u8 && std::ranges::find(formats, extension) != std::end(formats);
}

std::shared_ptr<const Image> as_in_file(const Image& pixels, const std::filesystem::path& name,
                                        const WriteOptions& options) {
  Picture decoded = decode_picture(encode_image(pixels, extension_of(name, options), options), name.string());
  return in_8_bits(std::make_shared<const Image>(std::move(decoded.image)), decoded.metadata);
}

Pipeline scaled(const Pipeline& pipeline, int level) {
  const double scale = std::ldexp(1.0, -level);
  Pipeline result;
  for (const PipelineStep& step : pipeline) {
    PipelineStep& small =
        result.emplace_back(PipelineStep{Parameters(step.parameters.filter()), step.side_inputs});
    set_scaled(small.parameters, step.parameters, scale, true);
    set_defaults(small.parameters, step.parameters, scale);
    const ParameterRecord* flag = step.parameters.filter().find_parameter(ParameterRole::may_vanish);
    if (level > 0 && flag != nullptr) small.parameters.set(flag->name, "true");
  }
  return result;
}

}  // namespace satin::view
